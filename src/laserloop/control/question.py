"""One tick's question to a solver, and its answer."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Status

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """What is known at a tick: the way ahead, the thermal state, the last power, and where to start from."""

    kinematics: FloatArray  # (N_h, 4): position, m, and velocity, m/s, at the start of each tick
    temps: FloatArray  # (1 + N_h,), K: T_max, then the surface now where the beam will be
    location: FloatArray  # (2,), m, where T_max is
    previous: float  # W, the power before the plan's first
    start: FloatArray  # (N_h,), W, a plan to begin the search with
    committed: FloatArray  # (d,), W, first powers of the plan that cannot be changed any more; often none

    def check(self, horizon: int) -> None:
        """Refuse other lengths: compiled code does not look at them again."""
        if (
            self.kinematics.shape != (horizon, 4)
            or self.temps.shape != (horizon + 1,)
            or self.location.shape != (2,)
            or self.start.shape != (horizon,)
        ):
            shapes = self.kinematics.shape, self.temps.shape, self.location.shape, self.start.shape
            raise BadInput(
                f"kinematics, temps, location and start of a question over {horizon} ticks must have the "
                f"shapes ({horizon}, 4), ({horizon + 1},), (2,) and ({horizon},), got {shapes}: correct them"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """A plan and what it leads to. Plans lie inside the power bounds whatever the status."""

    plan: FloatArray  # (N_h,), W
    predicted: FloatArray  # (N_h,), K
    status: Status  # SOLVED, STOPPED, INFEASIBLE or SPEECHLESS
    iterations: int
    solve_s: float  # inside the solver


class Solver(Protocol):
    """Answers one question at a time and never raises for a hard one."""

    name: str

    def reset(self) -> None:
        """Forget what was learned from earlier questions."""

    def solve(self, question: Question) -> Solution:
        """The best plan found."""
