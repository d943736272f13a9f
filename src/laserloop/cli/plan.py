"""The verb that plans files."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import OF_PROCESS, ProcessOptions, take_entry, take_file, take_number, tell_notes
from laserloop.cli.output import STDOUT, Json, check_output, keep_apart, publish, writing
from laserloop.cli.plan_options import (
    CheckOptions,
    CommandOptions,
    LayOptions,
    Out,
    PlanPath,
)

if TYPE_CHECKING:
    from laserloop.paths.files import ScanFile
    from laserloop.planning.job import FilePlan, Job
    from laserloop.planning.plan import Progress
    from laserloop.planning.verify import Part, PlannedPart
    from laserloop.process import Process

DOES_NOT_HOLD = 3  # exit status: the file is written, but the plant refutes it


def plan(
    path: PlanPath,
    /,
    *others: Annotated[str, Parameter(help="More files, each a part on a plate of its own.")],
    lie: LayOptions | None = None,
    machine: CommandOptions | None = None,
    check: CheckOptions | None = None,
    target: ProcessOptions | None = None,
    out: Out,
    force: Annotated[
        bool, Parameter(help="Write over the very file that is planned, if --out names it.", negative="")
    ] = False,
    window_k: Annotated[tuple[float, float] | None, take_entry("window_k", example="760,800")] = None,
    power_max_w: Annotated[
        float | None,
        take_number(1e-3, 1e4, "W", "The most in W that the laser can give.", default=OF_PROCESS),
    ] = None,
    keep: Annotated[
        Path | None,
        take_file(
            "Keep each layer that is done in DIR; the same job begun again goes on there.", metavar="DIR"
        ),
    ] = None,
    workers: Annotated[
        int | None,
        take_number(
            1, 1024, "", "Processes on this machine that plan several files.", default="one per core"
        ),
    ] = None,
    scheduler: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to use instead, such as tcp://host:8786.")
    ] = None,
    json_file: Json = None,
    plot: Annotated[
        Path | None,
        take_file(
            "Draw planned and simulated temperature and the power, over time or of each layer; .png, .svg or "
            ".pdf."
        ),
    ] = None,
) -> int:
    """Give a file the powers that keep its peak temperature in the window, without any camera.

    The file is written in its own format: G-code gets S words, a layer file $$POWER, a table its column.
    Comments, unknown words and all geometry stay; by point and by segment moves are split where they lie.

    What is written is read again and simulated on the graded plant, and planned anew until it holds the
    window there or planning anew stops helping. The exit status is 0 if it holds. It is 3 if it does not: a
    tick lies above the ceiling by more than 2 % of the rise from ambient, or more than 1 % of the ticks that
    count lie outside the window. The file is written all the same; a comment at its head says so.

    For example:

        laserloop plan part.gcode --process mine.yaml --out part-planned.gcode
        laserloop plan part.gcode --process ti64 --refine 2 --out part-planned.gcode
        laserloop plan part.gcode --process ti64 --by vector --no-verify --out part-planned.gcode
        laserloop plan part.gcode --speed-mm-s 150,600 --out faster.gcode --json faster.json
        laserloop plan left.cli right.cli third.gcode --workers 2 --out planned
    """
    from laserloop.planning.verify import Part
    from laserloop.planning.window import tell_leap

    check_output("--json", json_file)
    lie, machine, check = lie or LayOptions(), machine or CommandOptions(), check or CheckOptions()
    process = _change((target or ProcessOptions()).find(), window_k, power_max_w)

    def make_job(file: str) -> "Job":
        return _make_job(_find_file(file, lie, process), lie, machine, process, keep)

    if others:
        if plot is not None:
            raise BadInput("--plot is for one file, but several were given; leave it out")
        _check_names((path, *others), out, force=force)
        with _quiet():
            parts = [Part(path=each, job=make_job(each), checking=check.find()) for each in (path, *others)]
            return _plan_several(parts, out, json_file, (workers, scheduler))
    if (workers, scheduler) != (None, None):
        raise BadInput("one file is planned by one process; leave --workers and --scheduler out")
    check_output("--out", out)
    _check_new(path, out, force=force)
    keep_apart({"--json": json_file, "--plot": plot}, {"PATH": path})
    target = target or ProcessOptions()
    read = {"--process": target.process, "--material": target.material}
    keep_apart({"--out": out, "--json": json_file, "--plot": plot}, read)
    _check_ending(path, out)
    check_output("--plot", plot)
    tell_notes(tell_leap(process, process.speed))
    with _quiet():
        return _plan_one(path, make_job(path), check, (out, json_file, plot))


def _plan_one(
    path: str, job: "Job", check: CheckOptions, outputs: tuple[Path, Path | None, Path | None]
) -> int:
    from laserloop.planning.verify import plan_refined
    from laserloop.report.tables import tabulate_layers, tabulate_plan
    from laserloop.report.terminal import show

    out, json_file, plot = outputs
    with _progress(path) as progress:
        planned = plan_refined(job, check.find(), progress=progress)
    record = planned.tell() | {"path": path, "out": str(out)}
    _write(out, planned)
    tell_notes(record["notes"])
    if plot is not None:
        _draw(plot, planned, record)
    table = [tabulate_layers(record)] if len(record["layers"]) > 1 and json_file != STDOUT else []
    publish(record, json_file, tabulate_plan(record))
    for layers in table:
        show(layers)
    return DOES_NOT_HOLD if record["holds"] is False else 0


def _check_new(path: str, out: Path, *, force: bool) -> None:
    """Refuse to write over the file that is planned."""
    if not force and out.exists() and Path(path).exists() and out.samefile(path):
        raise BadInput(
            f"--out must not be the file that is planned, but is {path}; name another or add --force"
        )


def _check_ending(path: str, out: Path) -> None:
    """Refuse a name that another format would be read from."""
    from laserloop.paths.files import names_file, share_format

    source = path if names_file(path) else f"{path}.csv"
    if not share_format(source, out.name):
        raise BadInput(
            f"--out has the format of the file that is planned and must end in {Path(source).suffix}, but is "
            f"{out}; rename it"
        )


def _check_names(paths: tuple[str, ...], out: Path, *, force: bool) -> None:
    """Several files: one name each in their folder, and none its own source."""
    if len({_name_planned(path) for path in paths}) < len(paths):
        raise BadInput("files must have different names, since they go into one folder; plan them in turn")
    for path in paths:
        _check_new(path, out / _name_planned(path), force=force)


def _change(process: "Process", window_k: tuple[float, float] | None, power_max_w: float | None) -> "Process":
    """The process with what the options say."""
    given: dict[str, Any] = {} if window_k is None else {"window_k": window_k}
    if power_max_w is not None:
        given["power_w"] = (min(process.laser.power[0], power_max_w / 2), power_max_w)
    return process.change(**given)


def _plan_several(
    parts: "list[Part]", out: Path, json_file: Path | None, cluster: tuple[int | None, str | None]
) -> int:
    """Files that do not heat each other, into a folder; one that cannot be planned stops no other."""
    from laserloop.planning.verify import plan_parts
    from laserloop.report.save import save
    from laserloop.report.tables import tabulate_parts
    from laserloop.report.terminal import show_progress

    places = {part.path: out / _name_planned(part.path) for part in parts}
    with writing("--out"):
        out.mkdir(parents=True, exist_ok=True)
    done: dict[str, PlannedPart] = {}
    with show_progress(f"{len(parts)} parts") as bar:
        for planned in plan_parts(parts, workers=cluster[0], scheduler=cluster[1]):
            done[planned.path] = planned
            if planned.record is not None:
                planned.record["out"] = str(places[planned.path])
                with writing("--out"):
                    save(places[planned.path], planned.content)
            if bar is not None:
                bar(len(done), len(parts))
    records = [record for part in parts if (record := done[part.path].record) is not None]
    problems = [done[part.path].problem for part in parts if done[part.path].problem]
    tell_notes(dict.fromkeys(_say_whose(record, note) for record in records for note in record["notes"]))
    meaning = [f"Powers are {records[0]['power_means']}."] if records else []
    publish({"files": records, "refused": problems}, json_file, tabulate_parts(records), *meaning)
    if problems:
        raise BadInput(f"{len(problems)} of {len(parts)} files could not be planned; {problems[0]}")
    return DOES_NOT_HOLD if any(record["holds"] is False for record in records) else 0


def _name_planned(path: str) -> str:
    """What a planned file is called: as it was; a built-in path becomes waypoints."""
    name = Path(path).name
    return name if Path(path).suffix or Path(path).exists() else f"{name.replace(':', '-')}.csv"


def _say_whose(record: dict[str, Any], note: str) -> str:
    """A sentence about one of several plans names its file."""
    return f"{record['path']}: {note}" if " the plan " in f" {note}" else note


def _make_job(
    file: "ScanFile", lie: LayOptions, machine: CommandOptions, process: "Process", keep: Path | None
) -> "Job":
    from laserloop.planning.job import Job

    if lie.centre and lie.offset_mm != (0.0, 0.0):
        raise BadInput("--centre and --offset-mm exclude each other, but both were given; drop one")
    if keep is not None:
        with writing("--keep"):
            keep.mkdir(parents=True, exist_ok=True)
    return Job(
        file=file,
        process=process,
        settings=machine.find(),
        placement=lie.find(),
        recoating=lie.recoating_s,
        folder=keep,
    )


def _find_file(path: str, lie: LayOptions, process: "Process") -> "ScanFile":
    """The file that is planned; a built-in path becomes waypoints."""
    from laserloop.paths import ScanFile, find_path, names_file

    if names_file(path):
        return ScanFile.open(path, lie.s_max, process.laser.power[1])
    if replace(lie, jump_mm_s=LayOptions.jump_mm_s) != LayOptions():
        raise BadInput(f"where a path lies must be for a file, but the path is {path!r}; leave that out")
    return ScanFile.of(find_path(path, process, placement=lie.find()))


def _write(out: Path, planned: "FilePlan") -> None:
    from laserloop.report.save import save

    content = planned.write()
    with writing("--out"):
        save(out, content)


def _draw(plot: Path, planned: "FilePlan", record: dict[str, Any]) -> None:
    """One layer over time, or all layers at a glance."""
    from laserloop.report.plans import draw_layers, draw_plan
    from laserloop.report.save import save_figure

    if len(planned.layers) > 1:
        figure = draw_layers(record)
    else:
        (layer,), results = planned.layers, planned.results or ()
        truth = results[0].temperature[: len(layer.route.path)] if results else None
        figure = draw_plan(record, layer.series(), truth)
    with writing("--plot"):
        save_figure(plot, figure)
    record["plot"] = str(plot)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* the (range|solidus) of material")
        yield


@contextmanager
def _progress(what: str) -> "Iterator[Progress | None]":
    from laserloop.report.terminal import show_progress

    with show_progress(what) as bar:
        yield None if bar is None else lambda doing, done, total: bar(done, total, f"{what}: {doing}")
