"""The melt pool: how long, wide and deep the metal is wholly liquid, between the nodes too.

Its edge is the liquidus. Distances are found in θ = ∫k dT, W/m, in which conduction is linear and the jump of
conductivity on melting leaves no kink.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from laserloop.plant import sampling

FloatArray = NDArray[np.float64]

FINER = 4  # points between two nodes where the outline is looked for
MARGIN = 2  # nodes around the liquid ones that belong to the search
MOST_POINTS = 200_000  # of the search; beyond, it is coarser


@dataclass(frozen=True, slots=True)
class MeltPool:
    """Extent of the liquid, m."""

    length: float  # along the beam's way
    width: float  # across it
    depth: float


class Patch(NamedTuple):
    """A part of the plate from the surface down."""

    x: FloatArray  # m
    y: FloatArray  # m
    z: FloatArray  # m, from 0 on
    excess: FloatArray  # (z, y, x), θ above that of the liquidus, W/m

    @classmethod
    def around(cls, x: FloatArray, y: FloatArray, z: FloatArray, excess: FloatArray) -> "Patch":
        """Of a whole field, what lies around its liquid, or around the hottest node if there is none."""
        rows, cols = np.nonzero(excess[0] > 0.0)
        if not rows.size:
            rows, cols = (np.array([at]) for at in divmod(int(np.argmax(excess[0])), excess.shape[2]))
        down = slice(0, len(excess))
        across, along = (
            slice(max(0, int(at.min()) - MARGIN), int(at.max()) + MARGIN + 1) for at in (rows, cols)
        )
        return cls(x[along], y[across], z[down], excess[down, across, along])


def measure_pool(patch: Patch, heading: float) -> MeltPool | None:
    """Length, width and depth, the first two along and across `heading`, rad; None if nothing is liquid."""
    lattice, spacing = _sample_surface(patch, heading)
    length, width = (_measure(lines, spacing) for lines in (lattice, lattice.T))
    return MeltPool(length, width, _measure_depth(patch)) if length > 0.0 else None


def _sample_surface(patch: Patch, heading: float) -> tuple[FloatArray, float]:
    """θ's excess on a lattice of lines along the heading, (across, along), and its spacing, m."""
    x, y = patch.x, patch.y
    corners = np.array([(a, b) for a in (x[0], x[-1]) for b in (y[0], y[-1])])
    turn = np.array([[np.cos(heading), np.sin(heading)], [-np.sin(heading), np.cos(heading)]])
    ahead, left = (corners @ turn.T).T
    spacing = float(min(np.diff(x).min(), np.diff(y).min())) / FINER
    spacing *= max(1.0, float(np.sqrt(np.ptp(ahead) * np.ptp(left) / spacing**2 / MOST_POINTS)))
    along = np.arange(ahead.min(), ahead.max() + spacing, spacing)
    across = np.arange(left.min(), left.max() + spacing, spacing)
    points = np.stack(np.meshgrid(along, across), axis=-1).reshape(-1, 2) @ turn
    values = sampling.smooth(x, y, np.ascontiguousarray(patch.excess[0]), np.ascontiguousarray(points))
    inside = (points >= (x[0], y[0])).all(axis=1) & (points <= (x[-1], y[-1])).all(axis=1)
    return np.where(inside, values, -np.inf).reshape(len(across), len(along)), spacing


def _measure(lines: FloatArray, spacing: float) -> float:
    """From the first to the last place on any of these lines where the value is positive, m."""
    along = lines.max(axis=0)  # of all lines
    liquid = np.flatnonzero(along > 0.0)
    if not liquid.size:
        return 0.0
    ends = 0.0
    for at, beyond in ((int(liquid[0]), int(liquid[0]) - 1), (int(liquid[-1]), int(liquid[-1]) + 1)):
        outside = along[beyond] if 0 <= beyond < len(along) else -np.inf
        ends += float(along[at] / (along[at] - outside)) if np.isfinite(outside) else 0.0
    return spacing * (float(liquid[-1] - liquid[0]) + ends)


def _measure_depth(patch: Patch) -> float:
    """Where the hottest place of each level falls below the liquidus, m."""
    hottest = np.array([_find_top(level) for level in patch.excess])
    solid = np.flatnonzero(hottest <= 0.0)
    if hottest[0] <= 0.0:
        return 0.0
    if not solid.size:
        return float(patch.z[-1])
    n = min(int(solid[0]) + 2, len(hottest))
    curve = PchipInterpolator(patch.z[:n], hottest[:n])
    roots = [root for root in curve.roots(extrapolate=False) if np.isfinite(root)]
    return float(max(roots))


def _find_top(level: FloatArray) -> float:
    """The maximum of a field (y, x), by a parabola through the hottest node and its neighbours each way."""
    row, col = divmod(int(np.argmax(level)), level.shape[1])
    top = float(level[row, col])
    rise = 0.0
    for at, line in ((row, level[:, col]), (col, level[row])):
        if 0 < at < len(line) - 1:
            slope, bend = 0.5 * (line[at + 1] - line[at - 1]), line[at + 1] - 2 * line[at] + line[at - 1]
            rise += float(-(slope**2) / (2 * bend)) if bend < 0 else 0.0
    return top + rise
