"""Rehearsal: a predictor that asks the plant itself, so no model of it can know better.

T(P) ≈ T(P⁰) + G (P − P⁰), G by rehearsing with one power changed at a time. The slopes of one tick often do
for the next: they are kept until a rehearsal departs from their line.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image

FloatArray = NDArray[np.float64]
Rehearse = Callable[[FloatArray, FloatArray], FloatArray]
"""Powers (n,), W, and positions (n+1, 2), m → T_max (n,), K, as if the plant went there; it does not move."""

NUDGE = 0.25  # W, the change of power by which G is found
AGREED = 0.05  # K, by which a rehearsal may depart from the line


class RehearsalPredictor:
    """Needs no camera. A tick without light is a power of 0 W like any other."""

    name = "oracle"
    memory = 1  # the last power
    affine = False

    def __init__(self, rehearse: Rehearse, horizon: int, highest: float) -> None:
        """`highest`: W, what the laser can give."""
        self.horizon = horizon
        self._rehearse = rehearse
        self._highest = highest
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self.slopes: FloatArray | None = None

    def observe(self, image: Image | None, preview: Preview) -> "RehearsalForecast":
        """What the plant would do from where it is now."""
        return RehearsalForecast(self, preview.ahead[: self.horizon + 1], preview.power)

    def rehearse(self, plan: FloatArray, way: FloatArray) -> FloatArray:
        """T_max at the end of each tick, K."""
        return self._rehearse(plan, way)

    def find_slopes(self, plan: FloatArray, predicted: FloatArray, way: FloatArray) -> FloatArray:
        """∂T_i/∂P_j, K/W."""
        slopes = np.zeros((len(plan), len(plan)))
        for j in range(len(plan)):
            nudge = NUDGE if plan[j] + NUDGE <= self._highest else -NUDGE
            nudged = plan.copy()
            nudged[j] += nudge
            slopes[:, j] = (self._rehearse(nudged, way) - predicted) / nudge
        return slopes


class RehearsalForecast:
    """One tick of a rehearsal; what it learns of the slopes stays with the predictor."""

    committed: FloatArray = np.empty(0)

    def __init__(self, predictor: RehearsalPredictor, way: FloatArray, previous: float) -> None:
        self.previous = previous
        self._predictor = predictor
        self._way = way
        self._last: tuple[FloatArray, FloatArray] | None = None  # a plan and its rehearsal
        self._line: tuple[FloatArray, FloatArray] | None = None  # where the slopes were last used

    def predict(self, plan: FloatArray) -> FloatArray:
        """T_max, K; slopes whose line it departs from are forgotten."""
        predicted = self._recall(plan)
        slopes = self._predictor.slopes
        if self._line is not None and slopes is not None:
            at, base = self._line
            if not np.abs(predicted - (base + slopes @ (plan - at))).max() < AGREED:
                self._predictor.slopes = None
        return predicted

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T_max, K, and its slopes, K/W, if need be by nudging."""
        predicted = self._recall(plan)
        if self._predictor.slopes is None:
            self._predictor.slopes = self._predictor.find_slopes(plan, predicted, self._way)
        self._line = plan, predicted
        return predicted, self._predictor.slopes

    def _recall(self, plan: FloatArray) -> FloatArray:
        """The rehearsal of a plan; the latest is not rehearsed again."""
        if self._last is None or not np.array_equal(self._last[0], plan):
            self._last = plan, self._predictor.rehearse(plan, self._way)
        return self._last[1]
