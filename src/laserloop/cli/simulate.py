"""The verb that heats a plate along a path, open loop."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from laserloop.cli.options import (
    PathName,
    PathOptions,
    PlantName,
    PowerOptions,
    ProcessOptions,
    take_file,
    tell_notes,
)
from laserloop.cli.output import Json, Table, check_output, publish, save_table, writing

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

    Where a path has the laser off, the beam goes there dark.

    For example:

        laserloop simulate diagonal --power-w 14 --ticks 320 --json diagonal.json
        laserloop simulate layer.cli --power-w 14 --out layer
        laserloop simulate part.gcode --plant graded --process ti64 --power-w file --plot part.png
    """
    from laserloop.plant import make_plant
    from laserloop.report.tables import tabulate_episode

    way, laser, target = way or PathOptions(), laser or PowerOptions(), target or ProcessOptions()
    for option, file in (("--json", json_file), ("--table", table), ("--field", field), ("--plot", plot)):
        check_output(option, file)
    process = target.find(speed_mm_s=way.speed_mm_s)
    scan = way.find(path, process)
    power, notes = laser.draw(scan, process)
    tell_notes(notes)
    scan = replace(scan, notes=(*scan.notes, *notes))
    truth = make_plant(plant, scan, process)
    episode = _run_episode(truth, scan, power, out)
    record = episode.to_json()
    save_table(table, record)
    if field is not None:
        from laserloop.logs.vtk_file import render_field
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
    plant: "Plant", path: "ScanPath", power: "NDArray[np.float64]", folder: Path | None
) -> "Episode":
    """Simulate with a progress bar, and note once by how much the material's range was left."""
    from laserloop.data import episode
    from laserloop.report.terminal import show_progress

    with warnings.catch_warnings(), show_progress(f"{path.name} on {plant.settings.name}") as progress:
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        with writing("--out"):
            result = episode.simulate(plant, path, power, folder=folder, progress=progress)
    complaint = plant.settings.material.outside(plant.settings.ambient, float(result.t_max.max()))
    if complaint is None:
        return result
    tell_notes([complaint])
    return replace(result, notes=(*result.notes, complaint))
