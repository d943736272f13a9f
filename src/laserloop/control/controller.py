"""Controllers: what they answer, what all of them answer to, and which images they believe."""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Real
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from laserloop.control.problem import MpcProblem
from laserloop.paths.path import Preview
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


CREDIBLE = (50.0, 5000.0)  # K; colder or hotter is a broken pixel, not a plate
MOST_MENDED = 0.01  # share of the pixels; an image with more of them broken is refused


def read_answer(answer: object) -> Action:
    """An answer as an action, whatever it is."""
    power: object = answer.power if isinstance(answer, Action) else answer
    if isinstance(power, bool) or not isinstance(power, Real):
        return Action(power=0.0, status=Status.NO_ACTION)
    if not np.isfinite(float(power)):
        return Action(power=0.0, status=Status.NOT_FINITE)
    return answer if isinstance(answer, Action) else Action(power=float(power), status=Status.BARE)


def read_prediction(action: Action) -> float:
    """What an action says of the end of its tick, K; NaN if nothing."""
    try:
        return float(np.ravel(action.predicted)[0])
    except (IndexError, TypeError, ValueError):
        return float("nan")


class Guarded:
    """A controller as a loop asks it: whatever it answers or raises is an action.

    A user's own may do with `act` alone.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        """As people call it."""
        return str(getattr(self.inner, "name", type(self.inner).__name__))

    @property
    def horizon(self) -> int:
        """How many ticks of the path it wants to see ahead."""
        return int(getattr(self.inner, "horizon", 1))

    @property
    def memory(self) -> int:
        """How many ticks behind the beam it wants to see."""
        return int(getattr(self.inner, "memory", 0))

    @property
    def problem(self) -> MpcProblem | None:
        """What it was asked for, if it plans."""
        asked = getattr(self.inner, "problem", None)
        return asked if isinstance(asked, MpcProblem) else None

    @property
    def aims(self) -> bool:
        """Does it take another window on the way? Constant power does not look at it at all."""
        return hasattr(self.inner, "set_window")

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on."""
        self.inner.set_window(low, high)

    def reset(self) -> str:
        """Make it forget; what it raised, if it did."""
        try:
            if hasattr(self.inner, "reset"):
                self.inner.reset()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def decide(self, image: Image | None, preview: Preview) -> tuple[Action, str, float]:
        """Its answer as an action, what it raised, if it did, and how long that took, s."""
        began = perf_counter()
        try:
            answer: object = self.inner.act(image, preview)
            failure = ""
        except Exception as error:  # a user's own controller; a bad tick is data
            answer, failure = (
                Action(power=0.0, status=Status.RAISED),
                f"{type(error).__name__}: {error}",
            )
        wall = perf_counter() - began - getattr(self.inner, "overhead_s", 0.0)  # of reaching it
        return read_answer(answer), failure, max(wall, 0.0)


class ImageValidator:
    """Remembers the last image it saw, so that one that only repeats it is known."""

    def __init__(self, *, mark: bool = False) -> None:
        self._repair = blank if mark else _mend  # of a broken pixel, for those who can do without one: NaN
        self._last: Image | None = None

    def reset(self) -> None:
        """Forget the last image."""
        self._last = None

    def judge(self, image: Image | None) -> tuple[Image | None, bool]:
        """The image to believe, if any, and whether it was mended."""
        if image is None or not math.isfinite(image.time) or self._repeats(image):
            return None, False
        self._last = image
        seen = image.temperature
        if image.peak.temperature <= CREDIBLE[1] and seen.min() >= CREDIBLE[0]:  # both false for NaN
            return image, False
        mended = self._repair(seen)
        return (None, False) if mended is None else (image.with_temperature(mended), True)

    def _repeats(self, image: Image) -> bool:
        """Is it the very same picture, wherever it says that it was taken, and not just of a plate at rest?

        The places of the pixels tell nothing: those of a coaxial camera follow the beam.
        """
        last, seen = self._last, image.temperature
        if last is None or last is image or last.temperature.shape != seen.shape:
            return False
        return bool(np.array_equal(last.temperature, seen) and seen.min() < seen.max())


def blank(temperature: NDArray[np.float64], by: float = np.nan) -> NDArray[np.float64] | None:
    """Broken pixels are replaced by a value; None if too many are."""
    fine = (temperature >= CREDIBLE[0]) & (temperature <= CREDIBLE[1])
    few = np.count_nonzero(fine) >= (1.0 - MOST_MENDED) * temperature.size
    return np.where(fine, temperature, by) if few else None


def _mend(temperature: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Broken pixels take the hottest of their eight neighbours, the safe side; None if too many are."""
    hot = blank(temperature, -np.inf)
    if hot is None:
        return None
    broken = np.argwhere(hot == -np.inf)
    mended = temperature.copy()
    for row, column in broken:
        around = hot[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].max()
        if not np.isfinite(around):
            return None
        mended[row, column] = around
    return mended
