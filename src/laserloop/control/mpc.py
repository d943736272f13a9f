"""The receding-horizon controller: see, forecast, ask a solver, give the first power of its plan."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, ImageValidator, Status
from laserloop.control.problem import Adjusting, MpcProblem, Question, Solution, Solver
from laserloop.control.sqp import SqpSolver
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.predict.predictor import Aiming, Forecast, Predictor

FloatArray = NDArray[np.float64]

ONE_QP, FEW_QPS = 1, 4  # rounds: for an affine predictor, for which one is exact, and for others


class MpcController:
    """Any predictor and any solver in the paper's loop.

    A forecast may start from an image that is some ticks old: the powers given since then are the first ones
    of the plan and cannot be changed any more, so the predictor itself rolls the delay forward.
    """

    def __init__(
        self,
        predictor: Predictor,
        solver: Solver,
        problem: MpcProblem,
        *,
        compensate: bool = True,  # False: the last good image is taken for one of now
        resume: bool = False,  # start each search from the rest of the last plan, not from the last power
        until_dark: bool = False,  # a plan ends where the laser goes off: nothing is heated for later lines
        name: str | None = None,  # instead of the solver's
        notes: tuple[str, ...] = (),  # what a reader of a run should know
    ) -> None:
        if predictor.horizon != problem.horizon:
            raise BadInput(
                f"the problem must have the predictor's horizon of {predictor.horizon} ticks, "
                f"got {problem.horizon}: change one of the two"
            )
        self.name = name or solver.name
        self.notes = (*notes, *getattr(solver, "notes", ()))
        self.problem = self._built = problem
        self.horizon = problem.horizon
        self.memory = max(1, predictor.memory)  # the last power at least
        self._predictor = predictor
        self.solver = solver
        self._compensate = compensate
        self._resume = resume
        self._until_dark = until_dark
        self._validator = ImageValidator(mark=getattr(predictor, "skips_pixels", False))
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._predictor.reset()
        self.solver.reset()
        self._validator.reset()
        self._image: Image | None = None  # the last good one
        self._plan = np.empty(0)  # W, for the coming ticks

    @property
    def predictor(self) -> Predictor:
        """What it plans with."""
        return self._predictor

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on."""
        if not isinstance(self.solver, Adjusting):
            raise BadInput(f"{self.name} keeps the window that it was built with: start it anew")
        self.problem = self._built.aim((low, high))
        self.solver.set_problem(self.problem)
        if isinstance(self._predictor, Aiming):
            self._predictor.aim(low, high)

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        good, mended = self._validator.judge(image)
        forecast = self._predictor.observe(self._stamp(good, preview), preview)
        if forecast is None:
            return self._finish(preview)
        answer = self.solver.solve(self._ask(forecast, preview))
        if answer.status is Status.NO_PREDICTION:
            return self._shift(answer, preview)
        status = answer.status
        unused = good is None or getattr(self._predictor, "unused", False)
        if status is Status.SOLVED and (unused or mended):
            status = Status.BLIND if unused else Status.MENDED
        past = len(forecast.committed)
        self._plan = answer.plan[past + 1 :]
        return Action(
            power=float(answer.plan[past]),
            status=status,
            plan=answer.plan[past:],
            predicted=answer.predicted[past:],
            iterations=answer.iterations,
            solve_s=answer.solve_s,
        )

    def _stamp(self, good: Image | None, preview: Preview) -> Image | None:
        """The image as the predictor is told of it."""
        if self._compensate:
            return good
        self._image = good or self._image
        return None if self._image is None else replace(self._image, time=preview.time)

    def _ask(self, forecast: Forecast, preview: Preview) -> Question:
        """The question of this tick; the search begins with what was given, then the last power held."""
        past = len(forecast.committed)
        then = preview.rewound(past)
        coming = np.full(self.horizon - past, self._nominal(preview))
        lit = then.lit[: self.horizon]
        if self._resume:
            if len(self._plan):
                count = min(len(self._plan), len(coming))
                coming[:count], coming[count:] = self._plan[:count], self._plan[-1]
            dark = lit[past:] & ~(coming > self.problem.power[0])  # and without light there is no peak
            coming[dark] = 0.5 * sum(self.problem.power)
        return Question(
            forecast=forecast,
            start=np.concatenate((forecast.committed, coming)),
            lit=np.logical_and.accumulate(lit) if self._until_dark and lit[0] else lit,
            resumes=bool(len(then.was_lit) and not then.was_lit[-1]),
        )

    def _nominal(self, preview: Preview) -> float:
        """Where the search begins, as in the paper: the last power, held; at first the middle of all."""
        low, high = self.problem.power
        return min(max(preview.power, low), high) if len(preview.powers) else 0.5 * (low + high)

    def _shift(self, answer: Solution, preview: Preview) -> Action:
        """Go on with the previous plan when the predictor says nothing."""
        if not len(self._plan):
            return self._finish(preview)
        plan, self._plan = self._plan, self._plan[1:]
        return Action(power=float(plan[0]), status=answer.status, plan=plan, solve_s=answer.solve_s)

    def _finish(self, preview: Preview) -> Action:
        """There is no plan: as little as the laser gives, nothing in a dark tick."""
        self._plan = np.empty(0)
        return Action(power=self.problem.power[0] if preview.lit[0] else 0.0, status=Status.EXHAUSTED)


def plan_with(
    predictor: Predictor, problem: MpcProblem, *, name: str | None = None, search: bool = False
) -> MpcController:
    """Any predictor's plan over its own horizon, with little search or with as much as helps."""
    own = replace(problem, horizon=predictor.horizon)
    few = SqpSolver(own, max_iterations=ONE_QP if predictor.affine else FEW_QPS, halvings=0)
    solver = SqpSolver(own) if search else few
    return MpcController(predictor, solver, own, resume=True, until_dark=True, name=name or predictor.name)
