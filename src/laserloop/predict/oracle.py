"""Plant rollout: a predictor that asks the plant itself, so no model of it can know better.

T(P) ≈ T(P⁰) + G (P − P⁰), G by rollouts with one power changed at a time. The slopes of one tick often do
for the next: they are kept until a rollout departs from their line. T is that of the hottest place of all:
after a jump it may be the one left behind, which no small change of power outshines. A larger one may.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.path import Preview
from laserloop.plant.camera import Image

FloatArray = NDArray[np.float64]
RollPlant = Callable[[FloatArray, FloatArray], FloatArray]
"""Powers (n,), W, and positions (n+1, 2), m → T_max (n,), K, as if the plant went there; it does not move."""

NUDGE = 0.25  # W, the change of power by which G is found
GROWTH = 4.0  # of a change that changed nothing
FLAT = 0.1  # K/W, of a tick's own power; a beam that is seen heats by tens
AGREED = 0.05  # K, by which a rollout may depart from the line


class PlantRollout:
    """Needs no camera. A tick without light is a power of 0 W like any other."""

    name = "oracle"
    memory = 1  # the last power
    affine = False

    def __init__(self, roll: RollPlant, horizon: int, highest: float) -> None:
        """`highest`: W, what the laser can give."""
        self.horizon = horizon
        self._roll = roll
        self._highest = highest
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self.slopes: FloatArray | None = None

    def observe(self, image: Image | None, preview: Preview) -> "PlantRolloutForecast":
        """What the plant would do from where it is now."""
        return PlantRolloutForecast(self, preview.ahead[: self.horizon + 1], preview.power)

    def roll(self, plan: FloatArray, way: FloatArray) -> FloatArray:
        """T_max at the end of each tick, K."""
        return self._roll(plan, way)

    def find_slopes(self, plan: FloatArray, predicted: FloatArray, way: FloatArray) -> FloatArray:
        """∂T_i/∂P_j, K/W."""
        return np.column_stack([self._find_effect(plan, j, predicted, way) for j in range(len(plan))])

    def _find_effect(self, plan: FloatArray, j: int, predicted: FloatArray, way: FloatArray) -> FloatArray:
        """∂T/∂P_j, K/W: of a small change, or of one as large as it takes to be seen."""
        room = self._highest - plan[j]
        nudge = NUDGE if room >= NUDGE else -NUDGE
        while True:
            nudged = plan.copy()
            nudged[j] += nudge
            effect: FloatArray = (self._roll(nudged, way) - predicted) / nudge
            if abs(effect[j]) >= FLAT or not 0.0 < nudge < room:
                return effect
            nudge = min(GROWTH * nudge, room)


class PlantRolloutForecast:
    """One tick; what it learns of the slopes stays with the predictor."""

    committed: FloatArray = np.empty(0)

    def __init__(self, predictor: PlantRollout, way: FloatArray, previous: float) -> None:
        self.previous = previous
        self._predictor = predictor
        self._way = way
        self._last: tuple[FloatArray, FloatArray] | None = None  # a plan and its rollout
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
        predicted, slopes = self._recall(plan), self._predictor.slopes
        if slopes is None:
            slopes = self._predictor.find_slopes(plan, predicted, self._way)
            self._predictor.slopes = slopes if (np.abs(np.diag(slopes)) >= FLAT).all() else None
        self._line = plan, predicted
        return predicted, slopes

    def _recall(self, plan: FloatArray) -> FloatArray:
        """The rollout of a plan; the latest is not made again."""
        if self._last is None or not np.array_equal(self._last[0], plan):
            self._last = plan, self._predictor.roll(plan, self._way)
        return self._last[1]
