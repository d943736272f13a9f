"""The realtime solver: the same nonlinear program as `ipopt`, by the compiled C where there is a compiler."""

import numpy as np
from numpy.typing import DTypeLike

from laserloop.control.problem import Adjusting, MpcProblem, Question, Solution
from laserloop.control.sqp import SqpSolver
from laserloop.native.build import NoCompiler
from laserloop.native.engine import CEngine
from laserloop.native.network import check_packable
from laserloop.native.render import ITERATIONS
from laserloop.predict.model import Model
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

RATIO = 50  # of medians over 360 ticks of closed loops, 1.5 ms in NumPy and 31 µs in C; hard ticks more


class RealtimeSolver:
    """Answers in tens of microseconds; without a compiler, by the readable SQP, about RATIO times later."""

    name = "realtime"

    def __init__(
        self,
        model: Model,
        problem: MpcProblem,
        *,
        max_iterations: int = ITERATIONS,
        dtype: DTypeLike = np.float32,  # of the network in C; the QP is always double
    ) -> None:
        check_packable(model, problem)
        self.notes: tuple[str, ...] = ()  # what a person should know of this run
        self._solver: Adjusting
        try:
            self._solver = CEngine(model, problem, max_iterations=max_iterations, dtype=dtype)
        except NoCompiler as missing:
            self._solver = SqpSolver(problem, max_iterations=max_iterations)
            self.notes = (
                f"realtime answers by its slow NumPy solver, since there is no compiled one ({missing}); "
                f"with a C compiler it would answer about {RATIO} times faster",
            )
        self.compiled = isinstance(self._solver, CEngine)
        self._warm_up(model, problem)

    def reset(self) -> None:
        """Forget what was learned from earlier questions."""
        self._solver.reset()

    def set_problem(self, problem: MpcProblem) -> None:
        """Solve this from now on; only window and margins may differ."""
        self._solver.set_problem(problem)

    def solve(self, question: Question) -> Solution:
        """The best plan found."""
        return self._solver.solve(question)

    def _warm_up(self, model: Model, problem: MpcProblem) -> None:
        """Load what is needed before the first tick, not in it."""
        n = problem.horizon
        known = WindowForecast(
            kinematics=np.zeros((n, 4)),
            temps=np.full(1 + n, 300.0),
            location=np.zeros(2),
            previous=0.0,
            committed=np.empty(0),
            model=model,
            folder=Folding(model, smoothing=SMOOTHING),
        )
        middle = np.full(n, 0.5 * sum(problem.power))
        self.solve(Question(forecast=known, start=middle, lit=np.ones(n, np.bool_)))
        self.reset()
