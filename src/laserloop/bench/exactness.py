"""How exact is the graded plant: its peak along serpentines, against the exact integral."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from laserloop.plant import make_plant
from laserloop.predict.twin.exact import Pulses, polyline_gaussian
from laserloop.process import Beam, Laser, Material, Process

FloatArray = NDArray[np.float64]

K, RHO, CP = 21.5, 7900.0, 500.0  # W/mK, kg/m³, J/kgK; steel's at some temperature, the same at all here
LINES, LENGTH, GAP = 5, 2e-3, 1e-4  # of a serpentine, m
EVERY = 3  # ticks between two that are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A kind of machine, by what its spot does."""

    sigma: float  # m
    speed: float  # m/s
    tick: float  # s
    power: float  # W

    @property
    def process(self) -> Process:
        """With constant properties, and a plate on which the beam does not see the edges."""
        return Process(
            material=Material.constant(k=K, rho=RHO, cp=CP),
            beam=Beam(sigma=self.sigma),
            laser=Laser(power=(0.0, 10.0 * self.power)),
            tick=self.tick,
            speed=self.speed,
        )

    def solve(self, positions: FloatArray, powers: FloatArray) -> Pulses:
        """The exact solution at the end of the way."""
        return polyline_gaussian(
            positions, powers, self.tick, sigma=self.sigma, conductivity=K, diffusivity=K / (RHO * CP)
        )


SCALES = {
    "heat_treatment": Scale(sigma=100e-6, speed=0.3, tick=1e-4, power=14.0),
    "powder_bed": Scale(sigma=42.5e-6, speed=0.8, tick=2e-5, power=50.0),
}


def make_serpentine(
    hop: float, *, lines: int = LINES, length: float = LENGTH, gap: float = GAP
) -> FloatArray:
    """Places (n, 2), m, a `hop` apart along lines to and fro and what joins them, about the origin."""
    y = np.repeat(gap * (np.arange(lines) - 0.5 * (lines - 1)), 2)
    x = 0.5 * length * np.resize([-1.0, 1.0, 1.0, -1.0], 2 * lines)
    along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    at = np.arange(0.0, along[-1], hop)
    return np.column_stack([np.interp(at, along, x), np.interp(at, along, y)])


def drive_peaks(
    scale: Scale, positions: FloatArray, powers: FloatArray, *, refine: float = 1.0
) -> tuple[FloatArray, float]:
    """The plant's peak after every tick, K above ambient, and the CPU milliseconds that a tick took."""
    plant = make_plant("graded", scale.process, refine=refine)
    ticks = list(zip(powers.tolist(), map(np.array, pairwise(positions)), strict=True))
    for power, spot in ticks[:3]:  # loads the kernels
        plant.t_max(plant.step(power, spot))
    plant.reset()
    began = time.process_time()
    peaks = [plant.t_max(plant.step(power, spot)).temperature for power, spot in ticks]
    spent = time.process_time() - began
    return np.array(peaks) - scale.process.ambient, 1e3 * spent / len(peaks)


def solve_peaks(scale: Scale, positions: FloatArray, powers: FloatArray, after: Iterable[int]) -> FloatArray:
    """The exact peak, K above ambient, `after` so many ticks each."""
    return np.array([scale.solve(positions[: n + 1], powers[:n]).peak()[0] for n in after])


def measure_error(
    scale: Scale, *, refine: float = 1.0, progress: Callable[[int, int], None] | None = None
) -> dict[str, float]:
    """The peak's RMS and largest error on a serpentine, shares of the mean rise, and a tick's CPU time."""
    positions = make_serpentine(scale.speed * scale.tick)
    powers = np.full(len(positions) - 1, scale.power)
    found, ms = drive_peaks(scale, positions, powers, refine=refine)
    after = range(1, len(positions), EVERY)
    exact = np.empty(len(after))
    for n, ticks in enumerate(after):
        exact[n] = solve_peaks(scale, positions, powers, [ticks])[0]
        if progress is not None:
            progress(n + 1, len(after))
    error = (found[::EVERY] - exact) / exact.mean()
    return {
        "graded_error_rms": float(np.sqrt((error**2).mean())),
        "graded_error_max": float(np.abs(error).max()),
        "ms": ms,
    }
