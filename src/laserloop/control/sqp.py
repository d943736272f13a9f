"""Sequential quadratic programming with any predictor: a line, the best plan on it, what is really predicted.

T̂(P) ≈ T̂(P⁰) + G (P − P⁰)      φ  the problem's cost and a steep price of every kelvin above the ceiling

The QP's plan is taken if the prediction agrees with the line, which ends the search: an affine forecast takes
one round. Otherwise the step is halved until φ falls, and the next line begins there.

The plan as a QP, solved by DAQP:
P̄ = F + m      F  what is committed, over P_max; dark ticks 0      m  what is free
x = (m, ε̄, h̄): free powers, slacks below over ε_max, and an elastic excess above over ε_max whose price is
so much higher that it is only used where no plan keeps the ceiling.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question, Solution

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
        n = problem.horizon
        dense = casadi.Sparsity.dense
        self._solver: Any = casadi.conic(
            "plan",
            "daqp",
            {"h": dense(3 * n, 3 * n), "a": dense(2 * n, 3 * n)},
            {"error_on_fail": False},
        )

    def solve(
        self, question: Question, plan: FloatArray, predicted: FloatArray, slopes: FloatArray
    ) -> FloatArray:
        """The best plan, W, if temperatures, K, follow the slopes, K/W, from `predicted` at `plan`."""
        p, free = self.problem, question.free
        n = p.horizon
        low, high = p.power
        fixed = np.where(free, 0.0, question.settle(plan, p.power))  # W
        gain = high * slopes * free  # K per unit of P̄
        rest = predicted - slopes @ (plan - fixed)  # K, with nothing but what is fixed
        h, g = self._weigh(question, fixed / high, gain, rest)
        rows = np.zeros((2 * n, 3 * n))
        rows[:n, :n] = rows[n:, :n] = gain
        rows[:n, n : 2 * n] = p.slack_scale * np.eye(n)
        rows[n:, 2 * n :] = -p.slack_scale * np.eye(n)
        solution = self._solver(
            h=h,
            g=g,
            a=rows,
            lba=np.concatenate((np.where(free, p.floor - rest, -np.inf), np.full(n, -np.inf))),
            uba=np.concatenate((np.full(n, np.inf), np.where(free, p.ceiling - rest, np.inf))),
            lbx=np.concatenate((np.full(n, low / high), np.zeros(2 * n))),
            ubx=np.concatenate((np.ones(n), np.full(2 * n, np.inf))),
        )
        powers: FloatArray = np.asarray(solution["x"]).ravel()[:n] * high
        if not np.isfinite(powers).all():
            powers = np.full(n, low)
        powers = np.where(powers < low + ROUNDING * high, low, powers)
        return np.where(free, np.minimum(powers, high), fixed)

    def _weigh(
        self, question: Question, fixed: FloatArray, gain: FloatArray, rest: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Hessian and gradient of J at no moves; `fixed` over P_max, `gain` in K per P̄, `rest` in K."""
        p = self.problem
        n, free = p.horizon, question.free
        steps = question.moves[:, np.newaxis] * (np.eye(n) - np.eye(n, k=-1))
        before = -steps @ fixed
        before[0] += question.moves[0] * question.previous / p.power[1]
        difference = steps * free
        track = free[:, np.newaxis] * gain / p.half_width
        h, g = np.zeros((3 * n, 3 * n)), np.zeros(3 * n)
        h[:n, :n] = 2 * (
            max(p.power_cost, LEAST_CURVATURE) * np.diag(1.0 * free)
            + p.move_cost * difference.T @ difference
            + p.tracking_cost * track.T @ track
        )
        h[:n, :n] += np.diag(~free)  # moves of fixed ticks
        g[:n] = -2 * p.move_cost * difference.T @ before + 2 * p.tracking_cost * track.T @ (
            (rest - p.middle) / p.half_width
        )
        h[n:, n:] = CURVATURE * np.eye(2 * n)
        g[n : 2 * n] = p.slack_cost
        g[2 * n :] = ELASTIC
        return h, g


MOST_QPS = 12  # rounds
AGREED = 1e-3  # K, prediction against line
SUFFICIENT = 0.1  # share of the fall of φ on the line that a step must keep
FLAT = 1e-6  # fall of φ, relative, that is not worth another step


