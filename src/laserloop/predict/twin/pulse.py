"""A tick's heat seen soon after: the beam moves while it heats, and the newest heat is singular in time.

∫ f(τ) dτ over a tick that ended L ticks ago, f ∝ 1/√τ: with τ = w² the integrand is smooth, so Gauss–Legendre
in w does. Older ticks need one point with the scatter of a beam that moved straight on.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LAGS = 8  # ticks that need more than one point
MOST = 32  # points of a tick
POINTS = 288  # of all ticks, for which there is room in twin_types.h


@dataclass(frozen=True, slots=True, eq=False)
class PulseRule:
    """Points for the ticks of lag 0 … L−1, one after another: which tick, how old, and which share of it."""

    lag: NDArray[np.intp]  # (n,)
    tau: FloatArray  # (n,), s before the moment of evaluation
    share: FloatArray  # (n,), of the tick's energy
    way: FloatArray  # (n,), share of the tick that had passed: 1 at its end

    @property
    def lags(self) -> int:
        """How many of the newest ticks need more than one point."""
        return int(self.lag[-1]) + 1


def make_rule(tick: float, hop: float, sigma: float, alpha: float, lags: int = LAGS) -> PulseRule:
    """The rule for a tick, s, in which the beam moves by at most `hop`, m."""
    lag, tau, share, way = list[int](), list[float](), list[float](), list[float]()
    for k, count in enumerate(_count_points(tick, hop, sigma, alpha, lags)):
        nodes, weights = np.polynomial.legendre.leggauss(count)
        start, end = np.sqrt(k * tick), np.sqrt((k + 1) * tick)
        w = 0.5 * (start + end) + 0.5 * (end - start) * nodes
        lag += [k] * count
        tau += list(w**2)
        share += list((end - start) * weights * w / tick)
        way += list(1.0 + k - w**2 / tick)
    return PulseRule(np.array(lag), np.array(tau), np.array(share), np.array(way))


def _count_points(tick: float, hop: float, sigma: float, alpha: float, lags: int) -> list[int]:
    """How many points each tick needs; where they are more than there is room for, the largest shrink."""
    widths = np.sqrt(sigma**2 + 2.0 * alpha * tick * np.arange(lags))
    least = np.array([(6, 4, 3)[k] if k < 3 else 2 for k in range(lags)])
    counts = np.minimum(MOST, least + np.ceil(3.0 * hop / widths).astype(np.intp))
    most = next(m for m in range(MOST, 0, -1) if np.minimum(counts, m).sum() <= POINTS)
    found: list[int] = np.minimum(counts, most).tolist()
    return found
