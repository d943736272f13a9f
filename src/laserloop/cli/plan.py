"""The verbs of planning: a process file to begin with, whether it can work, and powers for a scan file."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os.path import relpath
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from laserloop.bad_input import BadInput, plain
from laserloop.cli.options import (
    OF_PROCESS,
    OFFSET,
    PathOptions,
    PowerMaxW,
    ProcessName,
    ProcessOptions,
    Scheduler,
    WindowK,
    flag,
    in_si,
    number,
    of_process,
    print_notes,
    take,
    take_file,
)
from laserloop.cli.output import (
    STDOUT,
    Json,
    check_output,
    draw,
    keep_apart,
    publish,
    quiet,
    write,
    writing,
)
from laserloop.paths import Placement, ScanFile, find_path, names_file
from laserloop.paths.files import share_format
from laserloop.planning.check import check_path, check_process, describe_times, time_plant
from laserloop.planning.commands import PlanSettings
from laserloop.planning.job import FilePlan, Job
from laserloop.planning.plan import Progress
from laserloop.planning.verify import Checking, Part, PlannedPart, plan_parts, plan_refined
from laserloop.planning.window import fit_tick, judge_tick, note_leap
from laserloop.process import Process, find_process, shipped_materials, shipped_processes, write_process
from laserloop.process.keys import find_key
from laserloop.process.material import name_shipped
from laserloop.quantity import Quantity
from laserloop.report.tables import tabulate_layers, tabulate_parts, tabulate_plan
from laserloop.report.terminal import show, show_progress
from laserloop.store import save

DOES_NOT_HOLD = 3  # exit status: the file is written, but the plant refutes it


def init(
    of: ProcessOptions | None = None,
    *,
    out: Annotated[Path, take_file("The file to write.")] = Path("process.yaml"),
    window_k: WindowK = None,
    power_w: Annotated[tuple[float, float] | None, of_process("power_w", example="0,200")] = None,
    speed_mm_s: Annotated[
        float | None,
        number(1e-3, 1e6, "mm/s", "Scan speed in mm/s where a path gives none.", default=OF_PROCESS),
    ] = None,
    force: Annotated[bool, flag("Replace a file that is already there.")] = False,
) -> None:
    """Write a process file, with a comment on every number: alloy, plate, beam, laser, window and camera.

    What no option says is as in the built-in process of the alloy, or as in --process. A tick that does not
    suit beam and speed is replaced by one that does, unless --tick-us says it. On a terminal it asks whether
    powers are absorbed or emitted, unless --absorptivity says it.

    For example:

        laserloop init
        laserloop init --material ti64 --sigma-um 60 --power-w 0,120 --out mine.yaml
    """
    check_output("--out", out)
    if out.exists() and not force:
        raise BadInput(f"--out must be a new file, but {out} is already there; add --force to replace it")
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise BadInput(f"--out must end in .yaml, but is {out.name!r}; rename it")
    of = of or ProcessOptions()
    if of.absorptivity is None and of.find().beam.absorptivity == 1.0:
        of = replace(of, absorptivity=_ask_for_absorptivity())
    alloy = of.material
    if alloy is not None and of.process == ProcessOptions().process and alloy.lower() in shipped_processes():
        of = replace(of, process=alloy.lower(), material=None)
    process = of.find(window_k=window_k, power_w=power_w, speed_mm_s=speed_mm_s)
    process = replace(process if of.tick_us is not None else _fit_tick(process), name=out.stem)
    name = name_shipped(process.material)
    if alloy is not None and alloy.lower() not in shipped_materials():
        name = relpath(alloy, out.parent)
    write("--out", out, lambda _: write_process(process, material=name, folder=out.parent))
    low, high = process.window
    show(
        f"{out}: {process.material.name}, {low:g} – {high:g} K, powers are {process.describe_power()}. "
        f"Next: laserloop check {out}"
    )
    if process.beam.absorptivity == 1.0 and of.absorptivity is None:
        print_notes(
            [
                f"powers planned with {out} are absorbed power; if your laser is told what it emits, give "
                "--absorptivity, of bare metal 0.3 to 0.6"
            ]
        )


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask_for_absorptivity() -> float | None:
    """What a person at a terminal says; None where nobody can answer, or powers are to be absorbed watts."""
    if not _is_terminal():
        return None
    entry = find_key("absorptivity")
    show("What share of the light does the metal absorb (bare: 0.3 to 0.6)? Powers are emitted watts then.")
    while text := input("Empty: powers are absorbed watts. Share: ").strip():
        numbers, cure = entry.parse(text)
        if numbers is not None:
            return float(numbers[0])
        show(f"It must be {entry.rule}; {cure}.")
    return None


def _fit_tick(process: Process) -> Process:
    """The same with a tick that suits beam and speed, if its own does not, which is told."""
    judged, fitted = judge_tick(process), fit_tick(process)
    if judged is not None:
        show(
            f"A tick of {1e6 * process.tick:g} µs moves the beam by "
            f"{plain(process.speed * process.tick / process.beam.sigma, 2)} σ, {judged}; "
            f"{1e6 * fitted.tick:g} µs are written."
        )
    return fitted


def check(
    process: ProcessName,
    path: Annotated[str | None, Parameter(help="The path that is to be gone, as of plan or control.")] = None,
    /,
    beam: PathOptions | None = None,
    *,
    json_file: Json = None,
) -> None:
    """Say whether a process can work: its window, its beam, its times, and what in it is implausible.

    For example:

        laserloop check process.yaml
        laserloop check process.yaml part.gcode
    """
    beam = beam or PathOptions()
    checked = find_process(process)
    if beam.speed_mm_s is not None:
        checked = checked.change(speed_mm_s=beam.speed_mm_s)
    scan = None if path is None else beam.find(path, checked)
    if scan is not None:
        checked = replace(checked, speed=scan.median_speed or checked.speed)
    findings, numbers = check_process(checked), dict[str, Any]()
    with quiet():
        if scan is not None:
            more, numbers = check_path(checked, scan)
            findings += more
        grid, step = time_plant(checked, scan)
    findings.append(describe_times(step, numbers.get("ticks"), numbers.get("planning_s")))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        table.add_row("✓" if finding.fine else "!", Text(finding.about, style="dim"), Text(finding.text))
    fine = all(finding.fine for finding in findings)
    record = {
        "process": checked.to_json(),
        "path": path,
        "fine": fine,
        "grid": grid,
        "step_s": step,
        **numbers,
        "findings": [{"about": each.about, "text": each.text, "fine": each.fine} for each in findings],
    }
    verdict = "Nothing speaks against it." if fine else "See what is marked with !."
    publish(record, json_file, table, verdict, *([_suggest(process, path)] if fine else []))


def _suggest(process: str, path: str | None) -> str:
    """The next useful command."""
    if path is None:
        return f"Next: laserloop control diagonal --process {process} --plot run.png"
    planned = f"{Path(path).stem}-planned{Path(path).suffix or '.csv'}".replace(":", "-")
    return f"Next: laserloop plan {path} --process {process} --out {planned}"


@Parameter(name="*", group="Path")
@dataclass(frozen=True, kw_only=True)
class _LayOptions:
    """Where a file lies on the plate, and what its numbers mean."""

    layer: Annotated[int | None, number(1, 1_000_000, default="all")] = None
    """Plan one layer only, counted from 1."""
    recoating_s: Annotated[float, number(0.0, 1e6, "s")] = 10.0
    """Time in s between two layers, in which the plate cools."""
    offset_mm: Annotated[tuple[float, float], OFFSET, Parameter(allow_leading_hyphen=True)] = (0.0, 0.0)
    """Where in mm the file's origin lies, seen from the plate's centre; what is written keeps it."""
    centre: Annotated[bool, flag("Take the middle of the file's lit part for the plate's centre.")] = False
    jump_mm_s: Annotated[float, number(1e-3, 1e6, "mm/s")] = 1000.0
    """Speed in mm/s of laser-off moves where the file gives none."""
    s_max: Annotated[float | None, number(1e-3, 1e6, default="S is in W")] = None
    """The S word of G-code that stands for the laser's full power."""

    def __post_init__(self) -> None:
        if self.centre and self.offset_mm != (0.0, 0.0):
            raise BadInput("--centre and --offset-mm exclude each other, but both were given; drop one")

    def find(self) -> Placement:
        """Where that is."""
        return Placement(
            layer=self.layer,
            offset=in_si(self.offset_mm),
            centre=self.centre,
            jump_speed=in_si(self.jump_mm_s),
        )


