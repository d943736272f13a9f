"""The verb that plans files."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import OF_PROCESS, ProcessOptions, take_entry, take_file, take_number, tell_notes
from laserloop.cli.output import STDOUT, Json, check_output, publish, writing
from laserloop.cli.plan_options import (
    SHAPE,
    CommandOptions,
    HatchOptions,
    LayOptions,
    Out,
    PlanPath,
)

if TYPE_CHECKING:
    from laserloop.plan.job import FilePlan, Job
    from laserloop.plan.parts import Part, PlannedPart
    from laserloop.plan.plan import Progress
    from laserloop.plan.plates import Simulated
    from laserloop.process import Process


def plan(
    path: PlanPath,
    /,
    *others: Annotated[str, Parameter(help="More files, each a part on a plate of its own.")],
    lie: LayOptions | None = None,
    fill: HatchOptions | None = None,
    machine: CommandOptions | None = None,
    target: ProcessOptions | None = None,
    out: Out,
    window_k: Annotated[tuple[float, float] | None, take_entry("window_k", example="760,800")] = None,
    power_max_w: Annotated[
        float | None,
        take_number(1e-3, 1e4, "W", "The most in W that the laser can give.", default=OF_PROCESS),
    ] = None,
    refine: Annotated[
        int,
        take_number(
            0,
            10,
            "",
            "Simulate the plan on the graded plant and plan again with what that taught, so many times; for "
            "alloys whose diffusivity varies.",
        ),
    ] = 0,
    verify: Annotated[
        bool, Parameter(help="Read the written file again and simulate it on the graded plant.", negative="")
    ] = False,
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
        Path | None, take_file("Draw planned and simulated temperature and the power; .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Give a file the powers that keep its peak temperature in the window, without any camera.

    The file is written in its own format: G-code gets S words, a layer file $$POWER, a table its column.
    Comments, unknown words and all geometry stay; by point and by segment moves are split where they lie.

    For example:

        laserloop plan part.gcode --process mine.yaml --out part-planned.gcode --verify
        laserloop plan part.gcode --process ti64 --refine 1 --out part-planned.gcode --verify
        laserloop plan part.gcode --process ti64 --by vector --out part-planned.gcode
        laserloop plan part.gcode --speed-mm-s 150,600 --out faster.gcode --json faster.json
        laserloop plan part.stl --layer-um 40 --hatch-um 100 --centre --out part.cli
        laserloop plan left.cli right.cli third.gcode --workers 2 --out planned
    """
    check_output("--json", json_file)
    lie, machine = lie or LayOptions(), machine or CommandOptions()
    process = _change((target or ProcessOptions()).find(), window_k, power_max_w)

    def make_job(file: str) -> "Job":
        return replace(_make_job(file, lie, machine, process, keep), refine=refine)

    if others:
        if plot is not None:
            raise BadInput("--plot is for one file, but several were given; leave it out")
        if fill is not None and not any(each.lower().endswith(SHAPE) for each in (path, *others)):
            raise BadInput(f"hatching must be for a shape, {SHAPE}, but there is none; leave that out")
        with _quiet():
            parts = [
                _make_part(each, (lie, fill), process, make_job, verify=verify) for each in (path, *others)
            ]
            _plan_several(parts, out, json_file, (workers, scheduler))
        return
    if (workers, scheduler) != (None, None):
        raise BadInput("one file is planned by one process; leave --workers and --scheduler out")
    check_output("--out", out)
    if Path(path).suffix.lower() == SHAPE and out.suffix.lower() != ".cli":
        raise BadInput(f"--out must end in .cli, as a hatched shape is written, but is {out}; name it so")
    check_output("--plot", plot)
    with _quiet(), _find_file(path, (lie, fill), process) as file:
        _plan_one((path, make_job(file)), out, json_file, plot, verify=verify)


def _plan_one(
    named: "tuple[str, Job]", out: Path, json_file: Path | None, plot: Path | None, *, verify: bool
) -> None:
    from laserloop.plan.refine import plan_refined
    from laserloop.plan.verify import verify as verify_job
    from laserloop.report.plan_tables import tabulate_layers, tabulate_plan
    from laserloop.report.terminal import show

    path, job = named
    with _progress(path) as progress:
        planned = plan_refined(job, progress=progress)
        record = planned.tell() | {"path": path, "out": str(out)}
        record["notes"] = notes = [note.replace(job.file.name, path) for note in record["notes"]]
        _write(out, planned)
        tell_notes(notes)
        again = planned.job.again(str(out))
        simulated = verify_job(again, record, progress=progress) if verify else None
    if plot is not None:
        _draw(plot, planned, simulated)
    table = [tabulate_layers(record)] if len(record["layers"]) > 1 and json_file != STDOUT else []
    publish(record, json_file, tabulate_plan(record))
    for layers in table:
        show(layers)


def _change(process: "Process", window_k: tuple[float, float] | None, power_max_w: float | None) -> "Process":
    """The process with what the options say."""
    given: dict[str, Any] = {} if window_k is None else {"window_k": window_k}
    if power_max_w is not None:
        given["power_w"] = (min(process.laser.power[0], power_max_w / 2), power_max_w)
    return process.change(**given)


