"""A plant by name, made for a path: the graded one is resolved where the beam heats."""

from dataclasses import replace

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.path import ScanPath
from laserloop.plant.plant import SLACK, Plant
from laserloop.plant.settings import (
    SCAN_AREA,
    PlantSettings,
    graded_settings,
    moving_settings,
    paper_settings,
)
from laserloop.process import Process

PLANTS = ("paper", "graded")
LONG = 3000  # ticks, after which a fixed grid is warm all over and the moving one is the cheaper
MAX_NODES = 20_000_000  # 1.5 GB of fields; the paper's plate has 320 271


def make_plant(name: str, path: ScanPath, process: Process | None = None, *, absorbed: float = 1.0) -> Plant:
    """The plant called `name`, made for `path` and a process, the paper's unless given.

    `absorbed`: share of the heat that the process promises.
    """
    if name not in PLANTS:
        raise BadInput(f"a plant must be one of {', '.join(PLANTS)}, but got {name!r}; choose one of these.")
    process = replace(process or Process(), tick=path.tick)  # what was sampled holds
    settings = paper_settings(process) if name == "paper" else _choose_grid(path, process)
    nodes = int(np.prod(settings.grid.shape))
    if nodes > MAX_NODES:
        raise BadInput(
            f"a plant may have at most {MAX_NODES} nodes, but the {name} grid would need {nodes}: "
            "take a smaller plate, a wider beam or a shorter path."
        )
    return Plant(replace(settings, absorbed=absorbed))


def _choose_grid(path: ScanPath, process: Process) -> PlantSettings:
    """The graded plant for a path: fixed where all of it is near, else following the beam.

    What a fixed grid would be made for, 3 × 3 mm and an episode, is computed as it always was.
    """
    lit = path.lit if path.lit.any() else ~path.lit
    ends = np.concatenate((path.positions[:-1][lit], path.positions[1:][lit]))
    (x_low, y_low), (x_high, y_high) = ends.min(axis=0), ends.max(axis=0)
    fastest = float(np.hypot(*path.velocities[:-1][lit].T).max()) or None  # a beam at rest has no speed
    side = SCAN_AREA[1] - SCAN_AREA[0] + SLACK
    if len(path) > LONG or x_high - x_low > side or y_high - y_low > side:
        return moving_settings(process, fastest=fastest)
    return graded_settings(process, region=(x_low, x_high, y_low, y_high), fastest=fastest)
