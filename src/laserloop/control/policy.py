"""A learned policy: one small network from what is seen to the power of the coming tick, in NumPy alone.

What a controller sees, as one vector of constant size: for policies and learners.

Lengths are in beam widths (σ) and seen from the beam: axis 0 along its heading, axis 1 to its left.
e  (T − middle of the window) / half its width      h  (T − ambient) / (middle − ambient)
a  a power as a share of the laser's range, −1 its least and 1 its most
"""

import json
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, ImageValidator, Status
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.process import CameraSettings, Process

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


INPUTS = PARTS["place"].start  # where on the plate the beam is does not matter, so it is not looked at
Layers = tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]  # weights (out, in) and biases (out,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """Layers with tanh between them; the last gives the share of the laser's range, −1 to 1."""

    layers: Layers
    about: dict[str, Any] = field(default_factory=dict)  # what it was made for, and how

    def __post_init__(self) -> None:
        sizes = [weight.shape for weight, _ in self.layers]
        fits = all(shape[0] == after[1] for shape, after in pairwise(sizes))
        if not sizes or sizes[0][1] != INPUTS or sizes[-1][0] != 1 or not fits:
            raise BadInput(
                f"a policy must lead from {INPUTS} numbers to 1, got layers of {sizes}: train it anew"
            )

    def decide(self, seen: Vector) -> float:
        """The share of the laser's range for what is seen now."""
        x = seen[:INPUTS]
        for weight, bias in self.layers[:-1]:
            x = np.tanh(weight @ x + bias)
        weight, bias = self.layers[-1]
        return float((weight @ x + bias)[0])

    def save(self, file: Path) -> None:
        """Write it; no pickle."""
        from safetensors.numpy import save_file

        tensors = {
            f"{name}.{i}": part
            for i, pair in enumerate(self.layers)
            for name, part in zip("wb", pair, strict=True)
        }
        save_file(tensors, file, metadata={"about": json.dumps(self.about)})

    @classmethod
    def load(cls, file: Path) -> "Policy":
        """Read one."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(file, framework="numpy") as opened:
                about = json.loads((opened.metadata() or {}).get("about", "{}"))
                count = len(opened.keys()) // 2
                layers = tuple(
                    (opened.get_tensor(f"w.{i}"), opened.get_tensor(f"b.{i}")) for i in range(count)
                )
        except (OSError, SafetensorError, ValueError) as error:
            raise BadInput(
                f"a policy must be a safetensors file, but {file} is none ({error}): train it"
            ) from None
        return cls(layers=layers, about=about)


class PolicyController:
    """Gives what its policy says of what is seen."""

    def __init__(self, policy: Policy, process: Process, *, name: str = "policy") -> None:
        self.name = name
        self._policy, self._observer = policy, Observer(process)
        self.horizon, self.memory = self._observer.horizon, self._observer.memory

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._observer.reset()

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick; without a new image by the last one and its age."""
        began = perf_counter()
        scales = self._observer.scales
        share = self._policy.decide(self._observer.observe(image, preview))
        power = scales.watts(min(max(share, -1.0), 1.0)) if np.isfinite(share) else scales.power[0]
        status = Status.SOLVED if image is not None else Status.BLIND
        return Action(power=power, status=status, solve_s=perf_counter() - began)


def find_policy(folder: Path, process: Process) -> Policy:
    """The policy of a folder that was made for a process; the first by name if there are several."""
    for file in sorted(folder.glob("*.safetensors")):
        policy = Policy.load(file)
        if policy.about.get("process") == fingerprint(process):
            return policy
    raise BadInput(f"no policy in {folder} was made for the process {process.name}: train one for it")


def fingerprint(process: Process) -> str:
    """What a policy is made for: all of a process but its camera and its speed."""
    return replace(process, camera=CameraSettings(), speed=Process().speed).hash
