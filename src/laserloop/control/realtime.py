"""The realtime solver: the same nonlinear program as `ipopt`, compiled for one tick.

Fold once, then sequential quadratic programming with an exact small QP; see realtime_kernels.py.
"""

from time import perf_counter

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Status
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution, Solver
from laserloop.control.realtime_kernels import FLOOR, KINKS, solve_tick
from laserloop.control.realtime_network import MATRICES, pack_network
from laserloop.predict.networks.forecast import NetworkForecast
from laserloop.predict.networks.model import Model

FloatArray = NDArray[np.float64]

ENGINES = ("auto", "c", "numba")
STATUSES = (Status.SOLVED, Status.STOPPED, Status.INFEASIBLE, Status.NO_PREDICTION)  # by the kernels' codes
MOST_ITERATIONS = 12
STEEP = 1e3  # price of a kelvin above the ceiling, in prices of everything else
NO_FLOOR = -1e9  # K, where slack is free
SKIPS = {"float32": (1e-6, 1e-4), "float64": (1e-6, 1e-6)}  # units and slopes below these are left out


class RealtimeSolver:
    """Answers in tens of microseconds, by the exported C where there is a compiler, otherwise by numba."""

    name = "realtime"

    def __init__(
        self,
        model: Model,
        problem: MpcProblem,
        *,
        max_iterations: int = MOST_ITERATIONS,
        dtype: DTypeLike = np.float32,  # of the network; the QP is always double
        engine: str = "auto",
    ) -> None:
        if engine not in ENGINES:
            raise BadInput(f"the engine must be one of {', '.join(ENGINES)}, got {engine!r}: choose one")
        self.engine, self.reason = "numba", ""  # what answers, and why it is not C if C was wanted
        self._solver: Solver | None = None
        if engine != "numba":
            self._solver = self._build_c(model, problem, max_iterations, dtype)
        if self._solver is None:
            self._solver = NumbaEngine(model, problem, max_iterations=max_iterations, dtype=dtype)
        self._warm_up(model, problem)

    def reset(self) -> None:
        """Forget what was learned from earlier questions."""
        assert self._solver is not None
        self._solver.reset()

    def solve(self, question: Question) -> Solution:
        """The best plan found."""
        assert self._solver is not None
        return self._solver.solve(question)

    def _build_c(
        self, model: Model, problem: MpcProblem, max_iterations: int, dtype: DTypeLike
    ) -> Solver | None:
        from laserloop.control.export.compiler import NoCompiler
        from laserloop.control.export.engine import CEngine

        try:
            solver = CEngine(model, problem, max_iterations=max_iterations, dtype=dtype)
        except NoCompiler as missing:
            self.reason = str(missing)
            return None
        self.engine = "c"
        return solver

    def _warm_up(self, model: Model, problem: MpcProblem) -> None:
        """Load and compile before the first tick, not in it."""
        n = problem.horizon
        known = NetworkForecast(
            kinematics=np.zeros((n, 4)),
            temps=np.full(1 + n, 300.0),
            location=np.zeros(2),
            previous=0.0,
            committed=np.empty(0),
            model=model,
        )
        middle = np.full(n, 0.5 * sum(problem.power))
        self.solve(Question(forecast=known, start=middle, lit=np.ones(n, np.bool_)))
        self.reset()


class NumbaEngine:
    """The kernels with the memory they work in, all of it set up once."""

    name = "realtime"

    def __init__(self, model: Model, problem: MpcProblem, *, max_iterations: int, dtype: DTypeLike) -> None:
        net = pack_network(model, problem, dtype)
        n, width, real = net.horizon, net.width, np.dtype(dtype)
        low, high = problem.power
        price = problem.slack_price
        steep = STEEP * (price + problem.power_cost + problem.move_cost + problem.tracking_cost)
        wants = (
            *(problem.floor, problem.ceiling, price, steep, problem.power_cost, problem.move_cost),
            *(problem.tracking_cost / problem.half_width**2, problem.middle),
        )
        self._high, self._horizon = high, n
        self._fixed = (
            tuple(getattr(net, name) for name in MATRICES),
            (net.kinematics_stats, net.trunk_stats),
            net.seen,
            np.argmax(problem.spread, axis=1),
            np.array(wants),
            np.array([problem.floor if price > 0 else NO_FLOOR, problem.ceiling, price, steep]),
            np.repeat([[low / high], [1.0]], n, axis=1),
            np.array(SKIPS[real.name], real),
            max_iterations,
        )
        self._warm = np.zeros(2 * n + KINKS, np.int64)
        names = np.zeros((2, KINKS), np.int64), np.zeros(1, np.int64)
        kinks = np.zeros((KINKS, n)), np.zeros((5, KINKS)), *names
        self._double = (np.zeros((3, n, n)), np.zeros((17, n)), np.zeros(2 * n + KINKS), _make_qp(n), kinks)
        units = [np.zeros((6, width), real), *(np.zeros((n, width), real) for _ in range(3))]
        self._work = (
            (*units, *(np.zeros(shape, real) for shape in ((3, width), max(4 * n, 3 + n), len(net.M)))),
            (np.zeros(width, real), np.zeros(net.M.shape[1], real)),
            np.zeros(max(width, len(net.M), 4 * n) + 1, np.int64),
            self._double,
        )
        self._previous = np.zeros(1)
        self.reset()

    def reset(self) -> None:
        """Forget the working set of the last question."""
        self._warm[:] = 0
        self._warm[self._horizon - 1] = FLOOR  # as in most ticks of a loop that is settled

    def solve(self, question: Question) -> Solution:
        """The best plan found."""
        began = perf_counter()
        asked = question.network(self._horizon)
        self._previous[0] = question.previous / self._high
        start = question.start / self._high
        first = min(len(question.committed), len(start))
        start[:first] = question.committed[:first] / self._high
        known = asked.kinematics, asked.temps, asked.location, self._previous, start
        status, count = solve_tick(*self._fixed, known, first, self._warm, *self._work)
        found = self._double[1]
        return Solution(
            plan=found[6] * self._high,
            predicted=found[7].copy(),
            status=STATUSES[status],
            iterations=count,
            solve_s=perf_counter() - began,
        )


def _make_qp(n: int) -> tuple[NDArray[np.float64] | NDArray[np.int64], ...]:
    """Memory of the QP over n moves and 2n rows at most, and the kinks."""
    m = 2 * n + KINKS
    real = (*((m, n), (4, m)), *((n + 1, n), (n, n + 1)), *((n, n), (10, m)))
    return *(np.zeros(shape) for shape in real), np.zeros(n + 1, np.int64), np.zeros(m, np.int64)
