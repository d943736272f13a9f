"""One tick's question to a solver, and its answer."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Status
from laserloop.control.problem import MpcProblem
from laserloop.predict.networks.forecast import NetworkForecast
from laserloop.predict.predictor import Forecast

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """What is believed at a tick, where to start from, and which ticks have light.

    A dark tick has no power, and its temperature does not count. Going dark and coming back are no moves.
    """

    forecast: Forecast
    start: FloatArray  # (N_h,), W, a plan to begin the search with
    lit: BoolArray  # (N_h,), of the plan's ticks
    resumes: bool = False  # the tick before the plan was dark

    @property
    def committed(self) -> FloatArray:
        """(d,), W, first powers of the plan that cannot be changed any more; often none."""
        return self.forecast.committed

    @property
    def previous(self) -> float:
        """The power before the plan's first, W."""
        return self.forecast.previous

    @property
    def free(self) -> BoolArray:
        """(N_h,): ticks whose power can be chosen; the temperatures of the others do not count."""
        return self.lit & (np.arange(len(self.lit)) >= len(self.committed))

    @property
    def moves(self) -> BoolArray:
        """(N_h,): ticks whose power is a move away from the one before, with light in both."""
        return self.lit & np.concatenate(([not self.resumes], self.lit[:-1]))

    def settle(self, plan: FloatArray, power: tuple[float, float]) -> FloatArray:
        """A plan inside the power bounds with what is committed and dark put in; what is no number is 0 W."""
        count = min(len(self.committed), len(plan))
        settled = np.clip(np.nan_to_num(plan), *power)
        settled[:count] = np.clip(np.nan_to_num(self.committed[:count]), *power)
        settled[~self.lit & (np.arange(len(plan)) >= count)] = 0.0
        return settled

    def network(self, horizon: int) -> NetworkForecast:
        """The forecast, for solvers that know only networks; others and other lengths are refused."""
        known = self.forecast
        if not isinstance(known, NetworkForecast):
            raise BadInput(f"this solver plans with networks only, got a {type(known).__name__}: use sqp")
        shapes = known.kinematics.shape, known.temps.shape, known.location.shape, self.start.shape
        if shapes != ((horizon, 4), (horizon + 1,), (2,), (horizon,)):
            raise BadInput(
                f"kinematics, temps, location and start of a question over {horizon} ticks must have the "
                f"shapes ({horizon}, 4), ({horizon + 1},), (2,) and ({horizon},), got {shapes}: correct them"
            )
        return known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """A plan and what it leads to. Plans always lie inside the power bounds, dark ticks at 0 W."""

    plan: FloatArray  # (N_h,), W
    predicted: FloatArray  # (N_h,), K
    status: Status  # SOLVED, STOPPED, INFEASIBLE or NO_PREDICTION
    iterations: int
    solve_s: float  # inside the solver


class Solver(Protocol):
    """Answers one question at a time and never raises for a hard one."""

    name: str

    def reset(self) -> None:
        """Forget what was learned from earlier questions."""

    def solve(self, question: Question) -> Solution:
        """The best plan found."""


@runtime_checkable
class Adjusting(Solver, Protocol):
    """A solver that takes another window between two questions."""

    def set_problem(self, problem: MpcProblem) -> None:
        """Solve this from now on; only window and margins may differ."""
