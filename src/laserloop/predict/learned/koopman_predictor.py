"""The Koopman model in the loop: the lifted state is carried from tick to tick and drawn to what is seen."""

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image
from laserloop.predict.learned.koopman import POWERS, Koopman
from laserloop.predict.predictor import AffineForecast
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]

SIDE, SPACING = 9, 5e-5  # points along a side of the patch; m between them
NOISY = 0.3  # share by which a noisy image replaces the state that was carried on
OLDEST = 12  # ticks, of an image that is still taken in


class KoopmanPredictor:
    """T̂ = T(u) is linear around the window's middle, so that all is affine in the plan."""

    name = "koopman"
    affine = True

    def __init__(self, model: Koopman, process: Process, horizon: int = 5) -> None:
        self.model = model
        self.horizon = horizon
        self.memory = OLDEST + POWERS
        self._process = process
        self._table = tabulate(process.material, process.ambient)
        self._middle = 0.5 * sum(process.window)
        self._wanted = float(self._table.theta_of(np.array([self._middle]))[0])
        self._per_kelvin = float(process.material.conductivity(self._middle)) / self._wanted
        self._believe = NOISY if process.camera.noise > 0.0 else 1.0
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._states: dict[int, FloatArray] = {}  # z by tick, the newest ones
        self._seen = -1.0

    def observe(self, image: Image | None, preview: Preview) -> AffineForecast | None:
        """From the state of now; None before the first image."""
        now = round(preview.time / preview.tick)
        if image is not None and image.time != self._seen:
            self._seen = image.time
            self._take(image, preview, now)
        state = self._carry(preview, now)
        if state is None:
            return None
        turns, paces = follow_way(preview.ahead, self._process.speed * preview.tick)
        n, most = self.horizon, self._process.laser.power[1]
        base, slopes = self.model.roll(state, turns[:n], paces[:n])
        return AffineForecast(
            base=self._middle + (base - 1.0) / self._per_kelvin,
            slopes=slopes / (self._per_kelvin * most),
            previous=preview.power,
            committed=np.empty(0),
        )

    def _take(self, image: Image, preview: Preview, now: int) -> None:
        """Draw the state of when the image was taken to what it shows."""
        age = preview.age(image.time)
        if not 0 <= age <= min(OLDEST, len(preview.powers)):
            return
        then = preview.rewound(age)
        way = then.ahead[1] - then.ahead[0]
        patch = image.patch(then.ahead[0], float(np.arctan2(way[1], way[0])), size=SIDE, spacing=SPACING)
        u = self._table.theta_of(np.append(image.peak.temperature, patch)) / self._wanted
        powers = np.zeros(POWERS)
        given = then.powers[::-1][:POWERS] / self._process.laser.power[1]
        powers[: len(given)] = given
        seen = self.model.lift.lift(u[:1], u[np.newaxis, 1:], powers[np.newaxis])[0]
        carried = self._states.get(now - age)
        if carried is not None:
            seen[:-POWERS] = (1.0 - self._believe) * carried[:-POWERS] + self._believe * seen[:-POWERS]
        self._states = {now - age: seen}

    def _carry(self, preview: Preview, now: int) -> FloatArray | None:
        """The state of now, moved on from the newest one by what was given since."""
        if not self._states:
            return None
        at = max(self._states)
        past = now - at
        if past > len(preview.powers):
            return None
        start = len(preview.powers) - past
        turns, paces = follow_way(preview.positions[start:], self._process.speed * preview.tick)
        state = self._states[at]
        for k in range(past):
            A, B = self.model.step(float(turns[k]), float(paces[k]))
            state = A @ state + B * preview.powers[start + k] / self._process.laser.power[1]
            self._states[at + 1 + k] = state
        self._states = {tick: z for tick, z in self._states.items() if tick >= now - OLDEST}
        return state


def follow_way(positions: FloatArray, hop: float) -> tuple[FloatArray, FloatArray]:
    """Turns, rad, at the end of each tick and speeds over the usual one; the last tick goes straight on."""
    way = np.diff(positions, axis=0)
    headings = np.arctan2(way[:, 1], way[:, 0])
    turns = (np.diff(headings, append=headings[-1:]) + np.pi) % (2.0 * np.pi) - np.pi
    return turns, np.clip(np.linalg.norm(way, axis=1) / hop, 0.3, 2.0)
