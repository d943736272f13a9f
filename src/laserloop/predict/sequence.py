"""Networks with a history in the loop, and what they see at a tick.

L  ticks of history      N  ticks of horizon      ξ  where the beam is

    T_max now and before (L), K      powers that led there (L), W      ξ of the last L ticks from here (2L), σ
    ξ of the coming N ticks (2N), σ      T where it will be (N), K      T on a patch around the beam, K

All is seen along the heading, so that no place is special. From the last image on, the powers since then are
part of the plan.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from laserloop.data.store import COLUMNS, PATCH_SIZE, PATCH_SPACING
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.predict.model import Model
from laserloop.predict.networks import HISTORY, HORIZON, FloatArray
from laserloop.predict.predictor import AffineForecast, Forecast, difference
from laserloop.predict.twin.heat import find_headings
from laserloop.process import Process

NUDGE = 0.01  # W to each side, by which slopes are found
PROBE = 10.0  # W, of each tick in turn: an affine network is known after one batch
NOISY = 0.5  # share by which a noisy peak replaces what was foreseen
AMBIENT = 293.15  # K, of ticks before the first
PLACE = {name: i for i, name in enumerate(COLUMNS)}


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """n ticks: plans (n, N), W, features (n, features), what came of them (n, N), K, and the episode."""

    plans: FloatArray
    features: FloatArray
    target: FloatArray
    episode: NDArray[np.int64]

    def take(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> "Sequences":
        """Some of the ticks."""
        return Sequences(self.plans[chosen], self.features[chosen], self.target[chosen], self.episode[chosen])


def read_record(record: FloatArray, sigma: float, *, episode: int = 0, stride: int = 1) -> Sequences:
    """The table of one record (states, columns), from the state on that has a whole history."""
    k = np.arange(HISTORY, len(record) - HORIZON, stride)
    heat, power = record[:, PLACE["t_peak_k"]], record[:, PLACE["power_w"]]
    way = record[:, [PLACE["x_m"], PLACE["y_m"]]]
    back, forth = np.arange(HISTORY), np.arange(1, HORIZON + 1)
    headings = find_headings(way)[k]
    coming = [PLACE[f"preview_smooth_{i}_k"] for i in forth]
    pixels = [i for name, i in PLACE.items() if name.startswith("patch_")]
    here = way[k][:, np.newaxis]
    parts = (
        heat[k[:, np.newaxis] - back],
        power[k[:, np.newaxis] - back],
        turn_to(headings, way[k[:, np.newaxis] - 1 - back] - here, sigma),
        turn_to(headings, way[k[:, np.newaxis] + forth] - here, sigma),
        record[k][:, coming],
        record[k][:, pixels],
    )
    plans, target = (sliding_window_view(column, HORIZON)[k + 1] for column in (power, heat))
    return Sequences(plans, np.concatenate(parts, axis=1), target, np.full(len(k), episode))


def join_sequences(parts: list[Sequences]) -> Sequences:
    """All of them."""
    return Sequences(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Sequences.__slots__)
    )


def observe_features(image: Image, then: Preview, heat: FloatArray, sigma: float) -> FloatArray:
    """(features,) when an image was taken, by a preview of then; `heat`: T_max, K, newest first."""
    way, powers = then.positions, then.powers
    past = len(powers)
    heading = find_headings(way[past : past + 2])
    ahead = extend(then.ahead[1:], HORIZON)
    behind = extend(way[:past][::-1] if past else then.ahead[:1], HISTORY)
    given, seen = np.zeros(HISTORY), np.full(HISTORY, AMBIENT)
    count = min(HISTORY, past)
    given[:count] = powers[::-1][:count]
    seen[: len(heat[:HISTORY])] = heat[:HISTORY]
    angle = float(np.arctan2(heading[0, 1], heading[0, 0]))
    patch = image.patch(way[past], angle, size=PATCH_SIZE, spacing=PATCH_SPACING)
    return np.concatenate(
        (
            seen,
            given,
            turn_to(heading, (behind - way[past])[np.newaxis], sigma)[0],
            turn_to(heading, (ahead - way[past])[np.newaxis], sigma)[0],
            image.sample(ahead),
            patch.ravel(),
        )
    )


def turn_to(headings: FloatArray, ways: FloatArray, sigma: float) -> FloatArray:
    """(n, 2m): ways (n, m, 2), m, along and to the left of headings (n, 2), over σ."""
    hx, hy = headings[:, 0, np.newaxis], headings[:, 1, np.newaxis]
    along = ways[..., 0] * hx + ways[..., 1] * hy
    left = ways[..., 1] * hx - ways[..., 0] * hy
    return np.concatenate((along, left), axis=1) / sigma


def extend(way: FloatArray, count: int) -> FloatArray:
    """The first `count` positions; the last one held where there are fewer."""
    return way[np.minimum(np.arange(count), len(way) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _SequenceForecast:
    """The features of one tick; the powers are all that is left open."""

    features: FloatArray  # (features,)
    committed: FloatArray  # (d,), W
    previous: float  # W
    model: Model = field(repr=False)
    half_width: float = 0.0  # K from the window's middle to its top; of a network with quantiles

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂, K."""
        return np.asarray(self._roll(plan[np.newaxis])[0])

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂, K, and its slopes, K/W, by differences from one batch."""
        return difference(self._roll, plan, NUDGE)

    def _roll(self, plans: FloatArray) -> FloatArray:
        """T̂ (n, N) of plans (n, N).

        With quantiles it is the median, or more where the upper one would pass the window's top while the
        median is at its middle.
        """
        predicted = self.model.evaluate(
            plans, np.broadcast_to(self.features, (len(plans), len(self.features)))
        )
        if not self.model.architecture.quantiles:
            return predicted
        median, upper = predicted[:, :HORIZON], predicted[:, HORIZON:]
        return np.maximum(median, upper - self.half_width)


class SequencePredictor:
    """Keeps the last peaks; ticks without an image have what was foreseen for them."""

    horizon = HORIZON

    def __init__(self, model: Model, process: Process) -> None:
        self.name: str = model.architecture.name
        self.affine = model.architecture.affine
        self.memory = HISTORY + HORIZON
        self.model = model
        self._process = process
        self._half_width = 0.5 * (process.window[1] - process.window[0])
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
            observe_features(self._image, then, heat, self._process.beam.sigma),
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
            return _SequenceForecast(
                features=features,
                committed=committed,
                previous=previous,
                model=self.model,
                half_width=self._half_width,
            )
        plans = np.concatenate((np.zeros((1, HORIZON)), PROBE * np.eye(HORIZON)))
        predicted = self.model.evaluate(plans, np.broadcast_to(features, (len(plans), len(features))))
        return AffineForecast(
            base=predicted[0],
            slopes=(predicted[1:] - predicted[0]).T / PROBE,
            previous=previous,
            committed=committed,
        )
