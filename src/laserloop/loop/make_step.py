"""Between laserloop's controllers and do-mpc's verb: `make_step(x0)`, a state in, an input (1, 1) out.

Neither needs the other to be installed: anything with `make_step` will do.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Action, Controller, Status
from laserloop.control.validator import ImageValidator
from laserloop.loop.rig import bound, look_ahead
from laserloop.loop.run import decide, reset
from laserloop.paths import ScanPath
from laserloop.paths.preview import Preview
from laserloop.plant import Image, Surface
from laserloop.plant.camera import develop

FloatArray = NDArray[np.float64]
Describe = Callable[[Image, Preview], ArrayLike]
"""The state that a planner asks for, from what a laserloop controller sees."""


class MakesSteps(Protocol):
    """As much of do-mpc's MPC as is needed."""

    def make_step(self, x0: Any) -> Any:
        """The input for the coming step."""


class StepController:
    """A laserloop controller on its way along a path, for loops written for do-mpc.

    Its state x0 is the camera's image, K: len(y) · len(x) numbers in any shape, or None if no image came.
    """

    def __init__(
        self,
        controller: Controller,
        path: ScanPath,
        x: ArrayLike,
        y: ArrayLike,
        *,
        power: tuple[float, float],
    ) -> None:
        """`x` and `y`: where the columns and rows of pixels are, m; `power`: the laser's limits, W."""
        self.controller, self._path, self._bounds = controller, path, power
        self._x, self._y = np.array(x, np.float64), np.array(y, np.float64)
        self.reset()

    def reset(self) -> None:
        """Back to the start of the path, on a plate at rest."""
        if failure := reset(self.controller):
            raise BadInput(f"the controller's reset raised {failure}: correct it")
        self.powers: list[float] = []  # W, of all steps so far
        self.last: Action | None = None  # the whole answer behind the last step

    def make_step(self, x0: ArrayLike | None, *, age: int = 0) -> FloatArray:
        """(1, 1): the power of the coming tick, W; `age`: ticks since the image was taken."""
        k = len(self.powers)
        if k >= len(self._path):
            raise BadInput(f"the path {self._path.name} has ended after {k} steps: reset the controller")
        horizon, memory = getattr(self.controller, "horizon", 1), getattr(self.controller, "memory", 0)
        preview = look_ahead(self._path, k, self.powers, horizon, memory)
        image = None if x0 is None else self._develop(x0, (k - age) * self._path.tick)
        self.last, _ = decide(self.controller, image, preview)
        self.powers.append(bound(self.last.power, self._bounds) if self._path.lit[k] else 0.0)
        return np.array([[self.powers[-1]]])

    def _develop(self, x0: ArrayLike, time: float) -> Image:
        T = np.asarray(x0, np.float64)
        if T.size != len(self._x) * len(self._y):
            raise BadInput(
                f"a state must have {len(self._y)} · {len(self._x)} temperatures, K, one for each pixel, got "
                f"{T.size}: give the whole image"
            )
        seen = Surface(self._x, self._y, T.reshape(len(self._y), len(self._x)), time)
        return develop(seen, sampling="smooth", subgrid=True)


class MakeStepController:
    """Anything with `make_step`, such as do-mpc's MPC, as a laserloop controller."""

    def __init__(
        self,
        planner: MakesSteps,
        describe: Describe | None = None,
        *,
        name: str = "make-step",
        horizon: int = 1,
        memory: int = 0,
    ) -> None:
        """`describe`: the planner's state from image and preview; the peak of the image, K, unless given.

        `horizon` and `memory`: ticks of the way ahead and behind that the preview has.
        """
        self.name, self.horizon, self.memory = name, horizon, memory
        self._planner, self._describe = planner, describe or _take_peak
        self._validator = ImageValidator()
        self._state: FloatArray | None = None

    def reset(self) -> None:
        """Forget; a planner of do-mpc forgets its history, too."""
        self._state = None
        self._validator.reset()
        if hasattr(self._planner, "reset_history"):
            self._planner.reset_history()

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick; without a credible image by the last state."""
        good, mended = self._validator.judge(image)
        if good is not None:
            state = np.asarray(self._describe(good, preview), np.float64).reshape(-1, 1)
            if self._state is None and hasattr(self._planner, "set_initial_guess"):
                self._planner.x0 = state  # type: ignore[attr-defined]
                self._planner.set_initial_guess()
            self._state = state
        if self._state is None:
            return Action(power=0.0, status=Status.EXHAUSTED)
        answer = np.asarray(self._planner.make_step(self._state), np.float64).ravel()
        if answer.size != 1 or not np.isfinite(answer[0]):
            return Action(power=0.0, status=Status.NOT_FINITE)
        status = Status.BLIND if good is None else Status.MENDED if mended else Status.SOLVED
        return Action(power=float(answer[0]), status=status)


def _take_peak(image: Image, preview: Preview) -> ArrayLike:
    return [image.peak.temperature]
