"""The exact QP of the realtime solver: its conditions are a proof, and DAQP is a witness.

min ½xᵀHx + gᵀx + Σ ρ⁻ max(0, floor − tᵢ) + ρ⁺ max(0, tᵢ − ceiling),  t = r + J x,  0 ≤ x ≤ 1
"""

from dataclasses import dataclass

import casadi
import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control import realtime_kernels as kernels
from laserloop.control.realtime import make_qp

FloatArray = NDArray[np.float64]

FLOOR, CEILING = 760.0, 800.0  # K
KINDS = ("heating", "any signs", "whole numbers", "twins", "dead row and move", "near twins", "corner")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Qp:
    H: FloatArray  # (n, n)
    g: FloatArray  # (n,)
    J: FloatArray  # (m, n), K
    r: FloatArray  # (m,), K
    below: float  # ρ⁻, 1/K
    above: float  # ρ⁺, 1/K

    def value(self, x: FloatArray) -> float:
        t = self.r + self.J @ x
        missing, excess = np.maximum(FLOOR - t, 0.0), np.maximum(t - CEILING, 0.0)
        return float(x @ self.H @ x / 2 + self.g @ x + self.below * missing.sum() + self.above * excess.sum())


def draw_qp(rng: np.random.Generator, kind: str) -> Qp:
    """Costs of power and moves with rows of a heating plate, or something worse."""
    n = int(rng.integers(1, 11))
    m = int(rng.integers(n, 11))
    hops = np.eye(n) - np.eye(n, k=-1)
    g = np.zeros(n)
    g[0] = -20.0 * rng.uniform()
    J = np.tril(rng.uniform(0, 150, (m, n))) + rng.normal(0, 10, (m, n))
    x, t = rng.uniform(0, 1, n), rng.uniform(500, 900, m)
    match kind:
        case "any signs":
            J = rng.normal(0, 100, (m, n))
        case "whole numbers":  # kinks meet in points
            J = 50.0 * rng.integers(-2, 3, (m, n))
            x, t = np.round(2 * x) / 2, np.round(t / 20) * 20
        case "twins":
            J[rng.integers(m)] = J[rng.integers(m)]
        case "dead row and move":
            J[rng.integers(m)] = 0.0
            J[:, rng.integers(n)] *= rng.choice([0.0, 1e-6])
        case "near twins":
            J[-1] = J[0] * (1 + 1e-9)
        case "corner":  # all kinks meet in a corner of the box
            x, t = rng.integers(0, 2, n).astype(float), rng.choice([FLOOR, CEILING, 780.0], m)
    price = float(rng.choice([1e-3, 2.0, 2000.0, 2000.0]))
    return Qp(
        H=2 * (rng.choice([0.01, 1.0]) * np.eye(n) + rng.choice([0.1, 10.0]) * hops.T @ hops),
        g=g,
        J=J,
        r=t - J @ x,
        below=price,
        above=1e3 * (price + 11.0),
    )


def solve(qp: Qp, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
    """x and the multipliers of the rows, from a random working set; and the steps walked."""
    m, n = qp.J.shape
    state = np.concatenate((rng.integers(-2, 3, m), rng.integers(-1, 2, n)))
    x, lam = np.zeros(n), np.zeros(m + n)
    limits, bounds = np.array([FLOOR, CEILING, qp.below, qp.above]), np.array([[0.0], [1.0]]) * np.ones(n)
    steps = kernels.solve_qp(n, m, qp.H, qp.g, qp.J, qp.r, limits, bounds, state, x, lam, make_qp(m))
    slope = np.select([state[:m] == kernels.BELOW, state[:m] == kernels.ABOVE], [qp.below, -qp.above], lam[:m])
    return x, slope, steps


def assert_optimal(qp: Qp, x: FloatArray, slope: FloatArray) -> None:
    """The conditions under which x is the minimiser of a strictly convex problem, and no other point is."""
    assert ((x >= 0.0) & (x <= 1.0)).all()
    t = qp.r + qp.J @ x
    near = 5e-6  # K; kinks that meet are parted by less
    least = np.select([t < FLOOR - near, t > CEILING - near], [qp.below, -qp.above], 0.0)
    most = np.select([t > CEILING + near, t < FLOOR + near], [-qp.above, qp.below], 0.0)
    slack = 1e-9 * qp.above
    assert (slope >= least - slack).all()
    assert (slope <= most + slack).all()
    terms = np.abs(qp.H) @ np.abs(x) + np.abs(qp.g) + np.abs(qp.J).T @ np.abs(slope)
    tolerance = 1e-7 * (terms + terms.max())
    gradient = qp.H @ x + qp.g - qp.J.T @ slope
    assert (gradient[x < 1.0] >= -tolerance[x < 1.0]).all()
    assert (gradient[x > 0.0] <= tolerance[x > 0.0]).all()


def ask_daqp(qp: Qp, *, hard: bool) -> FloatArray:
    """The same with explicit slacks, below the floor and, unless the ceiling is hard, above it.

    DAQP wants strict convexity: a trace of curvature is given to the slacks, which moves x by some 1e-5.
    """
    m, n = qp.J.shape
    sides = 1 if hard else 2
    one, none = np.eye(m), np.zeros((m, m))
    H = np.zeros((n + sides * m, n + sides * m))
    H[:n, :n] = qp.H
    H[n:, n:] = 1e-7 * qp.below * np.eye(sides * m)
    A = np.block([[qp.J, one, none], [qp.J, none, -one]])[:, : len(H)]
    shape = {"h": casadi.Sparsity.dense(*H.shape), "a": casadi.Sparsity.dense(*A.shape)}
    answer = casadi.conic("qp", "daqp", shape, {"error_on_fail": True})(
        h=H,
        g=np.concatenate((qp.g, np.full(m, qp.below), np.full(m, qp.above)))[: len(H)],
        a=A,
        lba=np.concatenate((FLOOR - qp.r, np.full(m, -np.inf))),
        uba=np.concatenate((np.full(m, np.inf), CEILING - qp.r)),
        lbx=np.zeros(len(H)),
        ubx=np.concatenate((np.ones(n), np.full(sides * m, np.inf))),
    )
    return np.asarray(answer["x"]).ravel()[:n]
