"""A machine that is not where and when it says: images are shifted and wrongly stamped, the beam is late."""

from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from laserloop.loop import Fault, Faults, Setup, Testbed
from laserloop.paths import ScanPath
from laserloop.plant import Image, Plant, Surface
from laserloop.studies.arena.tasks import Misplacement

FloatArray = NDArray[np.float64]
WEAVE = (150e-6, 210e-6)  # m, in which a texture repeats along x and along y


class MisplacedImages(Faults):
    """Faults of images, and what all images say wrongly of their place and time."""

    def __init__(self, error: Misplacement, tick: float, faults: tuple[Fault, ...]) -> None:
        super().__init__(*faults)
        self._error, self._tick = error, tick

    def see(self, k: int, image: Image) -> Image | None:
        """The image, shifted and with the time that it says, which is never in the future."""
        arrived = super().see(k, image)
        if arrived is None:
            return None
        dx, dy = self._error.image
        peak = replace(arrived.peak, x=arrived.peak.x + dx, y=arrived.peak.y + dy)
        time = min(max(arrived.time + self._error.stamp * self._tick, 0.0), k * self._tick)
        return replace(arrived, time=time, x=arrived.x + dx, y=arrived.y + dy, peak=peak)


class MisplacedPlate:
    """A plant under a beam that is late, with a texture in its absorptivity; otherwise it is the plant."""

    def __init__(self, plant: Plant, error: Misplacement, path: ScanPath) -> None:
        n = np.arange(len(path) + 1.0)
        came = np.clip(n - error.scanner / path.tick, 0.0, None)
        self._places = np.stack([np.interp(came, n, path.positions[:, axis]) for axis in (0, 1)], axis=-1)
        self._plant, self._texture, self._tick = plant, error.texture, path.tick

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plant, name)

    def step(self, power: float, spot: FloatArray) -> Surface:
        """The tick where the beam really is, wherever it was sent."""
        k = round(self._plant.time / self._tick)
        x, y = np.sin(2.0 * np.pi * self._places[k] / WEAVE)
        return self._plant.step(power * (1.0 + self._texture * float(x * y)), self._places[k : k + 2])


@dataclass(frozen=True, slots=True, eq=False)
class MachineSetup(Setup):
    """A setup whose loops, also those of trial passes, are run on a misplaced machine."""

    error: Misplacement | None = None

    def testbed(self, plant: Plant, seed: int | None = None) -> Testbed:
        """Its testbed, misplaced."""
        testbed = Setup.testbed(self, plant, seed)
        assert self.error is not None
        testbed.plant = cast("Plant", MisplacedPlate(plant, self.error, self.path))
        testbed.faults = MisplacedImages(self.error, self.path.tick, self.scenario.faults)
        return testbed


def misplace(setup: Setup, error: Misplacement | None) -> Setup:
    """The same setup on a machine that is off, if it is."""
    if error is None:
        return setup
    return MachineSetup(**{item.name: getattr(setup, item.name) for item in fields(setup)}, error=error)
