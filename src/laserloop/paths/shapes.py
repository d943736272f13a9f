"""Built-in shapes: functions that return waypoints (m) of a polyline at least `length` long.

u  angle along the spiral, rad      z  position x + iy, m
"""

from math import ceil, floor, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths.area import HALF_WIDTH, check_length

DEFAULT_HATCH = 5e-4  # m
SAGITTA = 1e-8  # m, the largest distance between a spiral and its chords


def trace_vertical(
    length: float, *, hatch: float = DEFAULT_HATCH, corner: tuple[int, int] = (-1, -1), first_line: int = 0
) -> NDArray[np.float64]:
    """Lines along y, `hatch` apart, to and fro across the scan area for as long as asked.

    `corner` holds the signs of x and y where line 0 starts, and so fixes both directions: away from it.
    """
    across, along = _trace_raster(length, hatch, first_line)
    _check_corner(corner)
    return np.column_stack([corner[0] * across, corner[1] * along])


def trace_horizontal(
    length: float, *, hatch: float = DEFAULT_HATCH, corner: tuple[int, int] = (-1, -1), first_line: int = 0
) -> NDArray[np.float64]:
    """Lines along x: `trace_vertical` with the axes exchanged."""
    return trace_vertical(length, hatch=hatch, corner=corner[::-1], first_line=first_line)[:, ::-1]


def trace_spiral(
    length: float,
    *,
    turns: float = 3.0,
    radius: float = HALF_WIDTH,
    start_angle: float = 0.0,
    clockwise: bool = False,
    inward: bool = False,
) -> NDArray[np.float64]:
    """An Archimedean spiral from the centre to `radius`, then the circle of that radius.

    Inward it starts on the circle, passes smoothly through the centre and leaves on the mirrored arm.
    `start_angle` is the first heading when outward, the polar angle of the first point when inward.
    """
    check_length(length)
    _check_spiral(turns, radius, start_angle)
    end = 2 * pi * turns
    step = sqrt(8 * SAGITTA / _greatest_bend(end, radius / end))
    arm = _spread(-end if inward else 0.0, end, step)
    circle = _spread(end, end + 1.001 * length / radius, step)  # chords are shorter than the arc
    u = np.concatenate([arm, circle[1:]])
    z = radius / end * np.minimum(u, end) * np.exp(1j * (u + end - pi if inward else u))
    z = (np.conj(z) if clockwise else z) * np.exp(1j * start_angle)
    return np.column_stack([z.real, z.imag])


def trace_diagonal(length: float) -> NDArray[np.float64]:
    """A closed bow-tie with 135° turns at its four vertices, again and again."""
    check_length(length)
    loop = HALF_WIDTH * np.array([[-1.0, 0.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    loop_length = HALF_WIDTH * (4 + 4 * sqrt(2))
    return np.tile(loop, (ceil(length / loop_length) + 1, 1))


def _trace_raster(
    length: float, hatch: float, first_line: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates across and along the lines, with line 0 starting at (+, +)."""
    check_length(length)
    if not 1e-5 <= hatch <= 2 * HALF_WIDTH:
        raise BadInput(
            f"the hatch must be 1e-5 to {2 * HALF_WIDTH:g} m, but is {hatch:g} m; choose one in between."
        )
    last = floor(2 * HALF_WIDTH / hatch + 1e-9)
    if not 0 <= first_line <= last:
        raise BadInput(
            f"the first line must be 0 to {last} at this hatch, but is {first_line}; choose one of these."
        )
    count = ceil(length / (2 * HALF_WIDTH)) + 1
    line = last - np.abs(last - (first_line + np.arange(count)) % (2 * last))  # 0 … last … 0 …
    ends = np.where(np.arange(count) % 2, -HALF_WIDTH, HALF_WIDTH)
    return np.repeat(HALF_WIDTH - hatch * line, 2), np.column_stack([ends, -ends]).ravel()


def _check_corner(corner: tuple[int, int]) -> None:
    if len(corner) != 2 or any(sign not in (-1, 1) for sign in corner):
        raise BadInput(
            f"the corner must be two signs, each -1 or 1, but is {corner}; (-1, -1) is the lower left."
        )


def _check_spiral(turns: float, radius: float, start_angle: float) -> None:
    if not 0.5 <= turns <= 100:
        raise BadInput(
            f"a spiral must have 0.5 to 100 turns, but {turns:g} were asked for; choose a number between."
        )
    if not 1e-4 <= radius <= HALF_WIDTH * (1 + 1e-9):
        raise BadInput(
            f"a spiral's radius must be 1e-4 to {HALF_WIDTH:g} m, but is {radius:g} m; keep to the area."
        )
    if not np.isfinite(start_angle):
        raise BadInput(f"a spiral's start angle must be finite, but is {start_angle}; give radians.")


def _greatest_bend(end: float, growth: float) -> float:
    """Curvature times (ds/du)², growth (2 + u²)/√(1 + u²), at the outer end, m; a sagitta is du²/8 of it."""
    return growth * (2 + end**2) / sqrt(1 + end**2)


def _spread(start: float, stop: float, step: float) -> NDArray[np.float64]:
    return np.linspace(start, stop, ceil((stop - start) / step) + 1)
