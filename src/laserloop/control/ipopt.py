"""IPOPT, the paper's Algorithm 1: an interior-point solver on the embedded network.

P̄ = P/P_max      ε̄ = ε/ε_max      x = (moves of P̄, ε̄)      p what a question knows      T̂ prediction, K
min J(P̄, ε̄)   subject to   T̂_i ≤ ceiling,   T̂_i + ε_i ≥ floor,   ε ≥ 0,   P within its bounds

Embedding: a network rebuilt layer by layer as a CasADi graph, which a solver can differentiate.

P (N_h) powers, W      K (N_h, 4) kinematics      T (1 + N_h) temperatures, K      ξ (2) peak, m
σ(z) = ½(z + √(z² + ε)) stands for the rectifier: smooth, and at most √ε/2 above it; σ′ = ½(1 + z/√(z² + ε))
A, a, W, b, C, c  as in predict/window.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question, Solution
from laserloop.predict.model import Model
from laserloop.predict.networks import BRANCH, TRUNK, MsDeepONet, SsAr, SsArLoc, WindowNetwork
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

if TYPE_CHECKING:
    import casadi

FloatArray = NDArray[np.float64]

STEPS = {
    "folded": "extended",
    "plain": "sherman-morrison",
}  # the same steps, a quarter faster; IPOPT's own way
MOST_ITERATIONS = 500  # the paper's cap
ROUNDING = 1e-3  # K, by which a plan may miss the ceiling and still keep it; IPOPT's own rule is 1e-4
CONVERGED = ("Solve_Succeeded", "Solved_To_Acceptable_Level")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SolveTimes:
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
        self.last_times = _SolveTimes()
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
        (low, high), horizon = problem.power, problem.horizon
        moves = first / high
        slack = max(0.0, problem.floor - question.network(horizon).temps[0]) / problem.slack_scale
        least = np.maximum(low / high, moves - self._reach)
        most = np.minimum(1.0, moves + self._reach)
        started = perf_counter()
        answer = self._nlp(
            x0=np.concatenate((moves, np.full(horizon, slack))),
            p=p,
            lbx=np.concatenate((np.where(over, moves, least), np.zeros(horizon))),
            ubx=np.concatenate((np.where(over, moves, most), np.full(horizon, np.inf))),
            lbg=np.concatenate((np.full(horizon, -np.inf), np.where(over, -np.inf, problem.floor))),
            ubg=np.concatenate((np.where(over, np.inf, problem.ceiling), np.full(horizon, np.inf))),
        )
        self._solve_s += perf_counter() - started
        stats = self._nlp.stats()
        self._note(stats)
        best = np.asarray(answer["x"]).ravel()[: len(moves)]
        plan = question.settle(best * high, problem.power)
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
        self.last_times = _SolveTimes(
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
    read: Callable[[WindowForecast], tuple[FloatArray, ...]]  # the same out of a forecast
    predict: Any  # (P, *known) → T̂
    slope: Any | None = None  # (P, *known) → T̂, ∂T̂/∂P; None: CasADi differentiates `predict`


def _embed_folded(model: Model, smoothing: float) -> _Network:
    """The trunk and the kinematics are contracted outside of the graph, once per question."""
    folder = Folding(model, smoothing=smoothing)
    width, horizon = folder.A.shape

    def read(known: WindowForecast) -> tuple[FloatArray, ...]:
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

    horizon, high = problem.horizon, problem.power[1]
    x = casadi.MX.sym("x", 2 * horizon)
    moves, slack = casadi.vertsplit(x, [0, horizon, 2 * horizon])
    ticks = ((horizon, 1),) * 3
    p, (*known, previous, settled, powers, moved) = _split((*network.shapes, (1, 1), *ticks))
    free = 1.0 - settled
    plan = settled * powers / high + free * moves  # P̄
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
        by_moves = high * slope @ casadi.diag(free)
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


def _is_finite(question: Question, known: WindowForecast) -> bool:
    parts = (known.kinematics, known.temps, known.location, question.start, question.committed)
    return bool(all(np.isfinite(part).all() for part in parts) and np.isfinite(question.previous))


def _check_embeddable(model: Model) -> MsDeepONet | SsAr | SsArLoc:
    """The architecture of a model that is rectifiers and sums; others are refused."""
    architecture: WindowNetwork = model.architecture
    if not isinstance(architecture, MsDeepONet | SsAr | SsArLoc):
        raise BadInput(
            f"only {MsDeepONet.name}, {SsAr.name} and {SsArLoc.name} can be embedded, got "
            f"{architecture.name}: choose a model of one of these"
        )
    return architecture


def embed(model: Model, *, smoothing: float = SMOOTHING) -> "casadi.Function":
    """(P, K, T, ξ) → T̂ (N_h), K: the whole network as trained, scalers inside, only σ replaced."""
    import casadi

    architecture = _check_embeddable(model)
    horizon = architecture.horizon
    powers = casadi.MX.sym("powers", horizon)
    kinematics = casadi.MX.sym("kinematics", horizon, 4)
    temps = casadi.MX.sym("temps", 1 + horizon)
    location = casadi.MX.sym("location", 2)
    rows = casadi.horzcat(powers, kinematics)
    if isinstance(architecture, SsAr):
        predicted = _roll_out(model, rows, temps[0], smoothing)
    elif isinstance(architecture, SsArLoc):
        predicted = _follow(model, rows, temps[0], location, smoothing)
    else:
        seen = casadi.vertcat(temps, location)[list(architecture.seen)]
        predicted = _deeponet(model, casadi.vec(rows.T), seen, smoothing)
    return casadi.Function(
        "predict",
        [powers, kinematics, temps, location],
        [predicted],
        ["powers", "kinematics", "temps", "location"],
        ["predicted"],
    )


def embed_folded(folder: Folding, *, smoothing: float = SMOOTHING) -> "casadi.Function":
    """(P, a, C, c) → T̂ (N_h), K: the network of one tick, N_h → w → w → N_h."""
    return _fold_graph(folder, smoothing, slope=False)


def embed_folded_slope(folder: Folding, *, smoothing: float = SMOOTHING) -> "casadi.Function":
    """(P, a, C, c) → T̂ (N_h), K, and ∂T̂/∂P (N_h, N_h), K/W, carried forward through the layers.

    J = C diag(σ′₂) W diag(σ′₁) A needs one product of W with N_h columns, where CasADi's own forward mode
    takes N_h products with one.
    """
    return _fold_graph(folder, smoothing, slope=True)


def _fold_graph(folder: Folding, smoothing: float, *, slope: bool) -> "casadi.Function":
    import casadi

    width, horizon = folder.A.shape
    powers = casadi.MX.sym("powers", horizon)
    a, c = casadi.MX.sym("a", width), casadi.MX.sym("c", horizon)
    C = casadi.MX.sym("C", horizon, width)
    A, W = casadi.MX(folder.A), casadi.MX(folder.W)
    first, first_slope = _rectify(_times(A, powers) + a, smoothing)
    second, second_slope = _rectify(_times(W, first) + folder.b, smoothing)
    outputs, names = [_times(C, second) + c], ["predicted"]
    if slope:
        carried = _times(W, A * casadi.repmat(first_slope, 1, horizon))
        outputs.append(_times(C, carried * casadi.repmat(second_slope, 1, horizon)))
        names.append("slope")
    return casadi.Function("predict_folded", [powers, a, C, c], outputs, ["powers", "a", "C", "c"], names)


def _roll_out(model: Model, rows: Any, hottest: Any, smoothing: float) -> Any:
    """Tick by tick, each from the prediction of the one before."""
    import casadi

    ticks = []
    for i in range(rows.shape[0]):
        hottest = _deeponet(model, rows[i, :].T, hottest, smoothing)
        ticks.append(hottest)
    return casadi.vertcat(*ticks)


def _follow(model: Model, rows: Any, hottest: Any, place: Any, smoothing: float) -> Any:
    """The same with the peak's place, seen from where the beam is when each tick begins."""
    import casadi

    ticks = []
    for i in range(rows.shape[0]):
        beam = rows[i, 1:3].T
        state = _deeponet(model, rows[i, :].T, casadi.vertcat(hottest, place - beam), smoothing)
        hottest, place = state[0], beam + state[1:3]
        ticks.append(hottest)
    return casadi.vertcat(*ticks)