class SqpSolver:
    """Readable, and as good as IPOPT where the cost has one valley; keeps nothing between questions."""

    name = "sqp"

    def __init__(
        self,
        problem: MpcProblem,
        *,
        max_iterations: int = MOST_QPS,
        agreed: float = AGREED,  # K; the plan keeps as far from both ends of the window
        halvings: int = 8,  # of a step; 0: every step is taken as it is
    ) -> None:
        self._max_iterations = max_iterations
        self._agreed = agreed
        self._halvings = halvings
        self.set_problem(problem)

    def set_problem(self, problem: MpcProblem) -> None:
        """Solve this from now on."""
        self.problem = problem
        self._inner = replace(
            problem,
            margin_above=problem.margin_above + self._agreed,
            margin_below=problem.margin_below + self._agreed,
        )
        self._qp = PlanQp(self._inner)

    def reset(self) -> None:
        """Nothing to forget."""

    def solve(self, question: Question) -> Solution:
        """The plan whose line the prediction agrees with, or the best one when the rounds are over."""
        began = perf_counter()
        with np.errstate(invalid="ignore", over="ignore"):  # what is no number ends as a status
            plan, predicted, status, rounds = self._search(question)
        if not (np.isfinite(predicted).all() and np.isfinite(question.previous)):
            status = Status.NO_PREDICTION
            plan = question.settle(np.full(len(plan), self.problem.power[0]), self.problem.power)
            predicted = np.full(len(plan), np.nan)
        elif self._exceeds(question, predicted):
            plan, predicted, status = self._cool(question, plan, predicted, status)
        return Solution(
            plan=plan,
            predicted=predicted,
            status=status,
            iterations=rounds,
            solve_s=perf_counter() - began,
        )

    def _exceeds(self, question: Question, predicted: FloatArray) -> bool:
        """Whether a tick that counts lies above the ceiling; NaN does."""
        return not (predicted[question.free] <= self.problem.ceiling).all()

    def _cool(
        self, question: Question, plan: FloatArray, predicted: FloatArray, status: Status
    ) -> tuple[FloatArray, FloatArray, Status]:
        """A plan that is too hot: the QP's own if it was agreed on, the coolest where that is too hot too."""
        if status is Status.SOLVED:
            return plan, predicted, Status.INFEASIBLE
        coolest = question.settle(np.full(len(plan), self.problem.power[0]), self.problem.power)
        cold = question.forecast.predict(coolest)
        return (
            (coolest, cold, Status.INFEASIBLE) if self._exceeds(question, cold) else (plan, predicted, status)
        )

    def _search(self, question: Question) -> tuple[FloatArray, FloatArray, Status, int]:
        """The last plan, its prediction, how the search ended and after how many QPs."""
        forecast, free = question.forecast, question.free
        plan = question.settle(question.start, self.problem.power)
        for rounds in range(1, self._max_iterations + 1):
            predicted, slopes = forecast.linearise(plan)
            if not (np.isfinite(predicted).all() and np.isfinite(slopes).all()):
                return plan, np.full(len(plan), np.nan), Status.NO_PREDICTION, rounds
            better = self._qp.solve(question, plan, predicted, slopes)
            line = predicted + slopes @ (better - plan)
            expected = forecast.predict(better)
            if np.abs(expected - line)[free].max(initial=0.0) < self._agreed:
                return better, expected, Status.SOLVED, rounds
            if self._halvings:
                step = self._shorten(question, (plan, predicted), (better, line), expected)
                if step is None:
                    return plan, predicted, Status.STOPPED, rounds
                better, expected = step
            plan, predicted = better, expected
        return plan, predicted, Status.STOPPED, rounds

    def _shorten(
        self,
        question: Question,
        now: tuple[FloatArray, FloatArray],
        aim: tuple[FloatArray, FloatArray],
        expected: FloatArray,
    ) -> tuple[FloatArray, FloatArray] | None:
        """A plan on the way from `now` to `aim` where φ has fallen as it should, and its prediction."""
        merit = self._weigh(question, *now)
        promise = merit - self._weigh(question, *aim)
        trial, share = aim[0], 1.0
        for _ in range(self._halvings + 1):
            if merit - self._weigh(question, trial, expected) >= SUFFICIENT * share * promise:
                return trial, expected
            share *= 0.5
            trial = now[0] + share * (aim[0] - now[0])
            expected = question.forecast.predict(trial)
        return None

    def _weigh(self, question: Question, plan: FloatArray, predicted: FloatArray) -> float:
        """φ; NaN is never less."""
        problem, free = self._inner, question.free
        over = np.maximum(predicted - problem.ceiling, 0.0)[free].sum()
        cost = problem.cost(plan, predicted, question.previous, counts=free, moves=question.moves)
        return cost + ELASTIC / problem.slack_scale * float(over)
