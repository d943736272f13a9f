"""A network with a memory in the loop: from the last image on, the powers since then are part of the plan."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image
from laserloop.predict.learned.memory_net import MemoryNet
from laserloop.predict.learned.surroundings import HISTORY, HORIZON, look_around
from laserloop.predict.predictor import AffineForecast, Forecast
from laserloop.process import Process

FloatArray = NDArray[np.float64]

NUDGE = 0.01  # W to each side, by which slopes are found
PROBE = 10.0  # W, of each tick in turn: an affine network is known after one batch
NOISY = 0.5  # share by which a noisy peak replaces what was foreseen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryForecast:
    """The surroundings of one tick; the powers are all that is left open."""

    features: FloatArray  # (features,)
    committed: FloatArray  # (d,), W
    previous: float  # W
    model: MemoryNet = field(repr=False)
    room: float = 0.0  # K from the window's middle to its top; of a network with quantiles

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂, K."""
        return np.asarray(self._roll(plan[np.newaxis])[0])

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂, K, and its slopes, K/W, by differences from one batch."""
        n = len(plan)
        nudges = NUDGE * np.eye(n)
        found = self._roll(np.concatenate((plan[np.newaxis], plan + nudges, plan - nudges)))
        return found[0], (found[1 : n + 1] - found[n + 1 :]).T / (2 * NUDGE)

    def _roll(self, plans: FloatArray) -> FloatArray:
        """T̂ (n, N) of plans (n, N).

        With quantiles it is the median, or more where the upper one would pass the window's top while the
        median is at its middle.
        """
        found = self.model.predict(plans, np.broadcast_to(self.features, (len(plans), len(self.features))))
        if not self.model.net.quantiles:
            return found
        median, upper = found[:, :HORIZON], found[:, HORIZON:]
        return np.maximum(median, upper - self.room)


class MemoryPredictor:
    """Keeps the last peaks; ticks without an image have what was foreseen for them."""

    horizon = HORIZON

    def __init__(self, model: MemoryNet, process: Process) -> None:
        self.name: str = model.net.name
        self.affine = model.net.affine
        self.memory = HISTORY + HORIZON
        self.model = model
        self._process = process
        self._room = 0.5 * (process.window[1] - process.window[0])
        self._believe = NOISY if process.camera.noise > 0.0 else 1.0
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._image: Image | None = None
        self._peaks: dict[int, float] = {}  # K, by tick, seen or foreseen
        self._last: Forecast | None = None
        self._from = 0  # tick, at which it started

    def observe(self, image: Image | None, preview: Preview) -> Forecast | None:
        """From the latest image; one that is older than the horizon is taken for one that is not quite."""
        now = round(preview.time / preview.tick)
        self._foresee(preview, now)
        if image is not None:
            self._take(image, now, preview)
        if self._image is None:
            return None
        age = min(max(preview.age(self._image.time), 0), HORIZON - 1, len(preview.powers))
        then = preview.rewound(age)
        peaks = np.array([self._peaks.get(now - age - k, np.nan) for k in range(HISTORY)])
        known = np.isfinite(peaks)
        heat = peaks if known.all() else peaks[: int(np.argmin(known))]
        self._last = self._forecast(
            look_around(self._image, then, heat, self._process.beam.sigma),
            preview.powers[len(preview.powers) - age :],
            then.power,
        )
        self._from = now - age
        return self._last

    def _take(self, image: Image, now: int, preview: Preview) -> None:
        """Remember a peak, drawn to what was foreseen of it if the camera is noisy."""
        self._image = image
        tick = now - preview.age(image.time)
        seen = image.peak.temperature
        foreseen = self._peaks.get(tick, seen)
        self._peaks[tick] = foreseen + self._believe * (seen - foreseen)

    def _foresee(self, preview: Preview, now: int) -> None:
        """What the last forecast said of the ticks since then, under the powers that were given."""
        past = now - self._from
        if self._last is None or not 0 < past <= min(HORIZON, len(preview.powers)):
            return
        plan = np.zeros(HORIZON)
        plan[:past] = preview.powers[len(preview.powers) - past :]
        for k, peak in enumerate(self._last.predict(plan)[:past]):
            self._peaks[self._from + 1 + k] = float(peak)
        self._peaks = {tick: peak for tick, peak in self._peaks.items() if tick > now - self.memory}

    def _forecast(self, features: FloatArray, committed: FloatArray, previous: float) -> Forecast:
        if not self.affine:
            return MemoryForecast(
                features=features,
                committed=committed,
                previous=previous,
                model=self.model,
                room=self._room,
            )
        plans = np.concatenate((np.zeros((1, HORIZON)), PROBE * np.eye(HORIZON)))
        found = self.model.predict(plans, np.broadcast_to(features, (len(plans), len(features))))
        return AffineForecast(
            base=found[0],
            slopes=(found[1:] - found[0]).T / PROBE,
            previous=previous,
            committed=committed,
        )