@Parameter(name="*", group="Simulation")
@dataclass(frozen=True, kw_only=True)
class _CheckOptions:
    """How far what is planned is checked on the graded plant."""

    verify: Annotated[bool, Parameter(negative="--no-verify")] = True
    """Simulate what is written on the graded plant: the default. --no-verify skips that, and the file says
    so."""
    refine: Annotated[int | None, number(0, 10, default="until it holds or that stops helping")] = None
    """Plan anew just so many times with what a simulation taught, whether it holds already or not."""
    verify_ticks: Annotated[int, number(1, 100_000_000)] = 50_000
    """Simulate at most so many ticks, from the file's first on, at some milliseconds each; the rest is named
    as not verified. --layer chooses another part."""

    def find(self) -> Checking:
        """As planning has it."""
        return Checking(simulate=self.verify, refine=self.refine, ticks=self.verify_ticks)


@Parameter(name="*", group="Commands")
@dataclass(frozen=True, kw_only=True)
class _CommandOptions:
    """What the machine takes."""

    by: Literal["point", "segment", "vector"] = "point"
    """Change the power wherever it has to change, in pieces of --segment-mm, or keep one power for each move
    of the file, which then keeps all its lines."""
    segment_mm: Annotated[float, number(1e-2, 1e4, "mm")] = 0.5
    """Length in mm of the pieces of --by segment."""
    tolerance_k: Annotated[float, number(0.05, 100.0, "K")] = 1.0
    """What in K fewer pieces may cost in --by point; less makes more pieces."""
    step_w: Annotated[float, number(1e-4, 100.0, "W")] = 0.01
    """The laser's least step in W; of G-code with whole S at least one S."""
    commands_per_s: Annotated[float | None, number(1.0, 1e9, "1/s", default="as many as there are")] = None
    """The most changes of power in a second."""
    speed_mm_s: Annotated[
        tuple[float, float] | None,
        take(
            Quantity(low=1e-3, high=1e6, unit="mm/s", names=("low", "high"), rising=True, equal=True),
            default="as the file says",
            example="150,600",
        ),
    ] = None
    """Free the speed of each vector between two speeds in mm/s: the fastest at which power and temperature
    stay within their limits."""

    def find(self) -> PlanSettings:
        """In SI units."""
        return PlanSettings(
            by=self.by,
            segment=self.segment_mm / 1e3,
            tolerance=self.tolerance_k,
            step=self.step_w,
            rate=self.commands_per_s or float("inf"),
            speeds=in_si(self.speed_mm_s),
        )


