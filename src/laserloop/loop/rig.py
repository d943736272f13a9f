"""The rig: plant, camera and laser along a path, which is all that a controller is connected to."""

from dataclasses import dataclass, field

import numpy as np

from laserloop.loop.faults import Disturb, Drift
from laserloop.paths import ScanPath
from laserloop.paths.preview import Preview
from laserloop.plant import Camera, Image, Plant, Surface


@dataclass(slots=True, eq=False)
class Rig:
    """Measures before a tick and moves in it; whoever decides in between, a controller or a learner."""

    plant: Plant
    camera: Camera
    path: ScanPath
    bounds: tuple[float, float]  # W
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
        return look_ahead(self.path, k, self.powers, horizon, memory)

    def move(self, k: int, command: float) -> Surface:
        """Give a power, W, as far as the laser can and the path is lit; the surface when tick `k` ends."""
        power = bound(command, self.bounds) if self.path.lit[k] else 0.0
        given = power if self.drift is None else self.drift(k, power)
        surface = self.plant.step(given, self.path.spot(k))
        self.powers.append(power)
        return surface


def look_ahead(path: ScanPath, k: int, powers: list[float], horizon: int, memory: int = 0) -> Preview:
    """What the scanner knows at tick `k`, after it gave `powers`."""
    past = min(k, memory)
    return Preview(
        time=k * path.tick,
        tick=path.tick,
        positions=path.preview(k - past, past + horizon),
        powers=np.array(powers[k - past : k]),
        lit=path.preview_lit(k, horizon),
        was_lit=path.lit[k - past : k],
    )


def bound(power: float, bounds: tuple[float, float]) -> float:
    """The laser's own limits; what is no number is the least power."""
    return min(max(power, bounds[0]), bounds[1]) if np.isfinite(power) else bounds[0]
