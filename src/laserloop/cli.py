"""The command line: one verb per room. Heavy imports wait inside the verbs, so that --help is fast."""

import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from laserloop.bad_input import BadInput
from laserloop.options import PathOptions, PlantOptions, PowerOptions, take_file, take_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from laserloop.episode import Episode
    from laserloop.paths import ScanPath
    from laserloop.plant import Plant

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


Json = Annotated[
    Path | None,
    take_file("Write the results as JSON to FILE; with - to standard output, and nothing else there."),
    Parameter(name="--json"),
]
Plot = Annotated[
    Path | None,
    take_file("Draw temperature over time, along the path and on the surface; .png, .svg or .pdf."),
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
    out: Annotated[Path, take_file("Folder for the page, its figures and the data.", metavar="DIR")] = Path(
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


@app.command
def ensemble(
    kind: Annotated[
        str,
        Parameter(help="base (rasters, spirals), corner (random polylines too) or a .yaml file of settings."),
    ],
    /,
    *,
    out: Annotated[Path, take_file("Folder of the store; one that was begun is continued.", metavar="DIR")],
    runs: Annotated[int | None, take_number(1, 1_000_000, "", "Episodes in all.", default="320")] = None,
    seed: Annotated[
        int | None, take_number(0, 2**32 - 1, "", "The same seed gives the same bytes.", default="0")
    ] = None,
    plant: Annotated[
        Literal["paper", "graded"] | None,
        Parameter(help="The paper's coarse grid, or a fine one.", show_default=lambda _: "paper"),
    ] = None,
    geometry: Annotated[
        Literal["fixed", "random"] | None,
        Parameter(
            help="Rasters and spirals: the named shapes themselves, or each different.",
            show_default=lambda _: "fixed",
        ),
    ] = None,
    workers: Annotated[
        int | None, take_number(1, 1024, "", "Processes on this machine.", default="one per core")
    ] = None,
    scheduler: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to use instead, such as tcp://host:8786.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Make the episodes that a surrogate learns from; stopped at any time, it goes on when called again.

    For example:

        laserloop ensemble corner --out data/corner
        laserloop ensemble base --runs 40 --workers 2 --out data/small
    """
    from laserloop.dataset import EnsembleSettings, read_settings, run_ensemble
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    _check_output("--json", json_file)
    given = {"kind": kind} if kind in ("base", "corner") else read_settings(kind)
    asked = {"runs": runs, "seed": seed, "plant": plant, "geometry": geometry}
    settings = EnsembleSettings.from_json(
        given | {name: value for name, value in asked.items() if value is not None}
    )
    with _writing("--out"), show_progress(f"episodes of {settings.kind}") as progress:
        tally = run_ensemble(out, settings, workers=workers, scheduler=scheduler, progress=progress)
    numbers = tally.to_json()
    _publish({"settings": settings.to_json()} | numbers, json_file, tabulate_numbers(numbers))


@bench.command(name="plant")
def bench_plant(
    *,
    steps: Annotated[int, take_number(2, 100_000, "steps", "Steps of each of our plants.")] = 400,
    reference_steps: Annotated[
        int,
        take_number(
            1, 100_000, "steps", "Steps of the SciPy reference, 0.1–0.5 s each; 20 for a quick look."
        ),
    ] = 400,
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