def plan(
    path: Annotated[
        str,
        Parameter(
            help="The file: G-code, .cli, .txt (segment table), .inp (event series) or .csv (waypoints); "
            "or a built-in path, written as .csv."
        ),
    ],
    /,
    *others: Annotated[str, Parameter(help="More files, each a part on a plate of its own.")],
    lie: _LayOptions | None = None,
    machine: _CommandOptions | None = None,
    check: _CheckOptions | None = None,
    of: ProcessOptions | None = None,
    out: Annotated[
        Path,
        take_file(
            "Where the planned file goes; it has the format of PATH. Of several files the folder that they "
            "go to under their own names."
        ),
    ],
    force: Annotated[bool, flag("Write over the very file that is planned, if --out names it.")] = False,
    window_k: WindowK = None,
    power_max_w: PowerMaxW = None,
    keep: Annotated[
        Path | None,
        take_file(
            "Keep each layer that is done in DIR; the same job begun again goes on there.", metavar="DIR"
        ),
    ] = None,
    workers: Annotated[
        int | None,
        number(1, 1024, "", "Processes on this machine that plan several files.", default="one per core"),
    ] = None,
    scheduler: Scheduler = None,
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
    of, lie, machine = of or ProcessOptions(), lie or _LayOptions(), machine or _CommandOptions()
    checking = (check or _CheckOptions()).find()
    process = of.find(window_k=window_k).limit_power(power_max_w)
    check_output("--json", json_file)

    def make_job(file: str) -> Job:
        return _make_job(_find_file(file, lie, process), lie, machine, process, keep)

    if others:
        paths = (path, *others)
        if plot is not None:
            raise BadInput("--plot is for one file, but several were given; leave it out")
        if len({_name_planned(each) for each in paths}) < len(paths):
            raise BadInput(
                "files must have different names, since they go into one folder; plan them in turn"
            )
        for each in paths:
            _check_new(each, out / _name_planned(each), force=force)
        with quiet():
            parts = [Part(path=each, job=make_job(each), checking=checking) for each in paths]
            return _plan_several(parts, out, json_file, (workers, scheduler))
    if (workers, scheduler) != (None, None):
        raise BadInput("one file is planned by one process; leave --workers and --scheduler out")
    check_output("--out", out)
    _check_new(path, out, force=force)
    keep_apart({"--json": json_file, "--plot": plot}, {"PATH": path})
    read = {"--process": of.process, "--material": of.material}
    keep_apart({"--out": out, "--json": json_file, "--plot": plot}, read)
    _check_ending(path, out)
    check_output("--plot", plot)
    print_notes(note_leap(process, process.speed))
    with quiet():
        return _plan_one(path, make_job(path), checking, (out, json_file, plot))


def _plan_one(path: str, job: Job, checking: Checking, outputs: tuple[Path, Path | None, Path | None]) -> int:
    out, json_file, plot = outputs
    with _progress(path) as progress:
        planned = plan_refined(job, checking, progress=progress)
    record = planned.tell() | {"path": path, "out": str(out)}
    write("--out", out, lambda _: planned.write())
    print_notes(record["notes"])
    if plot is not None:
        draw("--plot", plot, lambda: _make_figure(planned, record))
        record["plot"] = str(plot)
    layers = tabulate_layers(record) if len(record["layers"]) > 1 and json_file != STDOUT else None
    publish(record, json_file, tabulate_plan(record))
    if layers is not None:
        show(layers)
    return DOES_NOT_HOLD if record["holds"] is False else 0


def _make_figure(planned: FilePlan, record: dict[str, Any]) -> Any:
    """One layer over time, or all layers at a glance."""
    from laserloop.report.plans import draw_layers, draw_plan

    if len(planned.layers) > 1:
        return draw_layers(record)
    (layer,), results = planned.layers, planned.results or ()
    truth = results[0].temperature[: len(layer.route.path)] if results else None
    return draw_plan(record, layer.series(), truth)


def _plan_several(
    parts: list[Part], out: Path, json_file: Path | None, cluster: tuple[int | None, str | None]
) -> int:
    """Files that do not heat each other, into a folder; one that cannot be planned stops no other."""
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
    print_notes(_say_whose(record, note) for record in records for note in record["notes"])
    meaning = [f"Powers are {records[0]['power_means']}."] if records else []
    publish({"files": records, "refused": problems}, json_file, tabulate_parts(records), *meaning)
    if problems:
        raise BadInput(f"{len(problems)} of {len(parts)} files could not be planned; {problems[0]}")
    return DOES_NOT_HOLD if any(record["holds"] is False for record in records) else 0


def _say_whose(record: dict[str, Any], note: str) -> str:
    """A sentence about one of several plans names its file."""
    return f"{record['path']}: {note}" if " the plan " in f" {note}" else note


def _name_planned(path: str) -> str:
    """What a planned file is called: as it was; a built-in path becomes waypoints."""
    name = Path(path).name
    return name if Path(path).suffix or Path(path).exists() else f"{name.replace(':', '-')}.csv"


def _check_new(path: str, out: Path, *, force: bool) -> None:
    """Refuse to write over the file that is planned."""
    if not force and out.exists() and Path(path).exists() and out.samefile(path):
        raise BadInput(
            f"--out must not be the file that is planned, but is {path}; name another or add --force"
        )


def _check_ending(path: str, out: Path) -> None:
    """Refuse a name that another format would be read from."""
    source = path if names_file(path) else f"{path}.csv"
    if not share_format(source, out.name):
        raise BadInput(
            f"--out has the format of the file that is planned and must end in {Path(source).suffix}, but is "
            f"{out}; rename it"
        )


def _find_file(path: str, lie: _LayOptions, process: Process) -> ScanFile:
    """The file that is planned; a built-in path becomes waypoints."""
    if names_file(path):
        return ScanFile.open(path, lie.s_max, process.laser.power[1])
    if replace(lie, jump_mm_s=_LayOptions.jump_mm_s) != _LayOptions():
        raise BadInput(f"where a path lies must be for a file, but the path is {path!r}; leave that out")
    return ScanFile.of(find_path(path, process, placement=lie.find()))


def _make_job(
    file: ScanFile, lie: _LayOptions, machine: _CommandOptions, process: Process, keep: Path | None
) -> Job:
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


@contextmanager
def _progress(what: str) -> Iterator[Progress | None]:
    with show_progress(what) as bar:
        yield None if bar is None else lambda doing, done, total: bar(done, total, f"{what}: {doing}")
