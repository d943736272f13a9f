"""A plant by name, made for a path: the graded one is resolved where the beam heats."""

from dataclasses import replace

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.path import ScanPath
from laserloop.plant.plant import Plant, graded_settings, paper_settings
from laserloop.process import Process

PLANTS = ("paper", "graded")
MAX_NODES = 20_000_000  # 1.5 GB of fields; the paper's plate has 320 271


def make_plant(name: str, path: ScanPath, process: Process | None = None, *, absorbed: float = 1.0) -> Plant:
    """The plant called `name`, made for `path` and a process, the paper's unless given.

    `absorbed`: share of the heat that the process promises.
    """
    if name not in PLANTS:
        raise BadInput(f"a plant must be one of {', '.join(PLANTS)}, but got {name!r}; choose one of these.")
    process = replace(process or Process(), tick=path.tick)  # what was sampled holds
    if name == "paper":
        settings = paper_settings(process)
    else:
        lit = path.lit if path.lit.any() else ~path.lit
        ends = np.concatenate((path.positions[:-1][lit], path.positions[1:][lit]))
        (x_low, y_low), (x_high, y_high) = ends.min(axis=0), ends.max(axis=0)
        fastest = float(np.hypot(*path.velocities[:-1][lit].T).max()) or None  # a beam at rest has no speed
        settings = graded_settings(process, region=(x_low, x_high, y_low, y_high), fastest=fastest)
    nodes = int(np.prod(settings.grid.shape))
    if nodes > MAX_NODES:
        raise BadInput(
            f"a plant may have at most {MAX_NODES} nodes, but the {name} grid would need {nodes}: "
            "take a smaller plate, a wider beam or a shorter path."
        )
    return Plant(replace(settings, absorbed=absorbed))
