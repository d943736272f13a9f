"""The rig: plant, camera and laser along a path, which is all that a controller is connected to."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from laserloop.loop.faults import Disturb, Drift
from laserloop.paths import ScanPath
from laserloop.paths.preview import Preview
from laserloop.plant import Camera, Image, Plant, Surface

FloatArray = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Rig:
    """Measures before a tick and moves in it; whoever decides in between, a controller or a learner."""

    plant: Plant
    camera: Camera
    path: ScanPath
    bounds: tuple[float, float]  # W
    foresight: int | None = None  # ticks of the way ahead that are told truly; None: all of it
    disturb: Disturb | None = None
    drift: Drift | None = None
    powers: list[float] = field(default_factory=list)  # W, what the laser was told in all ticks so far

    def reset(self) -> Surface:
        """The plate at rest, the camera without images, nothing told to the laser."""
        self.camera.reset()
        self.powers.clear()
        return self.plant.reset()

    def measure(self, k: int, surface: Surface) -> Image | None:
        """The image that comes before tick `k`, however old; None if none does."""
        image: Image | None = self.camera.see(surface)
        if k % self.camera.settings.every:
            return None
        return image if self.disturb is None or image is None else self.disturb(k, image)

    def look_ahead(self, k: int, horizon: int, memory: int = 0) -> Preview:
        """What the scanner knows at tick `k`."""
        return look_ahead(self.path, k, self.powers, horizon, memory, self.foresight)

    def move(self, k: int, command: float) -> Surface:
        """Give a power, W, as far as the laser can and the path is lit; the surface when tick `k` ends."""
        power = bound(command, self.bounds) if self.path.lit[k] else 0.0
        given = power if self.drift is None else self.drift(k, power)
        surface = self.plant.step(given, self.path.spot(k))
        self.powers.append(power)
        return surface


def look_ahead(
    path: ScanPath, k: int, powers: list[float], horizon: int, memory: int = 0, foresight: int | None = None
) -> Preview:
    """What the scanner knows at tick `k` after it gave `powers`: `foresight` ticks of its way, or all."""
    past = min(k, memory)
    way, lit = path.preview(k - past, past + horizon), path.preview_lit(k, horizon)
    if foresight is not None and foresight < horizon:
        way, lit = go_straight(path, k, min(foresight, len(path) - k), way, lit)
    return Preview(
        time=k * path.tick,
        tick=path.tick,
        positions=way,
        powers=np.array(powers[k - past : k]),
        lit=lit,
        was_lit=path.lit[k - past : k],
    )


def go_straight(
    path: ScanPath, k: int, known: int, way: FloatArray, lit: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """A preview at tick `k` that goes straight on, lit as before, after the `known` ticks ahead.

    Whether the laser is on in the coming tick is known in any case. A beam that has not moved yet rests.
    """
    last, unknown = k + known, len(lit) - known
    hop = path.positions[last] - path.positions[last - 1] if last else np.zeros(2)
    beyond = path.positions[last] + np.outer(np.arange(1.0, unknown + 1), hop)
    lit = lit.copy()
    lit[max(known, 1) :] = lit[max(known, 1) - 1]
    return np.concatenate((way[: len(way) - unknown], beyond)), lit


def bound(power: float, bounds: tuple[float, float]) -> float:
    """The laser's own limits; what is no number is the least power."""
    return min(max(power, bounds[0]), bounds[1]) if np.isfinite(power) else bounds[0]
