"""The command line: one verb per room. Heavy imports wait inside the verbs, so that --help is fast."""

import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter, Token, UnusedCliTokensError

from laserloop.bad_input import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from laserloop.episode import Episode
    from laserloop.paths import ScanPath
    from laserloop.plant import Plant

DEFAULT_POWER_W = 14.0  # keeps straight lines inside the window on the paper plant
DEMO_TICKS = 320
STDOUT = Path("-")

app = App(
    name="laserloop",
    help="""Keep the peak temperature of a moving laser inside its process window.

For example:

    laserloop demo
    laserloop simulate spiral --plant graded --power-w 11
""",
    version=lambda: version("laserloop"),
    help_format="markdown",
    suppress_keyboard_interrupt=False,
)
bench = App(name="bench", help="Measure speed on this machine.")
app.command(bench)


def main(tokens: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 2 for bad input, 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(tokens, print_error=False, exit_on_error=False, result_action="return_value")
        sys.stdout.flush()
    except (CycloptsError, BadInput, MemoryError) as error:
        return _refuse(_explain(error))
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print("laserloop: interrupted.", file=sys.stderr)
        return 130
    return 0


def _explain(error: Exception) -> object:
    """The sentence of an error, in our words where we have them."""
    if isinstance(error, UnusedCliTokensError):
        return f"nothing may follow here, but got {' '.join(error.unused_tokens or ())!r}; try --help"
    if isinstance(error, MemoryError):
        return "the grid must fit into memory, but does not; take a smaller plate or a wider beam"
    return error.__cause__ if isinstance(error.__cause__, BadInput) else error


def _refuse(sentence: object) -> int:
    print(f"laserloop: {' '.join(str(sentence).split()).rstrip('.')}.", file=sys.stderr)
    return 2


def _number(low: float, high: float, unit: str, text: str, *, default: str | None = None) -> Parameter:
    """An option that takes a number from `low` to `high` and otherwise states this rule."""
    whole = isinstance(low, int)
    rule = f"a {'whole ' if whole else ''}number from {low:g} to {high:.12g}{' ' + unit if unit else ''}"

    def convert(_: type, tokens: Sequence[Token]) -> float:
        given = tokens[0].value
        try:
            value = int(given) if whole else float(given)
        except ValueError:
            value = float("nan")
        if "_" in given or not low <= value <= high:  # Python alone would read 1_4 as 14
            raise BadInput(f"{tokens[0].keyword} must be {rule}, but got {given[:40]!r}")
        return value

    return Parameter(
        converter=convert, help=text, show_default=(lambda _: default) if default else lambda v: f"{v:g}"
    )


def _convert_sides(_: type, tokens: Sequence[Token]) -> tuple[float, ...]:
    try:
        sides = tuple(float(side) for side in tokens[0].value.split(","))
    except ValueError:
        sides = ()
    if len(sides) != 3 or not all(0.2 <= side <= 1000 for side in sides):
        raise BadInput(
            f"{tokens[0].keyword} must be three lengths x,y,z from 0.2 to 1000 mm, such as 15,10,2, "
            f"but got {tokens[0].value[:40]!r}"
        )
    return sides


def _file(text: str, *, metavar: str = "FILE") -> Parameter:
    """An option that takes a file; a single - passes, another option in its place does not."""

    def convert(_: type, tokens: Sequence[Token]) -> Path:
        given = tokens[0].value
        if not given or "\0" in given or (given.startswith("-") and given != "-"):
            raise BadInput(f"{tokens[0].keyword} must be followed by {metavar}, but got {given!r}")
        return Path(given)

    return Parameter(converter=convert, allow_leading_hyphen=True, metavar=metavar, help=text)


@Parameter(name="*", group="Path")
@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """How the beam goes along its path."""

    ticks: Annotated[
        int | None,
        _number(1, 10_000_000, "ticks", "Ticks to simulate.", default="400; of a file all"),
    ] = None
    speed_mm_s: Annotated[float, _number(1e-3, 1e6, "mm/s", "Scan speed in mm/s; slower is hotter.")] = 304.0
    tick_us: Annotated[
        float, _number(1e-2, 1e6, "µs", "Control period in µs, during which the power is constant.")
    ] = 125.0

    def find(self, text: str, plate_mm: tuple[float, float, float]) -> "ScanPath":
        """The path that a person means by `text`."""
        from laserloop.paths import find_path

        plate = plate_mm[0] / 1e3, plate_mm[1] / 1e3
        return find_path(
            text, ticks=self.ticks, speed=self.speed_mm_s / 1e3, tick=self.tick_us / 1e6, plate=plate
        )


@Parameter(name="*", group="Power")
@dataclass(frozen=True, kw_only=True)
class PowerOptions:
    """What the laser gives."""

    power_w: Annotated[
        float | None, _number(0.0, 1e4, "W", "Constant laser power in W.", default=f"{DEFAULT_POWER_W:g}")
    ] = None
    excitation: Annotated[
        Literal["persistent", "hf-random", "bang-bang"] | None,
        Parameter(
            help="Random power from 0 to 20 W instead: slow holds, a new value each tick, or on and off."
        ),
    ] = None
    seed: Annotated[
        int | None,
        _number(0, 2**32 - 1, "", "Seed of --excitation; the same seed gives the same power.", default="0"),
    ] = None

    def __post_init__(self) -> None:
        if self.excitation is not None and self.power_w is not None:
            raise BadInput("--power-w and --excitation exclude each other, but both were given; drop one")
        if self.excitation is None and self.seed is not None:
            raise BadInput("--seed belongs to --excitation, but came without it; add --excitation persistent")

    def draw(self, ticks: int) -> "NDArray[np.float64]":
        """Power for each tick, W."""
        import numpy as np

        from laserloop.excitation import draw_power

        if self.excitation is not None:
            return draw_power(self.excitation, ticks, np.random.default_rng(self.seed or 0))
        return np.full(ticks, DEFAULT_POWER_W if self.power_w is None else self.power_w)


@Parameter(name="*", group="Plant")
@dataclass(frozen=True, kw_only=True)
class PlantOptions:
    """What the laser heats."""

    plant: Annotated[
        Literal["paper", "graded"],
        Parameter(help="The paper's coarse grid, or a grid that is fine where the beam goes."),
    ] = "paper"
    material: Annotated[
        str,
        Parameter(help="304, 316, in625, ti64, or a .yaml or .csv file of properties against temperature."),
    ] = "304"
    ambient_k: Annotated[
        float, _number(1.0, 5e3, "K", "Initial temperature, and that of the plate's bottom, in K.")
    ] = 300.0
    sigma_um: Annotated[
        float, _number(5.0, 1e4, "µm", "Standard deviation of the Gaussian beam in µm; wider is cooler.")
    ] = 100.0
    absorptivity: Annotated[float, _number(1e-4, 1.0, "", "Share of the power that becomes heat.")] = 1.0
    plate_mm: Annotated[
        tuple[float, float, float],
        Parameter(
            converter=_convert_sides,
            n_tokens=1,
            negative="",
            metavar="X,Y,Z",
            help="Edges of the plate in mm; the origin is the centre of its surface.",
            show_default=lambda sides: ",".join(f"{side:g}" for side in sides),
        ),
    ] = (15.0, 10.0, 2.0)

    def make(self, path: "ScanPath") -> "Plant":
        """The plant for a path."""
        from laserloop.episode import make_plant

        x, y, z = (side / 1e3 for side in self.plate_mm)
        return make_plant(
            self.plant,
            path,
            material=self.material,
            ambient=self.ambient_k,
            sigma=self.sigma_um / 1e6,
            absorptivity=self.absorptivity,
            plate=(x, y, z),
        )


Json = Annotated[
    Path | None,
    _file("Write the results as JSON to FILE; with - to standard output, and nothing else there."),
    Parameter(name="--json"),
]
Plot = Annotated[
    Path | None, _file("Draw temperature over time, along the path and on the surface; .png, .svg or .pdf.")
]


@app.command
def simulate(
    path: Annotated[
        str,
        Parameter(help="vertical, horizontal, spiral, diagonal, polyline:SEED or a .csv file of x_mm,y_mm."),
    ],
    /,
    way: PathOptions | None = None,
    laser: PowerOptions | None = None,
    target: PlantOptions | None = None,
    *,
    json_file: Json = None,
    plot: Plot = None,
) -> None:
    """Heat a plate along a path, open loop, and report its peak temperature.

    For example:

        laserloop simulate diagonal --power-w 14 --ticks 320 --json diagonal.json
        laserloop simulate my.csv --plant graded --excitation persistent --plot my.png
    """
    from laserloop.report.tables import tabulate_episode

    way, laser, target = way or PathOptions(), laser or PowerOptions(), target or PlantOptions()
    _check_output("--json", json_file)
    _check_output("--plot", plot)
    scan = way.find(path, target.plate_mm)
    episode = _run_episode(target.make(scan), scan, laser.draw(len(scan)))
    if plot is not None:
        from laserloop.report.figures import draw_overview
        from laserloop.report.save import save_figure

        with _writing("--plot"):
            save_figure(plot, draw_overview(episode))
    _publish(episode.to_json(), json_file, tabulate_episode(episode))


@app.command
def demo(
    *,
    out: Annotated[Path, _file("Folder for the page, its figures and the data.", metavar="DIR")] = Path(
        "laserloop-demo"
    ),
) -> None:
    """Show what constant power does on a path with sharp turns: two plants, one page.

    Takes about ten seconds, and once ten more to compile.

    For example:

        laserloop demo --out out/demo
    """
    from laserloop.paths import find_path
    from laserloop.report.folder import save_report
    from laserloop.report.story import conclude
    from laserloop.report.tables import tabulate_plants
    from laserloop.report.terminal import show

    _check_output("--out", out / "index.html")
    scan = find_path("diagonal", ticks=DEMO_TICKS)
    power = PowerOptions().draw(len(scan))
    paper = _run_episode(PlantOptions(plant="paper").make(scan), scan, power)
    graded = _run_episode(PlantOptions(plant="graded").make(scan), scan, power)
    with _writing("--out"):
        page = save_report(out, [paper, graded], command="laserloop demo")
    show(tabulate_plants([paper, graded]))
    show(conclude(paper, graded))
    show(f"\nReport: {page}")


@bench.command(name="plant")
def bench_plant(
    *,
    steps: Annotated[int, _number(2, 100_000, "steps", "Steps of each of our plants.")] = 400,
    reference_steps: Annotated[
        int, _number(1, 100_000, "steps", "Steps of the SciPy reference; each takes about half a second.")
    ] = 20,
    json_file: Json = None,
) -> None:
    """Time a step of both plants, and of a SciPy sparse Newton solver on the paper's grid.

    For example:

        laserloop bench plant --json out/bench_plant.json
    """
    from laserloop.bench.plant import run_plant_bench
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    _check_output("--json", json_file)
    with show_progress("plants and their reference") as progress:
        numbers = run_plant_bench(steps=steps, reference_steps=reference_steps, progress=progress)
    _publish(numbers, json_file, tabulate_numbers(numbers))


def _run_episode(plant: "Plant", path: "ScanPath", power: "NDArray[np.float64]") -> "Episode":
    """Simulate with a progress bar, and note once by how much the material's range was left."""
    from laserloop import episode
    from laserloop.report.terminal import show_progress

    with warnings.catch_warnings(), show_progress(f"{path.name} on {plant.settings.name}") as progress:
        warnings.filterwarnings("ignore", "temperatures of .* the range of material")
        result = episode.simulate(plant, path, power, progress=progress)
    complaint = plant.settings.material.outside(plant.settings.ambient, float(result.t_max.max()))
    if complaint is not None:
        print(f"laserloop: note: {complaint}.", file=sys.stderr)
    return result


def _publish(numbers: Mapping[str, Any], json_file: Path | None, table: "Table") -> None:
    """The table for people and the numbers for machines; on standard output only one of them."""
    from laserloop.report.save import dump, save
    from laserloop.report.terminal import show

    if json_file == STDOUT:
        sys.stdout.write(dump(numbers))
        return
    show(table)
    if json_file is not None:
        with _writing("--json"):
            save(json_file, dump(numbers))


def _check_output(option: str, file: Path | None) -> None:
    """Refuse a hopeless output before the work, not after it."""
    from laserloop.report.save import check_format, check_target

    if file is None or (file == STDOUT and option == "--json"):
        return
    with _writing(option):
        check_target(file)
    if option == "--plot":
        check_format(file)


@contextmanager
def _writing(option: str) -> Iterator[None]:
    """What the system has against writing becomes a sentence about the option."""
    try:
        yield
    except OSError as problem:
        what, reason = problem.filename or "the file", problem.strerror or problem
        raise BadInput(f"{option} must be writable, but {what} is not ({reason})") from problem
