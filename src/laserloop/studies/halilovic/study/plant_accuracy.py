"""How right is each plant? Bias and ripple of T_max at constant power, against an extrapolated reference.

A beam of 14 W moves at 0.3 m/s along straight lines at 0°, 30° and 45° to the grid. The reference is the
graded plant with every spacing and the time step divided by 1, 2 and 4, Richardson-extrapolated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from laserloop.plant import Plant, PlantSettings
from laserloop.plant.paper import Grid, PaperHeat
from laserloop.process import Process
from laserloop.process.heat_table import tabulate
from laserloop.store import solve_case

POWER, SPEED, TICK = 14.0, 0.3, 1.25e-4  # W, m/s, s
TICKS, SETTLED = 64, 40  # 2.4 mm; T_max is steady to 0.01 K per tick after 1.5 mm
ANGLES = (0, 30, 45)
PARTS = (1, 2, 4)

PAPER, GRADED = "paper: 100 µm uniform, backward Euler", "graded"
# in-plane spacing and first depth, m, growth, substeps of a tick
BETWEEN = {
    "50 µm in plane, depth from 15 µm × 1.25": (50e-6, 15e-6, 1.25, 1),
    "33 µm in plane, same depth": (100e-6 / 3, 15e-6, 1.25, 1),
    "25 µm in plane, depth from 10 µm × 1.2": (25e-6, 10e-6, 1.2, 1),
    "the same, Δt/4": (25e-6, 10e-6, 1.2, 4),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One straight line on one plant."""

    plant: str  # PAPER, GRADED or a key of BETWEEN
    angle: int  # degrees to the grid
    parts: int = 1  # of the graded plant: every spacing and the time step divided by this

    def settings(self) -> dict[str, Any]:
        """What names the case."""
        return {"study": "plant accuracy", "plant": self.plant, "angle": self.angle, "parts": self.parts}


def list_lines(parts: Sequence[int] = PARTS, between: Sequence[str] = tuple(BETWEEN)) -> list[Line]:
    """All lines of the study, the longest first; `between`: which grids besides the two plants."""
    graded = [Line(plant=GRADED, angle=a, parts=n) for n in sorted(parts, reverse=True) for a in ANGLES]
    return graded + [Line(plant=p, angle=a) for p in (*reversed(between), PAPER) for a in ANGLES]


def run_line(line: Line, root: Path) -> dict[str, Any]:
    """T_max over the settled ticks, on the hottest node and between the nodes; from disk if it is there."""
    return solve_case(root / "lines", line.settings(), partial(_drive, line))


def judge_plants(
    root: Path, parts: Sequence[int] = PARTS, between: Sequence[str] = tuple(BETWEEN)
) -> dict[str, Any]:
    """Limit and order for each angle, bias and ripple of every plant, and the lines of two of them."""
    reference = {str(angle): _extrapolate(root, angle, parts) for angle in ANGLES}
    rows = {
        plant: {
            str(a): _summarise(run_line(Line(plant=plant, angle=a), root), reference[str(a)]["limit_k"])
            for a in ANGLES
        }
        for plant in (PAPER, *between, GRADED)
    }
    lines = {
        short: {str(a): run_line(Line(plant=plant, angle=a), root) for a in ANGLES}
        for short, plant in (("paper", PAPER), ("graded", GRADED))
    }
    distance = [1e3 * (k + 1) * SPEED * TICK for k in range(SETTLED, TICKS)]
    return {"reference": reference, "plants": rows, "lines": lines, "distance_mm": distance}


def _drive(line: Line) -> dict[str, Any]:
    plant, substeps = _make_plant(line)
    direction = np.array([np.cos(np.deg2rad(line.angle)), np.sin(np.deg2rad(line.angle))])
    node, peak = [], []
    for k in range(TICKS * substeps):
        at = (np.array([k, k + 1]) * SPEED * TICK / substeps - 1.2e-3)[:, None] * direction
        surface = plant.step(POWER, at)
        if (k + 1) % substeps == 0 and k >= SETTLED * substeps:
            node.append(surface.node.temperature)
            peak.append(surface.peak.temperature)
    return {"node": node, "peak": peak}


def _make_plant(line: Line) -> tuple[Plant, int]:
    """The plant, and the substeps of a tick."""
    if line.plant not in BETWEEN:
        name = "paper" if line.plant == PAPER else "graded"
        process = Process(tick=TICK / line.parts, speed=SPEED)
        return Plant(PlantSettings(name=name, process=process, refine=line.parts)), line.parts
    in_plane, first, growth, substeps = BETWEEN[line.plant]
    process = Process(tick=TICK / substeps, speed=SPEED)
    grid, table = _stack(in_plane, first, growth), tabulate(process.material, process.ambient)
    return Plant(PlantSettings(name="paper", process=process), PaperHeat(process, table, grid=grid)), substeps


def _stack(in_plane: float, first: float, growth: float) -> Grid:
    """In-plane spacing over the scan area, geometric depth: the grids between the paper's and the graded."""
    spacings = [first]
    while sum(spacings) < 2e-3:
        spacings.append(spacings[-1] * growth)
    z = np.concatenate(([0.0], np.cumsum(spacings) * (2e-3 / sum(spacings))))
    half = round(3e-3 / in_plane)
    side = np.linspace(-half * in_plane, half * in_plane, 2 * half + 1)
    return Grid(x=side, y=side.copy(), z=z)


def _extrapolate(root: Path, angle: int, parts: Sequence[int]) -> dict[str, float]:
    """Mean peak on each grid, its limit by Richardson for order 2, and the order seen over three grids."""
    means = {
        n: float(np.mean(run_line(Line(plant=GRADED, angle=angle, parts=n), root)["peak"])) for n in parts
    }
    coarse, fine = means[parts[-2]], means[parts[-1]]
    row = {f"divided_by_{n}_k": mean for n, mean in means.items()}
    row["limit_k"] = fine + (fine - coarse) / 3.0
    if len(parts) == 3:
        row["order"] = float(np.log2(abs((coarse - means[parts[0]]) / (fine - coarse))))
    return row


def _summarise(line: dict[str, Any], limit: float) -> dict[str, float]:
    node, peak = np.array(line["node"]), np.array(line["peak"])
    return {
        "node_min_k": float(node.min()),
        "node_max_k": float(node.max()),
        "peak_min_k": float(peak.min()),
        "peak_max_k": float(peak.max()),
        "node_ripple_k": float(np.ptp(node)),
        "peak_ripple_k": float(np.ptp(peak)),
        "node_bias_k": float(node.mean() - limit),
        "peak_bias_k": float(peak.mean() - limit),
    }
