"""Polylines become scan paths: waypoints joined by straight lines, travelled at constant speed.

s  arclength along the polyline, m
"""

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput, plain
from laserloop.paths.path import (
    DEFAULT_SPEED,
    DEFAULT_TICK,
    ScanPath,
    check_speed,
    check_tick,
    check_ticks,
    too_short,
)

MAX_TICKS = 10_000_000  # 160 MB of positions, 21 minutes of scanning at the default tick
MIN_HOP = 1e-12  # m per tick; a slower beam is no scan
ROUNDING = 1e-6  # ticks; a line of exactly 100 ticks has 100 in spite of rounding


def sample_polyline(
    waypoints: ArrayLike,
    *,
    name: str,
    speed: float = DEFAULT_SPEED,
    tick: float = DEFAULT_TICK,
    ticks: int | None = None,
) -> ScanPath:
    """The path through `waypoints` (m) at s = speed·tick·j, up to `ticks` or the last full tick."""
    hop = hop_length(speed, tick)
    corners = _merge_duplicates(check_waypoints(waypoints, name), name)
    with np.errstate(over="ignore"):
        s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    ticks = _count_ticks(float(s[-1]), hop, name, ticks)
    sampled = hop * np.arange(ticks + 1)
    positions = np.column_stack([np.interp(sampled, s, corners[:, 0]), np.interp(sampled, s, corners[:, 1])])
    return ScanPath(name=name, positions=positions, tick=tick)


def hop_length(speed: float, tick: float) -> float:
    """The distance travelled in one tick, m; refuses a beam that does not move."""
    check_tick(tick)
    if not (np.isfinite(speed) and speed > 0):
        raise BadInput(
            f"the speed must be positive and finite, but is {speed} m/s; the default is {DEFAULT_SPEED} m/s."
        )
    check_speed(speed)
    if speed * tick < MIN_HOP:
        raise BadInput(
            f"the beam must move at least {MIN_HOP:g} m per tick, but {speed:g} m/s over {tick:g} s is "
            f"{speed * tick:g} m; raise the speed or the tick."
        )
    return speed * tick


def _count_ticks(length: float, hop: float, name: str, asked: int | None) -> int:
    """The ticks asked for, or else all that fit into `length`."""
    if not (isfinite(length) and (length / hop if asked is None else asked) <= MAX_TICKS):
        raise BadInput(
            f"a path may have at most {MAX_TICKS} ticks, but {asked or 'all'} of {name}, {length:g} m at "
            f"{hop:g} m per tick, were asked for; its speed or its length is off, so check their units."
        )
    available = int(length / hop + ROUNDING)
    if available < 1:
        raise BadInput(
            f"a path must last at least one tick, but {name} is {plain(1e3 * length)} mm long and one tick "
            f"advances {plain(1e3 * hop)} mm; lengthen it, slow down, or give mm if its numbers are m."
        )
    if asked is None:
        return available
    check_ticks(asked)
    if asked > available:
        raise too_short(name, available, asked)
    return asked


def check_waypoints(waypoints: ArrayLike, name: str) -> NDArray[np.float64]:
    """Points (n, 2) in any unit; refuses all that are none."""
    try:
        points = np.asarray(waypoints, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(
            f"the waypoints of {name} must be pairs of numbers x, y; give one pair per row."
        ) from None
    if points.ndim != 2 or points.shape[1] != 2:
        raise BadInput(
            f"the waypoints of {name} must be rows of x and y, but have shape {points.shape}; "
            "give one pair per row."
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise BadInput(
            f"the waypoints of {name} must be finite, but waypoint {bad[0] + 1} is "
            f"{points[bad[0]].tolist()}; correct or remove it."
        )
    return points


def _merge_duplicates(points: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if not len(points):
        raise BadInput(f"a path needs at least two different waypoints, but {name} has none; add some.")
    moved = np.any(points[1:] != points[:-1], axis=1)
    if not moved.any():
        raise BadInput(
            f"a path needs at least two different waypoints, but in {name} waypoint 1 is "
            f"{points[0].tolist()} m and no other differs up to waypoint {len(points)}; add one."
        )
    return points[np.flatnonzero(np.append(True, moved))]
