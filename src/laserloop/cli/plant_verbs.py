"""The verbs of the plant: heat a plate along a path, and time a step of it."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from laserloop.cli.options import PathOptions, PlantOptions, PowerOptions, take_file, take_number
from laserloop.cli.output import Json, check_output, publish, writing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from laserloop.data.episode import Episode
    from laserloop.paths import ScanPath
    from laserloop.plant import Plant

Plot = Annotated[
    Path | None,
    take_file("Draw temperature over time, along the path and on the surface; .png, .svg or .pdf."),
]


def simulate(
    path: Annotated[
        str,
        Parameter(
            help="vertical, horizontal, spiral, diagonal, polyline:SEED, or a .csv file of x_mm,y_mm, a "
            ".gcode, .cli or .txt file."
        ),
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
    from laserloop.bench.threads import keep_to_one_thread

    keep_to_one_thread()  # before NumPy is loaded
    from laserloop.bench.plant import run_plant_bench
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    check_output("--json", json_file)
    with show_progress("plants and their reference") as progress:
        numbers = run_plant_bench(steps=steps, reference_steps=reference_steps, progress=progress)
    publish(numbers, json_file, tabulate_numbers(numbers))


def _run_episode(plant: "Plant", path: "ScanPath", power: "NDArray[np.float64]") -> "Episode":
    """Simulate with a progress bar, and note once by how much the material's range was left."""
    from laserloop.data import episode
    from laserloop.report.terminal import show_progress

    with warnings.catch_warnings(), show_progress(f"{path.name} on {plant.settings.name}") as progress:
        warnings.filterwarnings("ignore", "temperatures of .* the range of material")
        result = episode.simulate(plant, path, power, progress=progress)
    complaint = plant.settings.material.outside(plant.settings.ambient, float(result.t_max.max()))
    if complaint is not None:
        print(f"laserloop: note: {complaint}.", file=sys.stderr)
    return result