def _plan_several(
    parts: "list[Part]", out: Path, json_file: Path | None, cluster: tuple[int | None, str | None]
) -> None:
    """Files that do not heat each other, into a folder; one that cannot be planned stops no other."""
    from laserloop.plan.parts import plan_parts
    from laserloop.report.plan_tables import tabulate_parts
    from laserloop.report.save import save
    from laserloop.report.terminal import show_progress

    places = {part.path: out / _name_planned(part.path) for part in parts}
    if len(set(places.values())) < len(parts):
        raise BadInput("files must have different names, since they go into one folder; plan them in turn")
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
    tell_notes(dict.fromkeys(note for record in records for note in record["notes"]))
    publish({"files": records, "refused": problems}, json_file, tabulate_parts(records))
    if problems:
        raise BadInput(f"{len(problems)} of {len(parts)} files could not be planned; {problems[0]}")


def _name_planned(path: str) -> str:
    """What a planned file is called: as it was; a shape becomes layers, a built-in path waypoints."""
    name = Path(path).name
    if name.lower().endswith(SHAPE):
        return f"{Path(path).stem}.cli"
    return name if Path(path).suffix or Path(path).exists() else f"{name.replace(':', '-')}.csv"


def _make_part(
    path: str,
    options: tuple[LayOptions, HatchOptions | None],
    process: "Process",
    make_job: "Callable[[str], Job]",
    *,
    verify: bool,
) -> "Part":
    from laserloop.paths.text_file import read_bytes
    from laserloop.plan.parts import Part

    lie, fill = options
    shaped = fill if Path(path).suffix.lower() == SHAPE else None
    with _find_file(path, (lie, shaped), process) as file:
        return Part(path=path, job=make_job(file), content=read_bytes(file), verified=verify)


def _make_job(
    file: str, lie: LayOptions, machine: CommandOptions, process: "Process", keep: Path | None
) -> "Job":
    from laserloop.paths.scan_file import ScanFile
    from laserloop.plan.job import Job

    if lie.centre and lie.offset_mm != (0.0, 0.0):
        raise BadInput("--centre and --offset-mm exclude each other, but both were given; drop one")
    if keep is not None:
        with writing("--keep"):
            keep.mkdir(parents=True, exist_ok=True)
    return Job(
        file=ScanFile(file, lie.s_max, process.laser.power[1]),
        process=process,
        settings=machine.find(),
        layer=lie.layer,
        offset=(lie.offset_mm[0] / 1e3, lie.offset_mm[1] / 1e3),
        centre=lie.centre,
        jump_speed=lie.jump_mm_s / 1e3,
        recoating=lie.recoating_s,
        folder=keep,
    )


@contextmanager
def _find_file(
    path: str, options: tuple[LayOptions, HatchOptions | None], process: "Process"
) -> Iterator[str]:
    """The file that is planned; a built-in path and a shape become one for as long as it takes."""
    from tempfile import TemporaryDirectory

    from laserloop.paths import names_file

    lie, fill = options
    if Path(path).suffix.lower() == SHAPE:
        name, content = "part.cli", _hatch(path, fill or HatchOptions())
    elif fill is not None:
        raise BadInput(f"hatching must be for a shape, {SHAPE}, but the path is {path!r}; leave that out")
    elif names_file(path):
        yield path
        return
    else:
        name, content = "path.csv", _sample(path, lie, process)
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_text(content, encoding="utf-8")
        try:
            yield str(file)
        except BadInput as problem:
            raise BadInput(str(problem).replace(str(file), path)) from None


def _hatch(path: str, fill: HatchOptions) -> str:
    """A shape as a layer file."""
    from laserloop.paths.stl_file import Hatching, hatch_stl

    return hatch_stl(
        path, Hatching(layer=fill.layer_um / 1e6, distance=fill.hatch_um / 1e6, turn=fill.turn_deg)
    )


def _sample(path: str, lie: LayOptions, process: "Process") -> str:
    """A built-in path as waypoints."""
    from laserloop.paths import find_path
    from laserloop.paths.csv_writer import tell_path

    if lie != LayOptions():
        raise BadInput(f"where a path lies must be for a file, but the path is {path!r}; leave that out")
    return tell_path(find_path(path, default_speed=process.speed, tick=process.tick, plate=process.plate[:2]))


def _write(out: Path, planned: "FilePlan") -> None:
    from laserloop.report.save import save

    content = planned.write()
    with writing("--out"):
        save(out, content)


def _draw(plot: Path, planned: "FilePlan", simulated: "list[Simulated] | None") -> None:
    from laserloop.report.plan_figures import draw_plan
    from laserloop.report.save import save_figure

    for k, layer in enumerate(planned.layers):
        file = plot if len(planned.layers) == 1 else plot.with_name(f"{plot.stem}-{k + 1:03d}{plot.suffix}")
        truth = None if simulated is None else simulated[k].temperature[: len(layer.route.path)]
        with writing("--plot"):
            save_figure(file, draw_plan(layer.series(), planned.job.process.window, truth))


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* the range of material")
        yield


@contextmanager
def _progress(what: str) -> "Iterator[Progress | None]":
    from laserloop.report.terminal import show_progress

    with show_progress(what) as bar:
        yield None if bar is None else lambda _, done, total: bar(done, total)
