"""IPOPT, the paper's Algorithm 1: an interior-point solver on the embedded network.

P̄ = P/P_max      ε̄ = ε/ε_max      x = (moves of P̄, ε̄)      p what a question knows      T̂ prediction, K
min J(P̄, ε̄)   subject to   T̂_i ≤ ceiling,   T̂_i + ε_i ≥ floor,   ε ≥ 0,   P within its bounds
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Status
from laserloop.control.embedding import embed, embed_folded, embed_folded_slope
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution
from laserloop.predict.networks.folding import SMOOTHING, Folder
from laserloop.predict.networks.forecast import NetworkForecast
from laserloop.predict.networks.model import Model

FloatArray = NDArray[np.float64]

STEPS = {
    "folded": "extended",
    "plain": "sherman-morrison",
}  # the same steps, a quarter faster; IPOPT's own way
MOST_ITERATIONS = 500  # the paper's cap
ROUNDING = 1e-3  # K, by which a plan may miss the ceiling and still keep it; IPOPT's own rule is 1e-4
CONVERGED = ("Solve_Succeeded", "Solved_To_Acceptable_Level")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveTimes:
    """Where the time of one question went, s of wall time."""

    functions: float = 0.0  # the network and its derivatives, called by IPOPT
    ipopt: float = 0.0  # the rest of IPOPT: linear algebra, line search
    around: float = 0.0  # before and after: folding, checks, Python
    evaluations: int = 0  # of the constraints and of their Jacobian

    @property
    def total(self) -> float:
        """All of it."""
        return self.functions + self.ipopt + self.around


class IpoptSolver:
    """Built once, asked every tick. Keeps nothing from one question to the next."""

    def __init__(
        self,
        model: Model,
        problem: MpcProblem,
        *,
        graph: str = "folded",  # or "plain", the paper's: all of the network inside
        tolerance: float = 1e-8,  # smaller is closer to the optimum, for more iterations
        max_iterations: int = MOST_ITERATIONS,
        exact_hessian: bool = False,  # instead of L-BFGS
        smoothing: float = SMOOTHING,
        reach: float = np.inf,  # W; moves stay this near to the start: what is the best plan around it?
    ) -> None:
        if graph not in STEPS:
            raise BadInput(f"the graph must be one of {', '.join(STEPS)}, got {graph!r}: choose one")
        if model.architecture.horizon != problem.horizon:
            raise BadInput(
                f"the problem must have the model's horizon of {model.architecture.horizon} ticks, "
                f"got {problem.horizon}: change the horizon or the model"
            )
        self.name = "ipopt" if graph == "folded" else f"ipopt-{graph}"
        self.last_times = SolveTimes()
        self._problem = problem
        self._reach = reach / problem.power[1]
        self._network = (_embed_folded if graph == "folded" else _embed_plain)(model, smoothing)
        options = {
            "tol": tolerance,
            "max_iter": max_iterations,
            "hessian_approximation": "exact" if exact_hessian else "limited-memory",
            "limited_memory_aug_solver": STEPS[graph],
            "print_level": 0,
            "sb": "yes",  # no banner
        }
        self._predict, self._nlp = _build(problem, self._network, options)
        self._start_clock()

    def reset(self) -> None:
        """Nothing to forget."""

    def solve(self, question: Question) -> Solution:
        """The plan that IPOPT converges to; if it does not, the best one known to keep the ceiling.

        A ceiling that neither the coolest plan nor the start keeps is given up without a search, which would
        take hundreds of iterations. Less power is cooler on a plate, not always in a network that lets later
        power cool an earlier tick: of 41 recorded questions given up, a search found a plan for one, whose
        coolest plan was 0.7 K too hot.
        """
        self._start_clock()
        horizon, power = self._problem.horizon, self._problem.power
        known, free = question.network(horizon), question.free
        coolest = question.settle(np.full(horizon, power[0]), power)
        if not _is_finite(question, known):
            return self._finish(coolest, np.full(horizon, np.nan), Status.NO_PREDICTION)
        p = self._read(question, coolest)
        start = question.settle(question.start, power)
        cold = self._foresee(coolest, p)
        if not np.isfinite(cold).all():
            return self._finish(coolest, np.full(horizon, np.nan), Status.NO_PREDICTION)
        safe = coolest if self._is_safe(cold[free]) else start
        expected = cold if safe is coolest else self._foresee(start, p)
        if not self._is_safe(expected[free]):
            return self._finish(coolest, cold, Status.INFEASIBLE)
        for first in (start, coolest) if np.isinf(self._reach) else (start,):
            plan, converged = self._search(question, p, first)
            predicted = self._foresee(plan, p)
            if self._is_safe(predicted[free]):
                return self._finish(plan, predicted, Status.SOLVED if converged else Status.STOPPED)
        return self._finish(safe, expected, Status.STOPPED)

    def _read(self, question: Question, coolest: FloatArray) -> Any:
        """p: what the network knows, P̄ before the plan, which ticks are settled and at which P, and moves."""
        import casadi

        settled = ~question.free
        known = [part.ravel(order="F") for part in self._network.read(question.network(len(settled)))]
        powers = np.where(settled, coolest, 0.0)
        return casadi.DM(np.concatenate((*known, [question.previous], settled, powers, question.moves)))

    def _search(self, question: Question, p: Any, first: FloatArray) -> tuple[FloatArray, bool]:
        """The plan at which IPOPT stops when it begins with `first`, and whether it converged."""
        problem, over = self._problem, ~question.free
        (low, high), horizon, spread = problem.power, problem.horizon, problem.spread
        ticks = spread.sum(axis=0)
        moves = first @ spread / ticks / high
        slack = max(0.0, problem.floor - question.network(horizon).temps[0]) / problem.slack_scale
        least = np.maximum(low / high, moves - self._reach)
        most = np.minimum(1.0, moves + self._reach)
        gone = over @ spread == ticks  # moves that only settled ticks take
        started = perf_counter()
        answer = self._nlp(
            x0=np.concatenate((moves, np.full(horizon, slack))),
            p=p,
            lbx=np.concatenate((np.where(gone, moves, least), np.zeros(horizon))),
            ubx=np.concatenate((np.where(gone, moves, most), np.full(horizon, np.inf))),
            lbg=np.concatenate((np.full(horizon, -np.inf), np.where(over, -np.inf, problem.floor))),
            ubg=np.concatenate((np.where(over, np.inf, problem.ceiling), np.full(horizon, np.inf))),
        )
        self._solve_s += perf_counter() - started
        stats = self._nlp.stats()
        self._note(stats)
        found = np.asarray(answer["x"]).ravel()[: len(moves)]
        plan = question.settle(spread @ found * high, problem.power)
        return plan, stats["return_status"] in CONVERGED

    def _foresee(self, plan: FloatArray, p: Any) -> FloatArray:
        """What the embedded network says of a plan, K."""
        return np.asarray(self._predict(plan, p)).ravel()

    def _is_safe(self, predicted: FloatArray) -> bool:
        """Whether a prediction keeps the ceiling; NaN does not."""
        return bool((predicted <= self._problem.ceiling + ROUNDING).all())

    def _start_clock(self) -> None:
        self._started = perf_counter()
        self._solve_s = self._functions_s = 0.0
        self._iterations = self._evaluations = 0

    def _note(self, stats: dict[str, Any]) -> None:
        """Add one call of IPOPT to the account of this question."""
        self._iterations += int(stats["iter_count"])
        self._functions_s += sum(time for key, time in stats.items() if key.startswith("t_wall_nlp_"))
        self._evaluations += int(stats["n_call_nlp_g"] + stats["n_call_nlp_jac_g"])

    def _finish(self, plan: FloatArray, predicted: FloatArray, status: Status) -> Solution:
        self.last_times = SolveTimes(
            functions=self._functions_s,
            ipopt=self._solve_s - self._functions_s,
            around=perf_counter() - self._started - self._solve_s,
            evaluations=self._evaluations,
        )
        return Solution(
            plan=plan,
            predicted=predicted,
            status=status,
            iterations=self._iterations,
            solve_s=self._solve_s,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Network:
    """A prediction that depends on the powers P, W, and on what is known at a tick."""

    shapes: tuple[tuple[int, int], ...]  # of what is known
    read: Callable[[NetworkForecast], tuple[FloatArray, ...]]  # the same out of a forecast
    predict: Any  # (P, *known) → T̂
    slope: Any | None = None  # (P, *known) → T̂, ∂T̂/∂P; None: CasADi differentiates `predict`


def _embed_folded(model: Model, smoothing: float) -> _Network:
    """The trunk and the kinematics are contracted outside of the graph, once per question."""
    folder = Folder(model, smoothing=smoothing)
    width, horizon = folder.A.shape

    def read(known: NetworkForecast) -> tuple[FloatArray, ...]:
        folded = folder.fold(known.kinematics, known.temps, known.location)
        return folded.a, folded.C, folded.c

    return _Network(
        shapes=((width, 1), (horizon, width), (horizon, 1)),
        read=read,
        predict=embed_folded(folder, smoothing=smoothing),
        slope=embed_folded_slope(folder, smoothing=smoothing),
    )


def _embed_plain(model: Model, smoothing: float) -> _Network:
    """As in the paper: all of the network is evaluated and differentiated inside."""
    horizon = model.architecture.horizon
    return _Network(
        shapes=((horizon, 4), (1 + horizon, 1), (2, 1)),
        read=lambda known: (known.kinematics, known.temps, known.location),
        predict=embed(model, smoothing=smoothing),
    )


def _build(problem: MpcProblem, network: _Network, options: dict[str, Any]) -> tuple[Any, Any]:
    """(P, p) → T̂, and the nonlinear program of every tick: only p and the bounds change."""
    import casadi

    horizon, high, spread = problem.horizon, problem.power[1], casadi.DM(problem.spread)
    count = spread.shape[1]
    x = casadi.MX.sym("x", count + horizon)
    moves, slack = casadi.vertsplit(x, [0, count, count + horizon])
    ticks = ((horizon, 1),) * 3
    p, (*known, previous, settled, powers, moved) = _split((*network.shapes, (1, 1), *ticks))
    free = 1.0 - settled
    plan = settled * powers / high + free * (spread @ moves)  # P̄
    predicted = network.predict(high * plan, *known)
    J = (
        problem.power_cost * casadi.sumsqr(plan)
        + problem.move_cost * casadi.sumsqr(moved * casadi.diff(casadi.vertcat(previous / high, plan)))
        + problem.slack_cost * casadi.sum1(slack)
    )
    if problem.tracking_cost:
        J += problem.tracking_cost * casadi.sumsqr(free * (predicted - problem.middle) / problem.half_width)

    def bounded(predicted: Any) -> Any:
        """What the ceiling is for, then what the floor is for."""
        return casadi.vertcat(predicted, predicted + problem.slack_scale * slack)

    settings = {f"ipopt.{name}": value for name, value in options.items()}
    settings |= {"print_time": False, "calc_lam_p": False}
    if network.slope is not None:
        value, slope = network.slope(high * plan, *known)
        by_moves = high * slope @ (casadi.repmat(free, 1, count) * spread)
        by_slack = problem.slack_scale * casadi.DM.eye(horizon)
        jacobian = casadi.blockcat([[by_moves, casadi.DM(horizon, horizon)], [by_moves, by_slack]])
        names = ["x", "p"], ["g", "jac_g_x"]
        settings["jac_g"] = casadi.Function("nlp_jac_g", [x, p], [bounded(value), jacobian], *names)
    nlp = casadi.nlpsol("mpc", "ipopt", {"x": x, "p": p, "f": J, "g": bounded(predicted)}, settings)
    P = casadi.MX.sym("P", horizon)
    return casadi.Function("predict", [P, p], [network.predict(P, *known)]), nlp


def _split(shapes: tuple[tuple[int, int], ...]) -> tuple[Any, list[Any]]:
    """A symbol and its parts, in the given shapes, column by column."""
    import casadi

    ends = np.cumsum([0, *(rows * columns for rows, columns in shapes)]).tolist()
    whole = casadi.MX.sym("p", ends[-1])
    parts = zip(casadi.vertsplit(whole, ends), shapes, strict=True)
    return whole, [casadi.reshape(part, *shape) for part, shape in parts]


def _is_finite(question: Question, known: NetworkForecast) -> bool:
    parts = (known.kinematics, known.temps, known.location, question.start, question.committed)
    return bool(all(np.isfinite(part).all() for part in parts) and np.isfinite(question.previous))
