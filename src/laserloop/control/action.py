"""What a controller answers, and what every controller answers to."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image

FloatArray = NDArray[np.float64]


class Status(StrEnum):
    """How a decision was reached; the value is the sentence shown to people."""

    SOLVED = "solved"
    MENDED = "solved on a mended image: some pixels were not credible"
    STOPPED = "iteration cap reached: best plan so far applied"
    INFEASIBLE = "no plan keeps the upper bound: coolest plan applied"
    BLIND = "no credible new image: planned from the last good one"
    NO_PREDICTION = "the model gave no finite prediction: previous plan shifted by one tick"
    EXHAUSTED = "nothing left to plan with: least power applied"
    LATE = "deadline passed: previous plan shifted by one tick"
    FOLLOWED = "no new plan was due: the last one followed"
    DARK = "the path has the laser off here"
    BARE = "a bare power was answered, without a status"
    NOT_FINITE = "no finite power was answered: least power applied"
    NO_ACTION = "neither an action nor a power was answered: least power applied"
    RAISED = "the controller raised an error: least power applied"
    GONE = "the controller did not answer within its time limit: least power applied"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Action:
    """A decision: the power for the coming tick, and what was thought about the ticks after it."""

    power: float  # W
    status: Status
    plan: FloatArray = field(default_factory=lambda: np.empty(0))  # W, the coming tick first
    predicted: FloatArray = field(default_factory=lambda: np.empty(0))  # K, T_max at the end of each
    iterations: int = 0  # of the solver
    solve_s: float = 0.0  # inside the solver
    margins: tuple[float, float] | None = None  # K, above and below, that this plan kept, if they may change
    window: tuple[float, float] | None = None  # K, low and high, that it aimed at, if that may change


class Controller(Protocol):
    """Two verbs. `act` never raises for what a camera or a plant may do: a bad tick is a status."""

    name: str

    @property
    def horizon(self) -> int:
        """How many ticks of the path it wants to see ahead."""

    @property
    def memory(self) -> int:
        """How many ticks of way and power behind the beam it wants to see."""

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick; None is an image that did not come."""
