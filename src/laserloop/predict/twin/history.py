"""Old heat in few Gaussians: neighbours in time merge once nobody can tell them apart.

A merged Gaussian keeps energy, centre, mean time and scatter. What merging changes obeys the heat equation,
so it only fades: it is judged once, when it happens, against a share of the error budget.
"""

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.twin.heat import Body, Gaussians

FloatArray = NDArray[np.float64]

PAIRS = 8  # of neighbours judged each tick
SHARES = 40.0  # a merge may cost this part of the budget; sums stay within it (tests/predict/twin)
FADED = 1e-3  # of what a merge may cost: a Gaussian lower than this is forgotten
CAPACITY = 768  # Gaussians; beyond, the oldest two merge whatever it costs
MERGED = 512  # of them at least for what is older than the ticks kept one by one
PROBES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # where a merge is judged, in distances of the two centres
E, T, X, Y, XX, XY, YY = range(7)  # columns: energy, J; mean time, ticks; centre, m; scatter, m²


class History:
    """Heat of all ticks so far, oldest first; those of the last `single` ticks stay apart."""

    def __init__(self, body: Body, tick: float, worth: float, single: int) -> None:
        """`worth`: W/m of u, that a merge may cost; a budget over `SHARES`."""
        self._body = body
        self._tick = tick
        self._worth = worth
        self._single = single
        self.reset()

    def reset(self) -> None:
        """A plate at rest."""
        self._table = np.zeros((max(CAPACITY, self._single + MERGED), 7))
        self._count = 0
        self._cursor = 0

    def __len__(self) -> int:
        return self._count

    def add(self, now: int, energy: float, spot: FloatArray) -> None:
        """The heat of the tick that ends now, in which the beam moved from spot[0] to spot[1]."""
        if energy > 0.0:
            if self._count == len(self._table):
                self._merge(0)
            dx, dy = spot[1] - spot[0]
            scatter = dx * dx / 12.0, dx * dy / 12.0, dy * dy / 12.0
            self._table[self._count] = (energy, now - 0.5, *spot.mean(axis=0), *scatter)
            self._count += 1
        self._tidy(now)

    def gaussians(self, moments: FloatArray, lag: int) -> Gaussians:
        """(m, n): heat at moments (m,), ticks, of the ticks that had ended `lag` ticks before each."""
        return spread_rows(self._table[: self._count], self._body, self._tick, moments, lag)

    def _tidy(self, now: int) -> None:
        """Judge the next few pairs of neighbours, and merge those that nobody would miss."""
        for _ in range(PAIRS):
            if self._cursor + 1 >= self._count or self._table[self._cursor + 1, T] > now - self._single:
                self._cursor = 0
                if self._count < 2 or self._table[1, T] > now - self._single:
                    return
            if not self._judge(self._cursor, now):
                self._cursor += 1

    def _judge(self, i: int, now: int) -> bool:
        """Merge the pair i, i + 1, or forget its elder, if that can be afforded."""
        pair = self._table[i : i + 2]
        both = merge_rows(pair)
        split, whole = self._spread(pair, now), self._spread(both[np.newaxis], now)
        if split.height[0] < FADED * self._worth:
            self._remove(i)
            return True
        points = both[X : Y + 1] + PROBES[:, np.newaxis] * (pair[1, X : Y + 1] - pair[0, X : Y + 1])
        if np.abs(split.at(points) - whole.at(points)).max() >= self._worth:
            return False
        self._merge(i)
        return True

    def _spread(self, rows: FloatArray, now: int) -> Gaussians:
        tau = self._tick * (now - rows[:, T])
        return self._body.spread(rows[:, E], tau, rows[:, X : Y + 1], rows[:, XX:])

    def _merge(self, i: int) -> None:
        self._table[i + 1] = merge_rows(self._table[i : i + 2])
        self._remove(i)

    def _remove(self, i: int) -> None:
        self._table[i : self._count - 1] = self._table[i + 1 : self._count]
        self._count -= 1


def spread_rows(rows: FloatArray, body: Body, tick: float, moments: FloatArray, lag: int) -> Gaussians:
    """(m, n): what rows have become at moments (m,), ticks; nothing yet of the `lag` ticks before each."""
    age = moments[:, np.newaxis] - rows[:, T]
    part = np.clip(age - lag + 0.5, 0.0, 1.0)  # of a tick that ends within these
    keep = (part > 0.0).any(axis=0)
    tau = tick * np.where(part > 0.0, age, 1.0)[:, keep]
    energy = (part * rows[:, E])[:, keep]
    return body.spread(energy, tau, rows[keep, X : Y + 1], rows[keep, XX:])


def merge_rows(rows: FloatArray) -> FloatArray:
    """(7,): one Gaussian of the same energy, centre, mean time and scatter as some."""
    energy = rows[:, E].sum()
    share = rows[:, E] / energy
    time, x, y = share @ rows[:, T : Y + 1]
    dx, dy = rows[:, X] - x, rows[:, Y] - y
    xx, xy, yy = share @ (rows[:, XX:] + np.stack((dx * dx, dx * dy, dy * dy), axis=1))
    return np.array((energy, time, x, y, xx, xy, yy))
