"""The receding-horizon controller: see, ask a solver, give the first power of its plan, remember the rest."""

import numpy as np
from numpy.typing import NDArray

from laserloop.control.action import Action, Status
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution, Solver
from laserloop.control.validator import Sight
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image

FloatArray = NDArray[np.float64]


class MpcController:
    """Any solver in the paper's loop.

    An image that is some ticks old is planned from as it is: the powers given since then are the first ones
    of the plan and cannot be changed any more, so the model itself rolls the delay forward.
    """

    def __init__(self, solver: Solver, problem: MpcProblem, *, compensate: bool = True) -> None:
        self.name = solver.name
        self.problem = problem
        self._solver = solver
        self._compensate = compensate  # False: every image is taken for one of now
        self._sight = Sight()
        self.reset()

    @property
    def horizon(self) -> int:
        """How many ticks of the path it wants to see ahead."""
        return self.problem.horizon

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._solver.reset()
        self._sight.reset()
        self._image: Image | None = None  # the last good one
        self._plan = np.empty(0)  # W, for the coming ticks

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        good, mended = self._sight.judge(image)
        self._image = good or self._image
        question = self._ask(preview)
        if question is None:
            return self._finish(Status.EXHAUSTED)
        answer = self._solver.solve(question)
        if answer.status is Status.SPEECHLESS:
            return self._shift(answer)
        status = answer.status
        if status is Status.SOLVED and (good is None or mended):
            status = Status.MENDED if mended else Status.BLIND
        past = len(question.committed)
        self._plan = answer.plan[past + 1 :]
        return Action(
            power=float(answer.plan[past]),
            status=status,
            plan=answer.plan[past:],
            predicted=answer.predicted[past:],
            iterations=answer.iterations,
            solve_s=answer.solve_s,
        )

    def _ask(self, preview: Preview) -> Question | None:
        """The question of this tick, or None if the last good image is too old to plan from."""
        image = self._image
        if image is None:
            return None
        age = preview.age(image.time) if self._compensate else 0
        if not 0 <= age < self.horizon or age > len(preview.powers):
            return None
        then, committed = preview.rewound(age), preview.powers[len(preview.powers) - age :]
        places = then.ahead[1 : self.horizon + 1]
        temps = np.concatenate(([image.peak.temperature], image.sample(places)))
        return Question(
            kinematics=then.kinematics(self.horizon),
            temps=temps,
            location=np.array([image.peak.x, image.peak.y]),
            previous=then.power,
            start=np.concatenate((committed, np.full(self.horizon - age, self._nominal(preview)))),
            committed=committed,
        )

    def _nominal(self, preview: Preview) -> float:
        """Where the search begins, as in the paper: the last power, held; at first the middle of all."""
        low, high = self.problem.power
        return min(max(preview.power, low), high) if len(preview.powers) else 0.5 * (low + high)

    def _shift(self, answer: Solution) -> Action:
        """Go on with the previous plan when the model says nothing."""
        if not len(self._plan):
            return self._finish(Status.EXHAUSTED)
        plan, self._plan = self._plan, self._plan[1:]
        return Action(power=float(plan[0]), status=answer.status, plan=plan, solve_s=answer.solve_s)

    def _finish(self, status: Status) -> Action:
        self._plan = np.empty(0)
        return Action(power=self.problem.power[0], status=status)