def _deeponet(model: Model, x: Any, y: Any, smoothing: float) -> Any:
    """One evaluation: raw branch and trunk features in, K out."""
    import casadi

    scalers, weights = model.scalers, model.double
    branch = _perceptron(model, BRANCH, (x - scalers.branch.mean) / scalers.branch.std, smoothing)
    trunk = _perceptron(model, TRUNK, (y - scalers.trunk.mean) / scalers.trunk.std, smoothing)
    outputs = len(weights["bias"])
    basis = casadi.reshape(branch, trunk.shape[0], outputs)  # column i holds the p terms of output i
    return (basis.T @ trunk + weights["bias"]) * scalers.target.std + scalers.target.mean


def _perceptron(model: Model, layers: tuple[tuple[str, str], ...], x: Any, smoothing: float) -> Any:
    import casadi

    for weight, bias in layers:
        x = casadi.DM(model.double[weight]) @ x + model.double[bias]
        if weight is not layers[-1][0]:
            x, _ = _rectify(x, smoothing)
    return x


def _rectify(z: Any, smoothing: float) -> tuple[Any, Any]:
    """σ and σ′."""
    import casadi

    root = casadi.sqrt(z * z + smoothing)
    return 0.5 * (z + root), 0.5 * (1.0 + z / root)


def _times(left: Any, right: Any) -> Any:
    """The product of two matrices by BLAS: 128×128 times 5 columns in 20 µs, by CasADi's own loops in 120.

    CasADi before 3.8 has only its loops.
    """
    import casadi

    if hasattr(casadi, "has_blas") and casadi.has_blas("classic"):
        return casadi.mtimes(left, right, "classic")
    return casadi.mtimes(left, right)
