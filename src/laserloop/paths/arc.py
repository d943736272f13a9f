"""Arcs become polylines, close enough that no tick can tell."""

from cmath import phase
from math import ceil, pi, sqrt

import numpy as np

CHORD_ERROR = 1e-8  # m; a tick's hop is some 10⁻⁵ m
MISS = 5e-6  # m; what the rounding of a file may do to a radius,
SHARE = 1e-3  # or this share of it


def find_centre(start: complex, end: complex, radius: float, *, clockwise: bool) -> complex | None:
    """The centre of the arc of that radius, the longer way round if it is negative; None if it cannot be."""
    chord = abs(end - start)
    rise = radius**2 - chord**2 / 4
    if chord == 0 or chord / 2 > abs(radius) * (1 + SHARE):
        return None
    side = 1 if (radius > 0) != clockwise else -1
    return (start + end) / 2 + side * sqrt(max(rise, 0.0)) * 1j * (end - start) / chord


def is_arc(start: complex, end: complex, centre: complex) -> bool:
    """Whether both ends lie on one circle round `centre`, but for rounding."""
    first, last = abs(start - centre), abs(end - centre)
    return first > 0 and last > 0 and abs(first - last) <= max(MISS, SHARE * first)


def count_chords(start: complex, end: complex, centre: complex, *, clockwise: bool) -> int:
    """How many chords stay within a hundredth of a micrometre of the arc."""
    step = min(pi / 4, sqrt(8 * CHORD_ERROR / abs(start - centre)))
    return ceil(abs(find_sweep(start, end, centre, clockwise=clockwise)) / step)


def find_sweep(start: complex, end: complex, centre: complex, *, clockwise: bool) -> float:
    """The angle travelled, rad, negative if clockwise; a whole turn when the end is the start."""
    turn = -2 * pi if clockwise else 2 * pi
    if start == end:
        return turn
    sweep = phase((end - centre) / (start - centre))
    return sweep if sweep * turn > 0 else sweep + turn


def trace_arc(start: complex, end: complex, centre: complex, *, clockwise: bool) -> list[complex]:
    """Points from `start` to `end` exactly; where the two radii differ, one grows into the other."""
    share = np.linspace(0, 1, count_chords(start, end, centre, clockwise=clockwise) + 1)
    sweep = find_sweep(start, end, centre, clockwise=clockwise)
    first, last = abs(start - centre), abs(end - centre)
    arm = (start - centre) / first
    points = centre + arm * (first + (last - first) * share) * np.exp(1j * sweep * share)
    return [start, *points[1:-1].tolist(), end]
