"""Levels: how far the plant and the camera are from what the process says, drawn by a task's seed."""

from dataclasses import dataclass, replace

import numpy as np

from laserloop.loop.disturbances import Fault
from laserloop.loop.scenario import Scenario

Span = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What may be wrong. The camera's noise, delay and rate are in the process, so everybody knows them.

    Absorptivity, conductivity, heat capacity, lag and lost images are not: they are found out or endured.
    """

    name: str
    noise_k: float = 0.0  # in every pixel
    delay_ticks: int = 0  # how old an image is when it comes
    every_ticks: int = 1  # from one image to the next
    absorptivity: float = 0.0  # share by which the plant's may be off, either way
    conductivity: float = 0.0
    heat_capacity: float = 0.0
    lag_us: Span = (0.0, 0.0)  # of the laser behind its command
    lost: float = 0.0  # share of the images that do not come
    outage_ticks: int = 0  # of no image at all, once in a run

    def disturb(self, case: Scenario, seed: tuple[int, ...]) -> Scenario:
        """The case with all this, the same for the same seed."""
        if self == replace(OFF, name=self.name):
            return case
        rng = np.random.default_rng(seed)
        shares = {
            "absorptivity": self.absorptivity,
            "conductivity": self.conductivity,
            "heat-capacity": self.heat_capacity,
        }
        factors = {name: round(float(rng.uniform(1 - off, 1 + off)), 6) for name, off in shares.items()}
        factors["laser-lag-us"] = round(float(rng.uniform(*self.lag_us)), 3)
        dice = int(rng.integers(2**31))
        camera = {"noise_k": self.noise_k, "delay_ticks": self.delay_ticks, "every_ticks": self.every_ticks}
        process = case.process.change(**camera)
        return replace(
            case,
            process=replace(process, camera=replace(process.camera, seed=dice)),
            mismatch=tuple(sorted(factors.items())),
            faults=self._lose(rng, case.ticks or 1),
        )

    def _lose(self, rng: np.random.Generator, ticks: int) -> tuple[Fault, ...]:
        """Images that get lost: some here and there, and some in a row after the first quarter."""
        dice, first = int(rng.integers(2**31)), int(rng.integers(ticks // 4, ticks))
        some = Fault(kind="drop", share=self.lost, seed=dice)
        row = Fault(kind="drop", first=first, ticks=self.outage_ticks)
        return (*([some] if self.lost else []), *([row] if self.outage_ticks else []))


OFF = Level(name="off")
NOMINAL = Level(
    name="nominal",
    noise_k=5.0,
    delay_ticks=1,
    absorptivity=0.05,
    conductivity=0.03,
    heat_capacity=0.03,
    lag_us=(0.0, 60.0),
    lost=0.01,
)
HARD = Level(
    name="hard",
    noise_k=10.0,
    delay_ticks=2,
    every_ticks=4,
    absorptivity=0.1,
    conductivity=0.1,
    heat_capacity=0.1,
    lag_us=(60.0, 125.0),
    lost=0.1,
    outage_ticks=20,
)
LEVELS = {level.name: level for level in (OFF, NOMINAL, HARD)}
