"""Starts: lit ticks after a dark stretch in which not even full power could have reached the floor yet.

How a course of T_max is judged: above the ceiling every lit tick counts, from the first one on. Below the
floor every lit tick counts but those that are excused here. On the heat that the powers so far left behind,
the twin gives full power from the start on; until it reaches the floor, and GRACE ticks more, a tick is
excused. The grace is for the twin's own error, and for whoever stops short of full power so as not to pass
the ceiling.

A laser that is too weak is not excused for ever: if full power has not reached the floor within
SETTLING_TICKS, or within the diffusion time of the spot σ²/α where that is longer, all later ticks count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.paths.path import SETTLING_TICKS, ScanPath
from laserloop.predict.twin.heat import (
    E,
    Gaussians,
    HeatSum,
    Medium,
    find_peak,
    guess_peak,
    make_quadrature,
    merge_rows,
    spread_rows,
)
from laserloop.predict.twin.twin import ROUNDS, read_alpha
from laserloop.process import Process

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

GRACE = 2  # ticks that are excused after full power could have reached the floor
FIRST = 4  # ticks of full power that are tried at once: mostly enough
OLDER = {64: 8, 1024: 64}  # heat that is so many ticks old is summed up over so many ticks


class Counted(NamedTuple):
    """Which ticks of a course count, each (n,)."""

    above: BoolArray  # against the ceiling
    below: BoolArray  # against the floor


def find_counted(
    process: Process, path: ScanPath, power: ArrayLike, floor: ArrayLike | None = None
) -> Counted:
    """The ticks that count if the laser was told `power` (n,), W, in the first n ticks of a path.

    If all lit ticks are excused, none is: what was never judged must not pass for held.
    """
    excused = find_excused(process, path, power, floor)
    lit = path.lit[: len(excused)]
    below = lit & ~excused
    return Counted(above=lit, below=below if below.any() else lit)


def find_excused(
    process: Process, path: ScanPath, power: ArrayLike, floor: ArrayLike | None = None
) -> BoolArray:
    """Which ticks of a path may lie below the floor: those in which full power could not have reached it yet.

    `power` (n,), W, is what the laser was told in the first n ticks of the path; the answer is for these.
    `floor`, K: one for all ticks, or one for each, of which that of its first tick holds for a whole start;
    that of the process unless given. The plate is taken as cold before the path.
    """
    told = np.asarray(power, dtype=np.float64)
    wanted = np.broadcast_to(process.window[0] if floor is None else floor, told.shape)
    starts = Starts(process, path)
    return np.array(
        [starts.excuses(*tick) for tick in zip(told.tolist(), wanted.tolist(), strict=True)], bool
    )


def _find_starts(lit: BoolArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first tick of every lit stretch, and the first after it."""
    edges = np.diff(np.concatenate(([False], lit, [False])).astype(np.int8))
    return np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)


def score_starts(
    T: FloatArray, lit: BoolArray, below: BoolArray, low: FloatArray, high: FloatArray
) -> dict[str, float | int | None]:
    """How a course of T_max, K, does at its starts, by a window for each tick; `below` as in `Counted`.

    `over_k`: the farthest above the ceiling in the first SETTLING_TICKS ticks of a lit stretch.
    `ticks_to_floor`: the most ticks that a lit stretch took to reach the floor; None if one never did in
    which ticks count.
    """
    over, slowest = 0.0, 0
    missed = False
    for start, end in zip(*_find_starts(lit), strict=True):
        near = slice(start, min(end, start + SETTLING_TICKS))
        over = max(over, float(np.max(T[near] - high[near])))
        reached = np.flatnonzero(T[start:end] >= low[start:end])
        if len(reached):
            slowest = max(slowest, int(reached[0]) + 1)
        else:
            missed |= bool(below[start:end].any())
    return {"over_k": over, "ticks_to_floor": None if missed or not slowest else slowest}


