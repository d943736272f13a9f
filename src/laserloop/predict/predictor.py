"""What every predictor answers to: a physics model, a network, or a rollout of the plant itself.

N  horizon, ticks      d  ticks since the moment a forecast starts from      T̂  T_max at the end of each tick
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.path import Preview
from laserloop.plant.camera import Image

FloatArray = NDArray[np.float64]


class Forecast(Protocol):
    """What a predictor believes at one tick: the temperatures that any plan leads to.

    A plan has N powers, W. It begins at the moment the forecast starts from, with the committed powers.
    """

    @property
    def committed(self) -> FloatArray:
        """(d,), W: the powers given since that moment; the first ones of every plan."""

    @property
    def previous(self) -> float:
        """The power before the plan's first, W."""

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂ (N,), K, of a plan (N,), W; NaN where nothing can be said."""

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂ (N,), K, at a plan and ∂T̂/∂P (N, N), K/W, around it."""


class Predictor(Protocol):
    """Sees what the camera and the scanner see, and forecasts."""

    name: str
    horizon: int  # N, ticks it predicts
    memory: int  # ticks of way and power behind the beam that it wants to see in a preview
    affine: bool  # T̂ is affine in the plan: one QP is exact

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""

    def observe(self, image: Image | None, preview: Preview) -> Forecast | None:
        """The forecast of this tick; None if there is nothing to predict from.

        Called every tick. The image is a new one, perhaps some ticks old, or None if none came; the preview
        holds the powers given since then.
        """


@runtime_checkable
class Aiming(Protocol):
    """A predictor that looks at images near the window only, and takes another one between two ticks."""

    def aim(self, low: float, high: float) -> None:
        """Compare images near this window, K, from now on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AffineForecast:
    """T̂ = T₀ + G P."""

    base: FloatArray  # T₀ (N,), K, without any power
    slopes: FloatArray  # G (N, N), K/W
    previous: float  # W
    committed: FloatArray  # (d,), W

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂, K."""
        return self.base + self.slopes @ plan

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂, K, and G, K/W: the same everywhere."""
        return self.predict(plan), self.slopes


def difference(
    roll: Callable[[FloatArray], FloatArray], plan: FloatArray, nudge: float
) -> tuple[FloatArray, FloatArray]:
    """T̂ (N,) of a plan and its slopes (N, N) by central differences, of plans (n, N) rolled in one batch."""
    n = len(plan)
    nudges = nudge * np.eye(n)
    rolled = roll(np.concatenate((plan[np.newaxis], plan + nudges, plan - nudges)))
    return rolled[0], (rolled[1 : n + 1] - rolled[n + 1 :]).T / (2 * nudge)
