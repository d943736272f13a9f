"""The oracle: plans on the plant itself, so no controller with a model of it can do better.

T(P) ≈ T(P⁰) + G (P − P⁰), G by rehearsing the plant with one power changed at a time; then a QP, again until
the rehearsal agrees with the line.
"""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from laserloop.control.action import Action, Status
from laserloop.control.plan_qp import PlanQp
from laserloop.control.problem import MpcProblem
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image

FloatArray = NDArray[np.float64]
Rehearse = Callable[[FloatArray, FloatArray], FloatArray]
"""Powers (n,), W, and positions (n+1, 2), m → T_max (n,), K, as if the plant went there; it does not move."""

NUDGE = 0.25  # W, the change of power by which G is found
AGREED = 0.05  # K, rehearsal against line; the plan keeps as far from both ends of the window
MOST_ROUNDS = 6


class OracleController:
    """Needs no camera: it asks the plant what would happen."""

    name = "oracle"

    def __init__(self, rehearse: Rehearse, problem: MpcProblem) -> None:
        self.problem = problem
        self._rehearse = rehearse
        self._qp = PlanQp(
            replace(
                problem,
                margin_above=problem.margin_above + AGREED,
                margin_below=problem.margin_below + AGREED,
            )
        )
        self.reset()

    @property
    def horizon(self) -> int:
        """How many ticks of the path it wants to see ahead."""
        return self.problem.horizon

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._plan = np.full(self.horizon, 0.5 * sum(self.problem.power))
        self._slopes: FloatArray | None = None

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        began = perf_counter()
        way = preview.ahead[: self.horizon + 1]
        plan, predicted = self._plan, self._rehearse(self._plan, way)
        slopes, status = self._slopes, Status.STOPPED  # those of the tick before often do
        for rounds in range(1, MOST_ROUNDS + 1):  # noqa: B007 (told in the action)
            if slopes is None:
                slopes = self._find_slopes(plan, predicted, way)
            better = self._qp.solve(plan, predicted, slopes, preview.power)
            line = predicted + slopes @ (better - plan)
            plan, predicted = better, self._rehearse(better, way)
            if np.abs(predicted - line).max() < AGREED:
                status = Status.SOLVED if predicted.max() <= self.problem.ceiling else Status.INFEASIBLE
                break
            slopes = None
        self._slopes = slopes
        self._plan = np.append(plan[1:], plan[-1])
        return Action(
            power=float(plan[0]),
            status=status,
            plan=plan,
            predicted=predicted,
            iterations=rounds,
            solve_s=perf_counter() - began,
        )

    def _find_slopes(self, plan: FloatArray, predicted: FloatArray, way: FloatArray) -> FloatArray:
        """∂T_i/∂P_j, K/W."""
        slopes = np.zeros((len(plan), len(plan)))
        for j in range(len(plan)):
            nudge = NUDGE if plan[j] + NUDGE <= self.problem.power[1] else -NUDGE
            nudged = plan.copy()
            nudged[j] += nudge
            slopes[:, j] = (self._rehearse(nudged, way) - predicted) / nudge
        return slopes
