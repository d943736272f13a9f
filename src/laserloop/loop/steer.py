"""Changes in mid-run: another window for the controller, another absorptivity for the plate."""

from dataclasses import replace
from typing import Protocol, runtime_checkable

from laserloop.bad_input import BadInput
from laserloop.control.action import Action, Controller
from laserloop.paths.preview import Preview
from laserloop.plant import Image
from laserloop.process.mismatch import HIGHEST, LOWEST


@runtime_checkable
class Aiming(Protocol):
    """A controller that takes another window between two ticks."""

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on."""


class SteeredController:
    """A controller whose window may change; every action says which one it was decided for."""

    def __init__(self, inner: Controller, window: tuple[float, float]) -> None:
        self.inner = inner
        self.name, self.horizon = inner.name, getattr(inner, "horizon", 1)
        self.memory = getattr(inner, "memory", 0)
        self.notes: tuple[str, ...] = getattr(inner, "notes", ())
        self.window = window  # K

    @property
    def aims(self) -> bool:
        """Does the controller look at the window at all? Constant power does not."""
        return isinstance(self.inner, Aiming)

    def set_window(self, low: float, high: float) -> None:
        """What is wanted from the next tick on, K; scores follow it, whether the controller can or not."""
        if isinstance(self.inner, Aiming):
            self.inner.set_window(low, high)
        self.window = low, high

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        if hasattr(self.inner, "reset"):
            self.inner.reset()

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        answer = self.inner.act(image, preview)
        return replace(answer, window=self.window) if isinstance(answer, Action) else answer


class Steering:
    """The wheel of a run: `wrap` and `drift` go into its hooks, the verbs are for who holds it."""

    def __init__(self, window: tuple[float, float]) -> None:
        self.window = window  # K, at the start
        self.absorbed = 1.0  # of what the plate took at the start
        self.controller: SteeredController | None = None

    def wrap(self, controller: Controller) -> Controller:
        """Take hold of a controller."""
        self.controller = SteeredController(controller, self.window)
        return self.controller

    def drift(self, k: int, power: float) -> float:
        """The power that the plate gets, W."""
        return self.absorbed * power

    def aim(self, low: float, high: float) -> None:
        """Another window, K, from the next tick on."""
        if self.controller is not None:
            self.controller.set_window(low, high)
        self.window = low, high

    def absorb(self, factor: float) -> None:
        """Another absorptivity from the next tick on, as a share of what it was at the start."""
        if not LOWEST <= factor <= HIGHEST:
            raise BadInput(
                f"absorptivity may change by a factor of {LOWEST:g} to {HIGHEST:g}, got {factor:g}: change it"
            )
        self.absorbed = factor
