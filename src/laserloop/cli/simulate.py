"""The verb that heats a plate along a path, open loop."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from laserloop.cli.options import (
    PathName,
    PathOptions,
    PlantName,
    PowerOptions,
    ProcessOptions,
    take_file,
    tell_notes,
)
from laserloop.cli.output import Json, Table, check_output, keep_apart, publish, save_table, writing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from laserloop.data.episode import Episode
    from laserloop.paths import ScanPath
    from laserloop.plant import Plant
    from laserloop.process.process import Sampling

Plot = Annotated[
    Path | None,
    take_file("Draw temperature over time, along the path and on the surface; .png, .svg or .pdf."),
]
Out = Annotated[
    Path | None,
    take_file(
        "Keep a checkpoint of a long simulation in DIR, every 30 s; the same command goes on from it.",
        metavar="DIR",
    ),
]


def simulate(
    path: PathName,
    /,
    way: PathOptions | None = None,
    laser: PowerOptions | None = None,
    target: ProcessOptions | None = None,
    *,
    plant: PlantName = "graded",
    sampling: Annotated[
        Literal["nearest", "bilinear"] | None,
        Parameter(
            help="Also report what a camera sees where the beam will be a tick later, read at the "
            "nearest pixel (as the paper's controller is) or bilinearly; t_ahead_k in --json and --table.",
            show_default=lambda _: "not reported",
        ),
    ] = None,
    out: Out = None,
    json_file: Json = None,
    table: Table = None,
    field: Annotated[
        Path | None,
        take_file("Write the plate's temperatures at the end as VTK, for ParaView; .vtk.", metavar="FILE"),
    ] = None,
    plot: Plot = None,
) -> None:
    """Heat a plate along a path, open loop, and report its peak temperature.

    Where a path has the laser off, the beam goes there dark. On the plant graded the table counts ticks above
    the window from the first lit one on, and ticks below it once full power could have reached it; on the
    plant paper both from the tenth tick after the laser came on.

    For example:

        laserloop simulate diagonal --power-w 14 --ticks 320 --json diagonal.json
        laserloop simulate layer.cli --power-w 14 --out layer
        laserloop simulate part.gcode --plant graded --process ti64 --power-w file --plot part.png
    """
    from laserloop.plant import make_plant
    from laserloop.report.tables import tabulate_episode

    way, laser, target = way or PathOptions(), laser or PowerOptions(), target or ProcessOptions()
    for option, file in (("--table", table), ("--field", field), ("--plot", plot)):
        check_output(option, file)
    keep_apart(
        {"--json": json_file, "--table": table, "--field": field, "--plot": plot},
        {"PATH": path, "--process": target.process, "--material": target.material},
    )
    process = target.find(speed_mm_s=way.speed_mm_s)
    scan = way.find(path, process)
    power, notes = laser.draw(scan, process)
    tell_notes(notes)
    scan = replace(scan, notes=(*scan.notes, *notes))
    truth = make_plant(plant, replace(process, tick=scan.tick))
    episode = _run_episode(truth, scan, power, sampling, out)
    record = episode.to_json()
    save_table(table, record)
    if field is not None:
        from laserloop.logs.export import render_field
        from laserloop.report.save import save

        with writing("--field"):
            save(field, render_field(truth))
    if plot is not None:
        from laserloop.report.figures import draw_overview
        from laserloop.report.save import save_figure

        with writing("--plot"):
            save_figure(plot, draw_overview(episode, window=process.window))
    publish(record, json_file, tabulate_episode(episode))


def _run_episode(
    plant: "Plant",
    path: "ScanPath",
    power: "NDArray[np.float64]",
    sampling: "Sampling | None",
    folder: Path | None,
) -> "Episode":
    """Simulate with a progress bar, and note once by how much the material's range was left."""
    from laserloop.data import episode
    from laserloop.predict.twin import find_counted
    from laserloop.report.terminal import show_progress

    with warnings.catch_warnings(), show_progress(f"{path.name} on {plant.settings.name}") as progress:
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        with writing("--out"):
            result = episode.simulate(plant, path, power, sampling=sampling, folder=folder, progress=progress)
    if plant.settings.name != "paper":
        above, below = find_counted(plant.settings.process, path, power)
        result = replace(result, counts_above=above, counts_below=below)
    complaint = plant.settings.material.outside(plant.settings.ambient, float(result.t_max.max()))
    if complaint is None:
        return result
    tell_notes([complaint])
    return replace(result, notes=(*result.notes, complaint))
