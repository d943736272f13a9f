"""The plan as a QP: the problem around a line T ≈ T⁰ + G (P − P⁰), solved by DAQP.

P̄ = F + S m      F  what is committed, over P_max; dark ticks 0      S  which free tick takes which move m
x = (m, ε̄, h̄): moves, slacks below over ε_max, and an elastic excess above over ε_max whose price is so much
higher that it is only used where no plan keeps the ceiling.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question

FloatArray = NDArray[np.float64]

ELASTIC = 1e8  # price of an excess of ε_max above; the default slack below costs 1e6
CURVATURE = 1.0  # of the slacks, as DAQP wants a definite Hessian; shifts the balance by 1e-6 of their price
ROUNDING = 1e-6  # of P_max, DAQP's own tolerance: as near to the least power it is that
LEAST_CURVATURE = 1e-6  # of a power without a price, for the same reason


class PlanQp:
    """Built once, solved for a new line as often as needed."""

    def __init__(self, problem: MpcProblem) -> None:
        import casadi

        self.problem = problem
        n, moves = problem.spread.shape
        self._spread = problem.spread
        dense = casadi.Sparsity.dense
        self._solver: Any = casadi.conic(
            "plan",
            "daqp",
            {"h": dense(moves + 2 * n, moves + 2 * n), "a": dense(2 * n, moves + 2 * n)},
            {"error_on_fail": False},
        )

    def solve(
        self, question: Question, plan: FloatArray, predicted: FloatArray, slopes: FloatArray
    ) -> FloatArray:
        """The best plan, W, if temperatures, K, follow the slopes, K/W, from `predicted` at `plan`."""
        p, free = self.problem, question.free
        n, moves = self._spread.shape
        low, high = p.power
        fixed = np.where(free, 0.0, question.settle(plan, p.power))  # W
        spread = free[:, np.newaxis] * self._spread
        gain = high * slopes @ spread  # K per unit of P̄
        rest = predicted - slopes @ (plan - fixed)  # K, with nothing but what is fixed
        h, g = self._weigh(question, spread, fixed / high, gain, rest)
        rows = np.zeros((2 * n, moves + 2 * n))
        rows[:n, :moves] = rows[n:, :moves] = gain
        rows[:n, moves : moves + n] = p.slack_scale * np.eye(n)
        rows[n:, moves + n :] = -p.slack_scale * np.eye(n)
        found = self._solver(
            h=h,
            g=g,
            a=rows,
            lba=np.concatenate((np.where(free, p.floor - rest, -np.inf), np.full(n, -np.inf))),
            uba=np.concatenate((np.full(n, np.inf), np.where(free, p.ceiling - rest, np.inf))),
            lbx=np.concatenate((np.full(moves, low / high), np.zeros(2 * n))),
            ubx=np.concatenate((np.ones(moves), np.full(2 * n, np.inf))),
        )
        powers: FloatArray = self._spread @ np.asarray(found["x"]).ravel()[:moves] * high
        if not np.isfinite(powers).all():
            powers = np.full(n, low)
        powers = np.where(powers < low + ROUNDING * high, low, powers)
        return np.where(free, np.minimum(powers, high), fixed)

    def _weigh(
        self, question: Question, spread: FloatArray, fixed: FloatArray, gain: FloatArray, rest: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Hessian and gradient of J at no moves; `fixed` over P_max, `gain` in K per P̄, `rest` in K."""
        p = self.problem
        n, moves = spread.shape
        steps = question.moves[:, np.newaxis] * (np.eye(n) - np.eye(n, k=-1))
        before = -steps @ fixed
        before[0] += question.moves[0] * question.previous / p.power[1]
        difference = steps @ spread
        track = question.free[:, np.newaxis] * gain / p.half_width
        h, g = np.zeros((moves + 2 * n, moves + 2 * n)), np.zeros(moves + 2 * n)
        h[:moves, :moves] = 2 * (
            max(p.power_cost, LEAST_CURVATURE) * spread.T @ spread
            + p.move_cost * difference.T @ difference
            + p.tracking_cost * track.T @ track
        )
        h[:moves, :moves] += np.diag(~spread.any(axis=0))  # moves that only fixed ticks take
        g[:moves] = -2 * p.move_cost * difference.T @ before + 2 * p.tracking_cost * track.T @ (
            (rest - p.middle) / p.half_width
        )
        h[moves:, moves:] = CURVATURE * np.eye(2 * n)
        g[moves : moves + n] = p.slack_cost
        g[moves + n :] = ELASTIC
        return h, g
