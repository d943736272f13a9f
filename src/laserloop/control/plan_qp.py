"""The plan as a QP: the problem around a line T ≈ T⁰ + G (P − P⁰), solved by DAQP.

x = (P̄, ε̄, h̄): powers over P_max, slacks below over ε_max, and an elastic excess above over ε_max whose price
is so much higher that it is only used where no plan keeps the ceiling.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.problem import MpcProblem

FloatArray = NDArray[np.float64]

ELASTIC = 1e8  # price of an excess of ε_max above; the default slack below costs 1e6
CURVATURE = 1.0  # of the slacks, as DAQP wants a definite Hessian; shifts the balance by 1e-6 of their price


class PlanQp:
    """Built once, solved for a new line at every tick."""

    def __init__(self, problem: MpcProblem) -> None:
        import casadi

        self.problem = problem
        n = problem.horizon
        self._spread = problem.spread
        moves = self._spread.shape[1]
        dense = casadi.Sparsity.dense
        self._solver: Any = casadi.conic(
            "plan",
            "daqp",
            {"h": dense(moves + 2 * n, moves + 2 * n), "a": dense(2 * n, moves + 2 * n)},
            {"error_on_fail": False},
        )

    def solve(
        self, plan: FloatArray, predicted: FloatArray, slopes: FloatArray, previous: float
    ) -> FloatArray:
        """The best plan, W, if temperatures, K, follow the slopes, K/W, from `predicted` at `plan`."""
        p = self.problem
        n, moves = p.horizon, self._spread.shape[1]
        low, high = p.power
        size = moves + 2 * n
        gain = high * slopes @ self._spread  # K per unit of P̄
        rest = predicted - slopes @ plan
        difference = (np.eye(n) - np.eye(n, k=-1)) @ self._spread
        before = np.zeros(n)
        before[0] = previous / high
        h, g = np.zeros((size, size)), np.zeros(size)
        track = gain / p.half_width
        h[:moves, :moves] = 2 * (
            p.power_cost * self._spread.T @ self._spread
            + p.move_cost * difference.T @ difference
            + p.tracking_cost * track.T @ track
        )
        g[:moves] = -2 * p.move_cost * difference.T @ before + 2 * p.tracking_cost * track.T @ (
            (rest - p.middle) / p.half_width
        )
        h[moves:, moves:] = CURVATURE * np.eye(2 * n)
        g[moves : moves + n] = p.slack_cost
        g[moves + n :] = ELASTIC
        rows = np.zeros((2 * n, size))
        rows[:n, :moves] = rows[n:, :moves] = gain
        rows[:n, moves : moves + n] = p.slack_scale * np.eye(n)
        rows[n:, moves + n :] = -p.slack_scale * np.eye(n)
        found = self._solver(
            h=h,
            g=g,
            a=rows,
            lba=np.concatenate((p.floor - rest, np.full(n, -np.inf))),
            uba=np.concatenate((np.full(n, np.inf), p.ceiling - rest)),
            lbx=np.concatenate((np.full(moves, low / high), np.zeros(2 * n))),
            ubx=np.concatenate((np.ones(moves), np.full(2 * n, np.inf))),
        )
        powers: FloatArray = self._spread @ np.asarray(found["x"]).ravel()[:moves] * high
        if not np.isfinite(powers).all():
            powers = np.full(n, low)
        return np.minimum(np.maximum(powers, low), high)
