"""The verb that plans a file."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import (
    OF_PROCESS,
    ProcessOptions,
    take_entry,
    take_file,
    take_number,
    take_numbers,
    tell_notes,
)
from laserloop.cli.output import STDOUT, Json, check_output, publish, writing

if TYPE_CHECKING:
    from laserloop.plan.job import FilePlan, Job
    from laserloop.plan.plan import Progress
    from laserloop.plan.plates import Simulated
    from laserloop.plan.settings import PlanSettings
    from laserloop.process import Process

PlanPath = Annotated[
    str,
    Parameter(
        help="The file: G-code, .cli, .txt (segment table), .inp (event series) or .csv (waypoints); a "
        "shape, .stl, which PySLM hatches and is written as .cli; or a built-in path, written as .csv."
    ),
]
Out = Annotated[Path, take_file("Where the planned file goes; it has the format of PATH.")]
SHAPE = ".stl"


@Parameter(name="*", group="Path")
@dataclass(frozen=True, kw_only=True)
class LayOptions:
    """Where a file lies on the plate, and what its numbers mean."""

    layer: Annotated[
        int | None, take_number(1, 1_000_000, "", "Plan one layer only, counted from 1.", default="all")
    ] = None
    recoating_s: Annotated[
        float, take_number(0.0, 1e6, "s", "Time in s between two layers, in which the plate cools.")
    ] = 10.0
    offset_mm: Annotated[
        tuple[float, float],
        take_numbers(
            "X,Y",
            "two lengths in mm, such as -50,-50",
            "Where in mm the file's origin lies, seen from the plate's centre; what is written keeps it.",
            lambda numbers: all(abs(number) <= 1e4 for number in numbers),
            default="0,0",
        ),
        Parameter(allow_leading_hyphen=True),
    ] = (0.0, 0.0)
    centre: Annotated[
        bool, Parameter(help="Take the middle of the file's lit part for the plate's centre.", negative="")
    ] = False
    jump_mm_s: Annotated[
        float, take_number(1e-3, 1e6, "mm/s", "Speed in mm/s of laser-off moves where the file gives none.")
    ] = 1000.0
    s_max: Annotated[
        float | None,
        take_number(
            1e-3, 1e6, "", "The S word of G-code that stands for the laser's full power.", default="S is in W"
        ),
    ] = None


@Parameter(name="*", group="Shapes (.stl, in mm)")
@dataclass(frozen=True, kw_only=True)
class HatchOptions:
    """How a shape becomes hatches."""

    layer_um: Annotated[float, take_number(1.0, 1e4, "µm", "Thickness of a layer in µm.")] = 40.0
    hatch_um: Annotated[float, take_number(1.0, 1e4, "µm", "Distance between two hatches in µm.")] = 100.0
    turn_deg: Annotated[
        float, take_number(0.0, 180.0, "°", "How far hatches turn from a layer to the next, in degrees.")
    ] = 67.0


@Parameter(name="*", group="Commands")
@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """What the machine takes."""

    by: Annotated[
        Literal["point", "segment", "vector"],
        Parameter(
            help="Change the power wherever it has to change, in pieces of --segment-mm, or keep one power "
            "for each move of the file, which then keeps all its lines."
        ),
    ] = "point"
    segment_mm: Annotated[
        float, take_number(1e-2, 1e4, "mm", "Length in mm of the pieces of --by segment.")
    ] = 0.5
    tolerance_k: Annotated[
        float,
        take_number(
            0.05, 100.0, "K", "What in K fewer pieces may cost in --by point; less makes more pieces."
        ),
    ] = 1.0
    step_w: Annotated[
        float,
        take_number(1e-4, 100.0, "W", "The laser's least step in W; of G-code with whole S at least one S."),
    ] = 0.01
    commands_per_s: Annotated[
        float | None,
        take_number(
            1.0, 1e9, "1/s", "The most changes of power in a second.", default="as many as there are"
        ),
    ] = None
    speed_mm_s: Annotated[
        tuple[float, float] | None,
        take_numbers(
            "LOW,HIGH",
            "two speeds in mm/s, low before high, such as 150,600",
            "Free the speed of each vector between two speeds in mm/s: the fastest at which power and "
            "temperature stay within their limits.",
            lambda numbers: 1e-3 <= numbers[0] <= numbers[1] <= 1e6,
            default="as the file says",
        ),
    ] = None

    def find(self) -> "PlanSettings":
        """In SI units."""
        from laserloop.plan.settings import PlanSettings

        low_high = self.speed_mm_s
        return PlanSettings(
            by=self.by,
            segment=self.segment_mm / 1e3,
            tolerance=self.tolerance_k,
            step=self.step_w,
            rate=self.commands_per_s or float("inf"),
            speeds=None if low_high is None else (low_high[0] / 1e3, low_high[1] / 1e3),
        )


def plan(
    path: PlanPath,
    /,
    lie: LayOptions | None = None,
    fill: HatchOptions | None = None,
    machine: CommandOptions | None = None,
    target: ProcessOptions | None = None,
    *,
    out: Out,
    window_k: Annotated[tuple[float, float] | None, take_entry("window_k", example="760,800")] = None,
    power_max_w: Annotated[
        float | None,
        take_number(1e-3, 1e4, "W", "The most in W that the laser can give.", default=OF_PROCESS),
    ] = None,
    verify: Annotated[
        bool, Parameter(help="Read the written file again and simulate it on the graded plant.", negative="")
    ] = False,
    keep: Annotated[
        Path | None,
        take_file(
            "Keep each layer that is done in DIR; the same job begun again goes on there.", metavar="DIR"
        ),
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
        laserloop plan part.gcode --process ti64 --by vector --out part-planned.gcode
        laserloop plan part.gcode --speed-mm-s 150,600 --out faster.gcode --json faster.json
        laserloop plan part.stl --layer-um 40 --hatch-um 100 --centre --out part.cli
    """
    from dataclasses import replace

    from laserloop.plan.job import plan_job
    from laserloop.report.plan_tables import tabulate_layers, tabulate_plan
    from laserloop.report.terminal import show

    check_output("--out", out)
    if Path(path).suffix.lower() == SHAPE and out.suffix.lower() != ".cli":
        raise BadInput(f"--out must end in .cli, as a hatched shape is written, but is {out}; name it so")
    check_output("--json", json_file)
    check_output("--plot", plot)
    lie, machine = lie or LayOptions(), machine or CommandOptions()
    process = _change((target or ProcessOptions()).find(), window_k, power_max_w)
    with _quiet(), _find_file(path, (lie, fill), process) as file, _progress(path) as progress:
        job = replace(_make_job(file, lie, machine, process), folder=keep)
        planned = plan_job(job, progress=progress)
        notes = [note.replace(file, path) for note in planned.notes]
        record = planned.tell() | {"path": path, "out": str(out), "notes": notes}
        _write(out, planned)
        tell_notes(notes)
        simulated = _simulate(planned.job, out, record, progress) if verify else None
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


def _make_job(file: str, lie: LayOptions, machine: CommandOptions, process: "Process") -> "Job":
    from laserloop.paths.scan_file import ScanFile
    from laserloop.plan.job import Job

    if lie.centre and lie.offset_mm != (0.0, 0.0):
        raise BadInput("--centre and --offset-mm exclude each other, but both were given; drop one")
    return Job(
        file=ScanFile(file, lie.s_max, process.laser.power[1]),
        process=process,
        settings=machine.find(),
        layer=lie.layer,
        offset=(lie.offset_mm[0] / 1e3, lie.offset_mm[1] / 1e3),
        centre=lie.centre,
        jump_speed=lie.jump_mm_s / 1e3,
        recoating=lie.recoating_s,
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


def _simulate(
    job: "Job", out: Path, record: dict[str, Any], progress: "Progress | None"
) -> "list[Simulated]":
    """The layers of the written file on the plant; the record gets their scores."""
    from laserloop.plan.verify import score_layers, simulate_job

    layers = simulate_job(job.again(str(out)), progress=progress)
    record["verified"] = score_layers(layers, job.process.window)
    for told, layer in zip(record["layers"], layers, strict=True):
        told["verified"] = score_layers([layer], job.process.window)
    return layers


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
