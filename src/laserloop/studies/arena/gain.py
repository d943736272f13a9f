"""One input gain for any predictor: how much more heats the plate than it was trained with, from innovations.

g  gain, random walk      P  power, W      T̂(g P)  what the predictor says of powers times g
s = g Σ_j ∂T̂/∂P_j P_j / g, K        what a share of the gain changes in the peak of a tick
T − T̂ = s δg + noise                 a scalar Kalman filter in each tick of which an image comes

The twin has such a gain of its own. Forecasts are kept until an image of a tick that they foresaw has come,
and asked again with the powers that were given; the longest lead says most.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from laserloop.control import Preview
from laserloop.plant import Image
from laserloop.predict import Forecast, Predictor

FloatArray = NDArray[np.float64]

PRIOR = 0.1  # standard deviation of g at the start; of an absorptivity that nobody measured
WALK = 0.003  # by which g may change in a tick
ROUGH = 4.0  # K, the predictor's own error over its horizon
LOW, HIGH = 0.5, 2.0  # of g
MOST = 3.0  # standard deviations that one reading may tell
FLAT = 20.0  # K; where the gain changes less, nothing is learned


@dataclass(frozen=True, slots=True, eq=False)
class ScaledForecast:
    """A forecast in powers of the laser, from one in powers times a gain."""

    inner: Forecast
    gain: float
    committed: FloatArray
    previous: float

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂, K."""
        return self.inner.predict(self.gain * plan)

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂, K, and its slopes, K/W."""
        predicted, slopes = self.inner.linearise(self.gain * plan)
        return predicted, self.gain * slopes


class GainPredictor:
    """A predictor that is told powers times the gain that images show."""

    def __init__(self, inner: Predictor, noise: float) -> None:
        self._inner, self._noise = inner, noise
        self.name, self.horizon, self.affine = inner.name, inner.horizon, inner.affine
        self.memory = max(inner.memory, 4 * inner.horizon)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._inner.reset()
        self.gain, self._variance = 1.0, PRIOR**2
        self._kept: dict[int, Forecast] = {}  # by the tick that it begins with
        self._seen = -1.0

    def observe(self, image: Image | None, preview: Preview) -> ScaledForecast | None:
        """The forecast of this tick; a new image is compared with what was foreseen of its tick."""
        now = round(preview.time / preview.tick)
        self._variance += WALK**2
        if image is not None and image.time != self._seen and np.isfinite(image.peak.temperature):
            self._seen = image.time
            self._learn(round(image.time / preview.tick), now, image.peak.temperature, preview)
        forecast = self._inner.observe(image, replace(preview, powers=self.gain * preview.powers))
        if forecast is None:
            return None
        past = len(forecast.committed)
        self._kept[now - past] = forecast
        self._kept = {tick: kept for tick, kept in self._kept.items() if tick > now - 3 * self.horizon}
        given = np.concatenate(([preview.power], preview.powers))[-past - 1 :]
        return ScaledForecast(forecast, self.gain, given[1:], float(given[0]))

    def _learn(self, tick: int, now: int, peak: float, preview: Preview) -> None:
        """From the peak at the end of a tick, by the forecast that foresaw it longest."""
        begun = [start for start in self._kept if start < tick <= start + self.horizon]
        first = min(begun, default=now)
        powers = preview.powers[len(preview.powers) - (now - first) :] if first < now else np.empty(0)
        if len(powers) < tick - first or first >= now or not powers[: tick - first].all():
            return
        plan = np.resize(powers, self.horizon)
        predicted, slopes = self._kept[first].linearise(self.gain * plan)
        lead = tick - first - 1
        change = float(slopes[lead, : lead + 1] @ plan[: lead + 1])  # K, of the whole gain
        if not np.isfinite(predicted[lead]) or abs(change) < FLAT:
            return
        expected = change**2 * self._variance + self._noise**2 + ROUGH**2
        believed, most = change * self._variance / expected, MOST * float(np.sqrt(expected))
        innovation = float(np.clip(peak - predicted[lead], -most, most))
        self.gain = float(np.clip(self.gain + believed * innovation, LOW, HIGH))
        self._variance *= 1.0 - believed * change
