"""The speed of each vector: the fastest at which the laser still holds the window's middle."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from laserloop.paths import Track
from laserloop.planning.plan import Planner, Progress
from laserloop.planning.route import Route
from laserloop.planning.scores import count_ticks

FloatArray = NDArray[np.float64]

ROUNDS = 9  # of bisection: speeds to 1 %
REPAIRS = 12  # rounds in which what is still too fast slows down,
SLOWER = 0.96  # by this factor
NEAR = 0.1  # of the window's width that a tick may lie from its middle
WHOLE = 1e-4  # m/s, of which speeds are whole numbers


def free_speeds(
    track: Track,
    lay: Callable[[Track], Route],
    planner: Planner,
    limits: tuple[float, float],
    progress: Progress | None = None,
) -> tuple[Track, FloatArray]:
    """The track at its best speeds between `limits`, m/s, and the speed of each of its stretches.

    All vectors are judged at once: faster ones take more power, and hand on less heat.
    """
    slowest, fastest = limits
    route = lay(track)
    moving = route.lengths > 0
    low, high = np.full(len(route), slowest), np.full(len(route), fastest)
    speeds = high.copy()
    total = ROUNDS + REPAIRS
    for k in range(total):
        if progress is not None:
            progress("speeds", k, total)
        fine = _judge(lay(set_speeds(track, route, speeds)), planner)
        if k < ROUNDS:
            low, high = np.where(fine, np.maximum(low, speeds), low), np.where(fine, high, speeds)
            speeds = _round(np.sqrt(low * high) if k < ROUNDS - 1 else low)
            continue
        if fine[moving].all() or (speeds[moving & ~fine] <= slowest).all():
            break
        speeds = _round(np.where(fine, speeds, np.maximum(slowest, SLOWER * speeds)))
    return set_speeds(track, route, speeds), np.where(moving, speeds, np.nan)


def set_speeds(track: Track, route: Route, speeds: FloatArray) -> Track:
    """The track with the speed of each stretch of its route, m/s."""
    known = np.isfinite(speeds)
    of_move = dict(zip(route.moves[known].tolist(), speeds[known].tolist(), strict=True))
    legs = [
        of_move.get(move, old) for move, old in zip(track.moves.tolist(), track.speeds.tolist(), strict=True)
    ]
    return replace(track, speeds=np.where(track.lit & (track.moves >= 0), legs, track.speeds))


def _judge(route: Route, planner: Planner) -> NDArray[np.bool_]:
    """Whether each stretch keeps near the window's middle wherever full power could have reached it."""
    course, path, (floor, ceiling) = planner.try_ticks(route), route.path, planner.process.window
    T, middle, near = course.temperature, 0.5 * (floor + ceiling), NEAR * (ceiling - floor)
    reached = count_ticks(planner.process, path, course.power, middle - near).below
    off = (path.lit & (middle + near < T)) | (reached & (middle - near > T))
    total = np.concatenate(([0], np.cumsum(off)))
    first = np.clip((route.starts / path.tick + 0.5).astype(np.intp), 0, len(path))
    last = np.clip((route.ends / path.tick + 0.5).astype(np.intp), first, len(path))
    fine: NDArray[np.bool_] = total[last] == total[first]
    return fine


def _round(speeds: FloatArray) -> FloatArray:
    return np.asarray(np.round(np.floor(speeds / WHOLE + 1e-6) * WHOLE, 9))