class Starts:
    """Goes along a path tick by tick and says of each whether it is excused."""

    def __init__(self, process: Process, path: ScanPath) -> None:
        alpha = read_alpha(process.material, process.ambient, 0.5 * sum(process.window))
        self._process, self._path = process, path
        self._shares = path.lit_shares  # a tick that is partly dark has a start in it
        self._body = Medium(sigma=process.beam.sigma, alpha=alpha, plate=process.plate)
        hop = float(path.lit_speeds.max(initial=0.0)) * path.tick
        self._rule = make_quadrature(path.tick, hop, self._body.sigma, alpha)
        self._bound = max(SETTLING_TICKS, int(np.ceil(self._body.sigma**2 / (alpha * path.tick))))  # ticks
        self._watts = np.zeros(len(path))  # absorbed in each tick
        self._rows = _list_spots(path)
        self._sums = {age: _Sums(self._rows, size) for age, size in OLDER.items()}
        self._emitted = 0.0  # W, what a laser with a lag gives now
        self._now = self._until = 0  # ticks: so many are over, so far the excuse goes

    def excuses(self, power: float, floor: float) -> bool:
        """Take the next tick, in which the laser is told this power, W, and the floor is at so many K."""
        k = self._now
        lit = bool(self._path.lit[k])
        if lit and (k == 0 or not self._path.lit[k - 1] or self._shares[k] < 1.0):
            dark = np.flatnonzero(~self._path.lit[k:])
            self._until = k + self._count(int(dark[0]) if len(dark) else len(self._path) - k, floor)
        self._watts[k : k + 1], self._emitted = self._absorb(self._emitted, [power if lit else 0.0])
        self._rows[k, E] = self._watts[k] * self._path.tick
        self._now += 1
        return lit and k < self._until

    def _count(self, stretch: int, floor: float) -> int:
        """How many ticks are excused of a lit stretch that begins now."""
        last = min(stretch, self._bound)
        if last <= GRACE:
            return last
        wanted = _integrate_conductivity(self._process, floor)
        low, high = min(last, SETTLING_TICKS), last
        for near in np.split(np.arange(1, low + 1), [FIRST]):
            if len(near) and (reached := self._peaks(near) >= wanted).any():
                return int(near[np.argmax(reached)]) - 1 + GRACE
        if high == low or self._peaks(np.array([high]))[0] < wanted:
            return last
        while high - low > 1:  # the peak under full power only rises after so long
            middle = (low + high) // 2
            low, high = (low, middle) if self._peaks(np.array([middle]))[0] >= wanted else (middle, high)
        return high - 1 + GRACE

    def _peaks(self, ticks: NDArray[np.intp]) -> FloatArray:
        """u of the peak after so many ticks of full power, W/m."""
        now, last = self._now, self._now + int(ticks[-1])
        full = self._process.laser.power[1] * self._shares[now:last]
        watts, _ = self._absorb(self._emitted, full.tolist())
        own = self._rows[now:last].copy()
        own[:, E] = watts * self._path.tick
        heat = HeatSum(
            self._body,
            self._rule,
            _Rows(np.concatenate((*self._recall(), own)), self._body, self._path.tick),
            tick=self._path.tick,
            ends=self._path.positions[: last + 1],
            first=0,
            moments=now + ticks,
        ).powered(np.concatenate((self._watts[:now], watts)))
        beam, sigma = self._path.positions[now + ticks], self._body.sigma
        guess = guess_peak(beam, self._path.positions[now + ticks - 1], sigma)
        return heat.at(find_peak(heat, guess, beam, sigma, ROUNDS))

    def _recall(self) -> Iterator[FloatArray]:
        """The heat of all ticks so far, oldest first, the older the coarser."""
        done = 0  # ticks
        for age, size in sorted(OLDER.items(), reverse=True):
            last = done + max(0, self._now - age - done) // size * size
            yield self._sums[age].between(done, last)
            done = last
        yield self._rows[done : self._now]

    def _absorb(self, emitted: float, commands: list[float]) -> tuple[FloatArray, float]:
        """Mean watts absorbed in each tick, and what the laser gives at the end."""
        means = np.empty(len(commands))
        for k, command in enumerate(commands):
            means[k], emitted = self._process.laser.follow(emitted, command, self._path.tick)
        return self._process.beam.absorptivity * means, emitted


class _Sums:
    """Heat of so many ticks at a time, summed up when it is first asked for."""

    def __init__(self, rows: FloatArray, size: int) -> None:
        self._rows, self._size = rows, size
        self._sums = np.zeros((len(rows) // size, rows.shape[1]))
        self._made = 0

    def between(self, first: int, last: int) -> FloatArray:
        """Those of the ticks from `first` to before `last`, both whole numbers of the size."""
        size = self._size
        for n in range(self._made, last // size):
            group = self._rows[n * size : (n + 1) * size]
            if group[:, E].any():
                self._sums[n] = merge_rows(group)
        self._made = max(self._made, last // size)
        return self._sums[first // size : last // size]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Heat that is all known beforehand."""

    rows: FloatArray
    body: Medium
    tick: float  # s

    def gaussians(self, moments: FloatArray, lag: int) -> Gaussians:
        """(m, n): heat at moments (m,), ticks, of what had been absorbed `lag` ticks before each."""
        return spread_rows(self.rows[self.rows[:, E] > 0.0], self.body, self.tick, moments, lag)


def _list_spots(path: ScanPath) -> FloatArray:
    """(n, 7): a row for each tick in the columns of a `ThermalHistory`, without energy yet."""
    ends = path.positions
    (dx, dy), middle = np.diff(ends, axis=0).T, 0.5 * (ends[1:] + ends[:-1])
    time = 0.5 + np.arange(len(path))
    scatter = dx * dx / 12.0, dx * dy / 12.0, dy * dy / 12.0
    return np.stack((np.zeros(len(path)), time, *middle.T, *scatter), axis=1)


def _integrate_conductivity(process: Process, T: float) -> float:
    """∫k dT from ambient, W/m."""
    span = np.linspace(process.ambient, T, 201)
    return float(np.trapezoid(process.material.conductivity(span), span))
