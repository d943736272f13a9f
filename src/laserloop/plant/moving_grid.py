"""The moving grid: fine around the beam, coarser by twos away from it, all cells from one lattice.

An axis of the plate is divided into equal finest cells, a lattice fixed in space. Where the grid may be
coarser, neighbouring cells stand together in twos, fours, …: a cell of c finest ones, its ends at multiples
of c, stands undivided where it is at least `CLEARANCE`·c finest cells away from the focus (and, above `FAR`
cells, farther still: heat spreads with the root of its age). Neighbours differ by a factor of 2 at most. The
focus is the interval that is kept fine: the beam pushes it along, so that most cells stay as they are.
"""

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant.grid import MOST_NODES, Grid

FloatArray = NDArray[np.float64]
Focus = tuple[int, int]  # where the fine part of an axis starts and ends, in finest cells

CLEARANCE = 3  # own lengths that a cell keeps away from the focus
FAR = 16  # finest cells in a cell, above which it keeps away by more than that
FEWEST = 16  # cells, at least, that the longest would make of an axis
SHIFT = 4  # finest cells by which a focus may be shifted


@dataclass(frozen=True, slots=True)
class DyadicAxis:
    """Equal finest cells along one side of a plate, and every coarsening of them by twos."""

    half: float  # m, from the plate's centre to its edge
    cells: int  # finest cells, a multiple of `longest`
    longest: int  # finest cells in the longest cell, a power of 2

    @property
    def spacing(self) -> float:
        """Of the finest nodes, m."""
        return 2.0 * self.half / self.cells

    def faces(self, focus: Focus) -> FloatArray:
        """The ends of all cells, m, the finest in `focus`."""
        ends = [0]
        for start in range(0, self.cells, self.longest):
            self._divide(start, self.longest, focus, ends)
        faces = self.spacing * np.array(ends, dtype=np.float64) - self.half
        faces[-1] = self.half
        return faces

    def _divide(self, start: int, size: int, focus: Focus, ends: list[int]) -> None:
        away = max(focus[0] - start - size, start - focus[1])
        if size == 1 or away >= CLEARANCE * size * max(1.0, size / FAR):
            ends.append(start + size)
            return
        for part in (start, start + size // 2):
            self._divide(part, size // 2, focus, ends)

    def push(self, focus: Focus | None, low: float, high: float, length: float, stride: float) -> Focus:
        """The focus that contains `low` to `high`, m: the same if it does, else one pushed that way.

        Pushed, it reaches `stride` beyond what was asked for; it is at least `length` long.
        """
        need = (low + self.half) / self.spacing, (high + self.half) / self.spacing
        if focus is not None and max(0.0, need[0]) >= focus[0] and min(self.cells, need[1]) <= focus[1]:
            return focus
        long, reach = length / self.spacing, stride / self.spacing
        if focus is None:
            middle = 0.5 * (need[0] + need[1])
            start, end = min(need[0], middle - long / 2), max(need[1], middle + long / 2)
        elif need[1] > focus[1]:
            end = need[1] + reach
            start = min(need[0], end - long)
        else:
            start = need[0] - reach
            end = max(need[1], start + long)
        return max(0, SHIFT * floor(start / SHIFT)), min(self.cells, SHIFT * ceil(end / SHIFT))


@dataclass(frozen=True, slots=True)
class MovingGrid:
    """Grids of one plate that are fine around a beam; lengths in m."""

    x: DyadicAxis
    y: DyadicAxis
    ahead: float  # that the fine part reaches beyond the beam, at least
    length: float  # of the fine part along each axis, at least; what is not ahead trails behind
    stride: float  # by which it is pushed on at a time

    def follow(self, focus: tuple[Focus, Focus] | None, spot: FloatArray) -> tuple[Focus, Focus]:
        """Where the grid is to be fine when the beam goes from spot[0] to spot[1]."""
        low, high = spot.min(axis=0) - self.ahead, spot.max(axis=0) + self.ahead
        old_x, old_y = focus or (None, None)
        return (
            self.x.push(old_x, float(low[0]), float(high[0]), self.length, self.stride),
            self.y.push(old_y, float(low[1]), float(high[1]), self.length, self.stride),
        )

    def grid(self, focus: tuple[Focus, Focus], depths: FloatArray) -> Grid:
        """The grid that is fine there."""
        x, y = self.x.faces(focus[0]), self.y.faces(focus[1])
        return Grid(x=centre(x), y=centre(y), z=depths, x_faces=x, y_faces=y)


def centre(faces: FloatArray) -> FloatArray:
    """A node in the middle of each cell: its heat is the mean around it, whatever its neighbours' size."""
    return 0.5 * (faces[1:] + faces[:-1])


def make_axis(length: float, fine: float) -> DyadicAxis:
    """An axis of a plate `length` long with a spacing of `fine` at most, m."""
    if not (np.isfinite(length) and np.isfinite(fine) and 0 < fine <= length):
        raise BadInput(
            f"plate and spacing must be positive lengths in m, got {length} and {fine}: correct them"
        )
    cells = ceil(length / fine - 1e-9)
    if cells > MOST_NODES:
        raise BadInput(f"a spacing of {fine:g} m is too fine for a plate of {length:g} m: widen it")
    longest = 1
    while cells / (2 * longest) >= FEWEST:
        longest *= 2
    return DyadicAxis(length / 2, longest * ceil(cells / longest), longest)
