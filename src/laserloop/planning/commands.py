"""Commands: stretches of time with one power each, and the pieces of moves that they make."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import ScanPath, Track
from laserloop.paths.files import keep_on_plate
from laserloop.paths.text import PowerCommand, Schedule
from laserloop.paths.track import Timeline
from laserloop.process import Process

FloatArray = NDArray[np.float64]
By = Literal["point", "segment", "vector"]

JOINT = 1e-5  # s; lit stretches as near in time follow on one another
SHORTEST = 2e-6  # m; a shorter piece is none
BRIEFEST = 0.1  # ticks, likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """How often and how finely the power may change."""

    by: By = "point"
    segment: float = 0.5e-3  # m, of the pieces by segment
    tolerance: float = 1.0  # K, that pieces by point may cost; less makes more of them
    step: float = 0.01  # W, of the laser: powers are whole numbers of it
    rate: float = float("inf")  # 1/s, most commands
    speeds: tuple[float, float] | None = None  # m/s, between which a vector may go; None: as the file says

    def __post_init__(self) -> None:
        for name, unit in (("segment", "m"), ("tolerance", "K"), ("step", "W"), ("rate", "1/s")):
            value = getattr(self, name)
            if not value > 0 or not (isfinite(value) or name == "rate"):
                raise BadInput(f"the {name} of a plan must be positive, but is {value} {unit}; change it.")
        if self.speeds is not None and not 0 < self.speeds[0] <= self.speeds[1] < float("inf"):
            raise BadInput(
                f"the speeds of a plan must be positive, low before high, but are {self.speeds} m/s; change."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Route:
    """Ticks, and lit stretches of time; a stretch is one move of the file."""

    path: ScanPath
    lit_time: FloatArray  # (ticks,), s, that the laser is on in each tick
    moves: NDArray[np.intp]  # (n,), of the file
    lines: NDArray[np.intp]  # (n,), of the file
    starts: FloatArray  # (n,), s
    ends: FloatArray  # (n,), s
    lengths: FloatArray  # (n,), m; 0: a rest
    time: float  # s, all of it

    def __len__(self) -> int:
        return len(self.moves)


def lay_route(track: Track, process: Process, *, name: str, jump_speed: float) -> Route:
    """A track at its own speeds, and at those of the process where it has none."""
    timeline = Timeline(track, name, tick=process.tick, default_speed=process.speed, jump_speed=jump_speed)
    path = timeline.sample()
    lit = np.flatnonzero(track.lit & (track.moves >= 0) & (timeline.ends > timeline.starts))
    first = np.flatnonzero(np.diff(track.moves[lit], prepend=-1))
    last = np.append(first[1:], len(lit)) - 1
    return Route(
        path=keep_on_plate(path, process.plate[:2]),
        lit_time=timeline.lit_time(path.times),
        moves=track.moves[lit[first]],
        lines=track.lines[1:][lit[first]],
        starts=timeline.starts[lit[first]],
        ends=timeline.ends[lit[last]],
        lengths=np.add.reduceat(track.lengths[lit], first),
        time=timeline.end,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Commands:
    """In rising order; none lasts through the dark."""

    starts: FloatArray  # (n,), s
    ends: FloatArray  # (n,), s

    def __len__(self) -> int:
        return len(self.starts)


def cut(route: Route, power: FloatArray, settings: PlanSettings, kelvin_per_watt: float) -> Commands:
    """When the power may change; `power`, W, is what each tick would get if it might change at any time."""
    if settings.by == "point":
        edges = _cut_by_point(route, power, settings.tolerance / kelvin_per_watt)
    else:
        count = np.ones(len(route), np.intp)
        if settings.by == "segment":
            count = np.maximum(1, np.ceil(route.lengths / settings.segment - 1e-6)).astype(np.intp)
        edges = _cut_evenly(route, count)
    return _join_brief(edges, 1.0 / settings.rate)


def _cut_evenly(route: Route, count: NDArray[np.intp]) -> Commands:
    """Each stretch in so many equal parts."""
    which = np.repeat(np.arange(len(route)), count)
    part = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    width = (route.ends - route.starts)[which] / count[which]
    starts = route.starts[which] + part * width
    return Commands(starts, np.where(part == count[which] - 1, route.ends[which], starts + width))


def _cut_by_point(route: Route, power: FloatArray, tolerance: float) -> Commands:
    """At ticks where the power has left what it was since the last cut by more than twice the tolerance."""
    tick = route.path.tick
    new = np.append(True, route.starts[1:] - route.ends[:-1] > JOINT)
    low, high = route.starts[new], route.ends[np.append(new[1:], True)]
    starts, ends = list[float](), list[float]()
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        first, last = int(a / tick + BRIEFEST), int(b / tick - BRIEFEST)
        cuts = _find_cuts(power[first : last + 1], route.path.lit[first : last + 1], tolerance)
        inner = [t for t in ((first + k) * tick for k in cuts) if a < t < b]
        starts += [a, *inner]
        ends += [*inner, b]
    return Commands(np.array(starts), np.array(ends))


def _find_cuts(power: FloatArray, lit: NDArray[np.bool_], tolerance: float) -> list[int]:
    cuts, least, most = list[int](), float("inf"), -float("inf")
    for k, (watts, counts) in enumerate(zip(power.tolist(), lit.tolist(), strict=True)):
        if not counts:
            continue
        least, most = min(least, watts), max(most, watts)
        if most - least > 2.0 * tolerance:
            cuts.append(k)
            least = most = watts
    return cuts


def _join_brief(commands: Commands, least: float) -> Commands:
    """Commands that follow too soon go on with the one before."""
    if least <= 0:
        return commands
    starts, ends = list[float](), list[float]()
    for a, b in zip(commands.starts.tolist(), commands.ends.tolist(), strict=True):
        if starts and a - starts[-1] < (1 - 1e-9) * least and a - ends[-1] <= JOINT:
            ends[-1] = b
        else:
            starts.append(a)
            ends.append(b)
    return Commands(np.array(starts), np.array(ends))


def make_schedule(route: Route, commands: Commands, powers: FloatArray, speeds: FloatArray) -> Schedule:
    """The pieces of each stretch; an end that would leave a sliver is moved to that of the stretch."""
    schedule: Schedule = {}
    last = len(commands) - 1
    low = np.minimum(np.searchsorted(commands.ends, route.starts, side="right"), last)
    high = np.clip(np.searchsorted(commands.starts, route.ends, side="left") - 1, low, last)
    for k, move in enumerate(route.moves.tolist()):
        span = route.ends[k] - route.starts[k]
        own = slice(low[k], high[k] + 1)
        ends = ((commands.ends[own] - route.starts[k]) / span).tolist()
        sliver = max(BRIEFEST * route.path.tick / span, SHORTEST / max(route.lengths[k], SHORTEST))
        pieces = _join_slivers(ends, powers[own].tolist(), sliver if route.lengths[k] else 0.0)
        shares, watts = zip(*pieces, strict=True)
        schedule[move] = PowerCommand(list(shares), list(watts), float(speeds[k]))
    return schedule


def _join_slivers(ends: list[float], powers: list[float], sliver: float) -> list[tuple[float, float]]:
    """Shares and powers of the pieces of a stretch, equal neighbours joined."""
    pieces, at = list[tuple[float, float]](), 0.0
    for end, power in zip(ends, powers, strict=True):
        last = end >= 1.0 - sliver
        if not last and end - at < sliver:
            continue
        if pieces and pieces[-1][1] == power:
            pieces.pop()
        pieces.append((1.0 if last else end, power))
        at = end
        if last:
            break
    pieces[-1:] = [(1.0, pieces[-1][1])] if pieces else [(1.0, powers[-1])]
    return pieces
