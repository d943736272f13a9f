"""The command line: one verb per room. Heavy imports wait inside the verbs, so that --help is fast."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from laserloop.bad_input import BadInput
from laserloop.control_verbs import bench_mpc, calibrate, close_loop, control, export
from laserloop.learning_verbs import bench_train, ensemble, evaluate, train
from laserloop.options import PathOptions, PlantOptions, PowerOptions, take_file, take_number
from laserloop.output import Json, check_output, publish, writing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from laserloop.episode import Episode
    from laserloop.paths import ScanPath
    from laserloop.plant import Plant

DEMO_PATH = "diagonal"
DEMO_CONTROLLERS = ("realtime", "pi", "constant")

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
for verb in (ensemble, train, evaluate, calibrate, control, export):
    app.command(verb)
bench.command(bench_train, name="train")
bench.command(bench_mpc, name="mpc")


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
    check_output("--json", json_file)
    check_output("--plot", plot)
    scan = way.find(path, target.plate_mm)
    episode = _run_episode(target.make(scan), scan, laser.draw(len(scan)))
    if plot is not None:
        from laserloop.report.figures import draw_overview
        from laserloop.report.save import save_figure

        with writing("--plot"):
            save_figure(plot, draw_overview(episode))
    publish(episode.to_json(), json_file, tabulate_episode(episode))


@app.command
def demo(
    *,
    out: Annotated[Path, take_file("Folder for the page, its figures and the data.", metavar="DIR")] = Path(
        "laserloop-demo"
    ),
) -> None:
    """Keep the peak temperature in its window on a path with sharp turns: three controllers, one page.

    The paper's surrogate with its margin, PI and constant power, on a path that no model was trained on.
    Takes about ten seconds, and once a minute more to compile.

    For example:

        laserloop demo --out out/demo
    """
    from laserloop.report.folder import save_comparison
    from laserloop.report.run_story import conclude
    from laserloop.report.run_tables import tabulate_runs
    from laserloop.report.terminal import show

    check_output("--out", out / "index.html")
    records = [close_loop(DEMO_PATH, controller) for controller in DEMO_CONTROLLERS]
    with writing("--out"):
        page = save_comparison(out, records, command="laserloop demo")
    show(tabulate_runs(records))
    show(conclude(records))
    show(f"\nReport: {page}")


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

    check_output("--json", json_file)
    with show_progress("plants and their reference") as progress:
        numbers = run_plant_bench(steps=steps, reference_steps=reference_steps, progress=progress)
    publish(numbers, json_file, tabulate_numbers(numbers))


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
