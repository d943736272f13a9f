"""What a controller sees, as one vector of constant size: for policies and learners.

Lengths are in beam widths (σ) and seen from the beam: axis 0 along its heading, axis 1 to its left.
e  (T − middle of the window) / half its width      h  (T − ambient) / (middle − ambient)
a  a power as a share of the laser's range, −1 its least and 1 its most
"""

from collections import deque
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from laserloop.control.validator import ImageValidator
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Vector = NDArray[np.float32]
Number = TypeVar("Number", float, FloatArray)

AHEAD = 8  # ticks of the way to come, and whether each is lit
BEHIND = 8  # ticks of the way that was, with their powers and readings
SPOTS = (2, 4, 8)  # ticks ahead where the beam will be: how warm is it there already?
SLOW = 32.0  # ticks over which the slow means fade
LENGTHS = 10.0  # σ that count as 1
LIMIT = 10.0  # no entry is larger


def _lay_out() -> dict[str, slice]:
    """Where each part of the vector stands."""
    sizes = {
        "error": BEHIND,  # e of the newest image known now, a tick ago, …
        "power": BEHIND,  # a of the last tick, the one before, …
        "heat": 1,  # h of the newest image
        "age": 1,  # of the newest image, in 10 ticks
        "spots": len(SPOTS),  # h in that image where the beam will be, seen from when it came
        "slow": 2,  # fading means of e and a over lit ticks
        "ahead": 2 * AHEAD,  # where the beam will be after 1, 2, … ticks
        "lit": AHEAD,  # 1 where the laser may be on in the coming ticks, else 0
        "behind": 2 * BEHIND,  # where it was 1, 2, … ticks ago
        "camera": 3,  # its noise over half the window, its delay and the time between images in 10 ticks
        "place": 4,  # x and y as shares of half the plate; cosine and sine of the heading
    }
    ends = np.cumsum(list(sizes.values()))
    return {
        name: slice(int(end) - size, int(end)) for (name, size), end in zip(sizes.items(), ends, strict=True)
    }


PARTS = _lay_out()
SIZE = PARTS["place"].stop
WAY = PARTS["ahead"].start  # from here on the path alone decides


@dataclass(frozen=True, slots=True)
class Scales:
    """What the numbers of a process are measured in."""

    sigma: float  # m
    half_plate: tuple[float, float]  # m
    ambient: float  # K
    middle: float  # K
    half_width: float  # K
    power: tuple[float, float]  # W
    camera: tuple[float, float, float] = (0.0, 0.0, 0.1)  # as in the vector

    @classmethod
    def of(cls, process: Process) -> "Scales":
        """The scales of a process."""
        (low, high), camera = process.window, process.camera
        return cls(
            process.beam.sigma,
            (0.5 * process.plate[0], 0.5 * process.plate[1]),
            process.ambient,
            0.5 * (low + high),
            0.5 * (high - low),
            process.laser.power,
            (2.0 * camera.noise / (high - low), camera.delay / 10.0, camera.every / 10.0),
        )

    def error(self, T: float) -> float:
        """e, within the limit."""
        return float(np.clip((T - self.middle) / self.half_width, -LIMIT, LIMIT))

    def heat(self, T: FloatArray | float) -> FloatArray:
        """h, within the limit."""
        return np.clip((np.asarray(T) - self.ambient) / (self.middle - self.ambient), -LIMIT, LIMIT)

    def share(self, power: Number) -> Number:
        """a of a power, W."""
        low, high = self.power
        return 2.0 * (power - low) / (high - low) - 1.0

    def watts(self, share: Number) -> Number:
        """The power of a, W."""
        low, high = self.power
        return low + 0.5 * (share + 1.0) * (high - low)


def describe_way(ahead: FloatArray, behind: FloatArray, lit: NDArray[np.bool_], scales: Scales) -> Vector:
    """(…, SIZE − WAY): the part that the path alone decides.

    ahead (…, AHEAD + 1, 2): from where the beam is now on, m; behind (…, BEHIND, 2): newest first, m;
    lit (…, AHEAD).
    """
    here = ahead[..., :1, :]
    hop = ahead[..., 1, :] - ahead[..., 0, :]
    length = np.hypot(hop[..., 0], hop[..., 1])[..., np.newaxis]
    resting = np.broadcast_to(np.array([1.0, 0.0]), hop.shape)
    along = np.divide(hop, length, out=resting.copy(), where=length > 0.0)
    across = np.stack((-along[..., 1], along[..., 0]), axis=-1)
    frame = np.stack((along, across), axis=-1) / (LENGTHS * scales.sigma)
    lead = ahead.shape[:-2]
    parts = (
        ((ahead[..., 1:, :] - here) @ frame).reshape(*lead, -1),
        lit,
        ((behind - here) @ frame).reshape(*lead, -1),
        np.broadcast_to(np.array(scales.camera), (*lead, 3)),
        here[..., 0, :] / np.array(scales.half_plate),
        along,
    )
    way: FloatArray = np.clip(np.concatenate(parts, axis=-1), -LIMIT, LIMIT)
    return way.astype(np.float32)


class Observer:
    """Turns what comes at each tick into a vector; remembers the newest image and a few readings."""

    horizon, memory = AHEAD, BEHIND

    def __init__(self, process: Process) -> None:
        self.scales = Scales.of(process)
        self._validator = ImageValidator()
        self.reset()

    def reset(self) -> None:
        """The plate is at ambient, the laser off, nothing was seen."""
        cold = self.scales.error(self.scales.ambient)
        self._errors = deque([cold] * BEHIND, maxlen=BEHIND)  # newest first
        self._heat, self._spots = 0.0, np.zeros(len(SPOTS))
        self._taken = 0.0  # s, when the newest image was
        self._slow = np.zeros(2)
        self._validator.reset()

    def observe(self, image: Image | None, preview: Preview) -> Vector:
        """(SIZE,): all that is known now."""
        good, _ = self._validator.judge(image)
        error = self._errors[0]
        if good is not None:
            T = good.peak.temperature
            error, self._heat, self._taken = self.scales.error(T), float(self.scales.heat(T)), good.time
            self._spots = self.scales.heat(good.sample(preview.ahead[np.array(SPOTS)]))
        self._errors.appendleft(error)
        last = self.scales.share(preview.power)
        if len(preview.was_lit) and preview.was_lit[-1]:
            self._slow += (np.array([np.clip(error, -1.0, 1.0), last]) - self._slow) / SLOW
        return self._compose(preview)

    def _compose(self, preview: Preview) -> Vector:
        now, past = len(preview.powers), min(len(preview.powers), BEHIND)
        powers = np.full(BEHIND, self.scales.share(0.0))
        powers[:past] = self.scales.share(preview.powers[::-1][:past])
        behind = np.broadcast_to(preview.positions[now - past], (BEHIND, 2)).copy()
        behind[:past] = preview.positions[now - past : now][::-1]
        vector = np.empty(SIZE, np.float32)
        vector[PARTS["error"]] = self._errors
        vector[PARTS["power"]] = powers
        vector[PARTS["heat"]] = self._heat
        vector[PARTS["age"]] = min((preview.time - self._taken) / (10.0 * preview.tick), LIMIT)
        vector[PARTS["spots"]] = self._spots
        vector[PARTS["slow"]] = self._slow
        vector[WAY:] = describe_way(preview.ahead[: AHEAD + 1], behind, preview.lit[:AHEAD], self.scales)
        return vector
