"""Regional Koopman: heat around the beam as a lifted state that moves on linearly, one matrix for each turn.

u  ∫k dT over that of the window's middle      p  power over the laser's most      θ  turn at a tick's end

    z = (1, u at the peak, modes of u on a patch along the heading, the last powers)
    z⁺ = A_r z + B_r p + (v − 1)(A′ z + B′ p)      v  speed over the usual one      r  region of |θ|

Fitted by ridge regression of z⁺ (extended dynamic mode decomposition). A turn to the right is the mirror
image of one to the left. Rolled along the path, the peak is affine in the plan: a tick is one QP.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

TURNS = np.radians((1.0, 8.0, 25.0, 60.0, 100.0, 150.0))  # |θ| between the regions
MODES = 10  # 6 to 40 predict lessons left out equally well
POWERS = 4  # last ones that are part of the state
RIDGE = 1e-6  # of the square of all data
SMALLEST = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """The modes of a patch; those that are odd across the heading change their sign in a mirror."""

    mean: FloatArray  # (pixels,)
    modes: FloatArray  # (pixels, modes), orthonormal; even or odd
    odd: NDArray[np.bool_]  # (modes,)

    @property
    def size(self) -> int:
        """Of z."""
        return 2 + int(self.modes.shape[1]) + POWERS

    @property
    def signs(self) -> FloatArray:
        """(size,): what a mirror does to z."""
        return np.concatenate((np.ones(2), np.where(self.odd, -1.0, 1.0), np.ones(POWERS)))

    def lift(self, peak: FloatArray, patch: FloatArray, powers: FloatArray) -> FloatArray:
        """z (n, size) of u at peaks (n,), of u on patches (n, pixels), and of the last powers (n, POWERS)."""
        modes = (patch - self.mean) @ self.modes
        return np.concatenate((np.ones((len(peak), 1)), peak[:, np.newaxis], modes, powers), axis=1)


def find_lift(patches: FloatArray, weight: FloatArray, side: int) -> Lift:
    """The modes that hold most of what patches (n, side²) do, half of the data mirrored."""
    share = weight / weight.sum()
    mirror = np.arange(side * side).reshape(side, side)[::-1].ravel()
    mean = share @ patches
    mean = 0.5 * (mean + mean[mirror])
    off = patches - mean
    covariance = off.T @ (share[:, np.newaxis] * off)
    covariance = 0.5 * (covariance + covariance[np.ix_(mirror, mirror)])
    flip = np.eye(side * side)[mirror]
    found = []
    for sign in (1.0, -1.0):
        half = 0.5 * (np.eye(side * side) + sign * flip)
        values, vectors = np.linalg.eigh(half @ covariance @ half)
        found += [(value, sign < 0, vector) for value, vector in zip(values, vectors.T, strict=True)]
    best = sorted(found, key=lambda entry: -entry[0])[:MODES]
    return Lift(
        mean, np.stack([vector for *_, vector in best], axis=1), np.array([odd for _, odd, _ in best])
    )


@dataclass(frozen=True, slots=True, eq=False)
class Koopman:
    """A lifted linear model: how z and a power lead to the next z, for each region and speed."""

    lift: Lift
    maps: FloatArray  # (regions, size, 2 (size + 1)): [A B A′ B′]

    def step(self, turn: float, pace: float) -> tuple[FloatArray, FloatArray]:
        """A and B of a tick that ends with a turn, rad to the left, at a speed over the usual one."""
        size = self.lift.size
        whole = self.maps[find_region(turn)]
        both = whole[:, : size + 1] + (pace - 1.0) * whole[:, size + 1 :]
        if turn < 0.0:
            signs = self.lift.signs
            both = signs[:, np.newaxis] * both * np.append(signs, 1.0)
        return both[:, :size], both[:, size]

    def roll(self, state: FloatArray, turns: FloatArray, paces: FloatArray) -> tuple[FloatArray, FloatArray]:
        """u at the peak without power (N,), and its slopes (N, N) by p, at the ends of some ticks."""
        n = len(turns)
        base, slopes = np.empty(n), np.zeros((n, n))
        reach = np.zeros((len(state), n))
        for i in range(n):
            A, B = self.step(float(turns[i]), float(paces[i]))
            state, reach = A @ state, A @ reach
            reach[:, i] += B
            base[i], slopes[i] = state[1], reach[1]
        return base, slopes


def find_region(turn: float) -> int:
    """Which region a turn, rad, belongs to."""
    return int(np.searchsorted(TURNS, abs(turn)))


class Transitions(NamedTuple):
    """What was seen: states, powers and what they led to."""

    states: FloatArray  # z (n, size)
    powers: FloatArray  # p (n,)
    following: FloatArray  # z⁺ (n, size)
    turns: FloatArray  # θ (n,), rad
    paces: FloatArray  # v (n,)
    weight: FloatArray  # (n,)


def fit_maps(seen: Transitions, signs: FloatArray, *, ridge: float = RIDGE) -> FloatArray:
    """(regions, size, 2 (size + 1)): the maps of each region.

    All is turned to the left first, and what goes straight on is used in the mirror, too. A region is pulled
    towards the map of all data, so that one with little data has that.
    """
    flip = np.where(seen.turns[:, np.newaxis] < 0.0, signs, 1.0)
    following = flip * seen.following
    rows = np.concatenate((flip * seen.states, seen.powers[:, np.newaxis]), axis=1)
    rows = np.concatenate((rows, (seen.paces - 1.0)[:, np.newaxis] * rows), axis=1)
    straight = np.abs(seen.turns) <= TURNS[0]
    mirror = np.concatenate((signs, [1.0], signs, [1.0]))
    rows = np.concatenate((rows, mirror * rows[straight]))
    following = np.concatenate((following, signs * following[straight]))
    weight = np.concatenate((seen.weight, seen.weight[straight]))
    regions = np.searchsorted(TURNS, np.abs(seen.turns))
    regions = np.concatenate((regions, regions[straight]))
    pull = np.diag(ridge * (weight @ rows**2) + SMALLEST)

    def solve(chosen: NDArray[np.bool_], towards: FloatArray) -> FloatArray:
        weighted = rows[chosen] * weight[chosen, np.newaxis]
        normal = rows[chosen].T @ weighted + pull
        return np.linalg.solve(normal, weighted.T @ following[chosen] + pull @ towards.T).T

    everywhere = solve(np.ones(len(rows), np.bool_), np.zeros((following.shape[1], rows.shape[1])))
    return np.stack([solve(regions == r, everywhere) for r in range(len(TURNS) + 1)])
