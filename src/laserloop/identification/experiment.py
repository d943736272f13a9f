"""A recording as an experiment: the readings that count, and what twin and plant say they should be.

T_k  peak at the end of tick k, K      a  arrival of a reading, ticks      d  delay, ticks      g  gain
b  what noise adds to a peak, K      reading = g T(a − d) + b
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from laserloop.bad_input import BadInput
from laserloop.logs.recording import FaultCounts, Recording, count_faults, fit_camera
from laserloop.paths.path import ScanPath, check_on_plate
from laserloop.plant import Camera, make_plant
from laserloop.predict.twin.rollout import roll_out
from laserloop.predict.twin.twin import delay
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

DRAWS = 4  # pictures with noise for each without
FEWEST = 30  # readings that a fit needs


class Peaks(NamedTuple):
    """The peak at the end of each tick."""

    peaks: FloatArray  # (n,), K
    behind: FloatArray  # (n, 2), m, way from the beam to it


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """What the plant says: peaks as a camera without noise reads them, and what noise does to them."""

    seen: Peaks
    bias: float  # K, that noise adds on average
    share: float  # standard deviation of a reading over that of a pixel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Experiment:
    """What was done and what was read."""

    path: ScanPath
    given: Process  # as the file has it
    process: Process  # the same at the speed of the recording
    arrived: FloatArray  # (m,), ticks; of usable readings
    readings: FloatArray  # (m,), K
    places: FloatArray | None  # (m, 2), m, where each was seen; NaN if that is not known
    coaxial: NDArray[np.bool_]  # (m, 2), do places count from the beam?
    stamped: float | None  # ticks from exposure to arrival, if the log has time stamps
    tally: FaultCounts

    @property
    def power(self) -> FloatArray:
        """W, of each tick."""
        assert self.path.power is not None
        return self.path.power

    @property
    def passage(self) -> float:
        """The time that the beam takes for σ, s."""
        return self.process.beam.sigma / self.process.speed

    def late(self, ticks: float) -> "Experiment":
        """The same with a scanner that comes so much later than the log says."""
        if not ticks:
            return self
        return replace(self, path=replace(self.path, positions=delay(self.path.positions, ticks)))

    def twin(self, process: Process) -> Peaks:
        """Peaks by the twin."""
        rolled = roll_out(process, self.path, self.power)
        return Peaks(rolled.peaks, rolled.places - self.path.positions[1:])

    def plant(self, process: Process, noise: float, progress: Progress | None = None) -> Simulated:
        """Peaks by the plant, as the process's camera reads them."""
        camera = Camera(
            replace(
                process.camera, noise=0.0, delay=0, every=1, emissivity=1.0, sampling="smooth", subgrid=True
            )
        )
        plant = make_plant("graded", process)
        rng = np.random.default_rng(0)
        camera.see(plant.reset())
        peaks, noisy = np.empty(len(self.path)), np.full((len(self.path), DRAWS), np.nan)
        places = np.empty((len(self.path), 2))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "temperatures of .* the range of material")
            for k in range(len(self.path)):
                image = camera.see(plant.step(float(self.power[k]), self.path.spot(k)))
                peaks[k], places[k] = image.peak.temperature, (image.peak.x, image.peak.y)
                if self.path.lit[k] and noise > 0.0:
                    for i in range(DRAWS):
                        picture = image.temperature + rng.normal(0.0, noise, image.temperature.shape)
                        noisy[k, i] = image.with_temperature(picture).peak.temperature
                if progress is not None:
                    progress(k + 1, len(self.path))
        hot = np.isfinite(noisy[:, 0]) & (peaks > np.median(peaks) - 100.0)
        added = (noisy - peaks[:, np.newaxis])[hot]
        seen = Peaks(peaks, places - self.path.positions[1:])
        if not added.size:
            return Simulated(seen, 0.0, 1.0)
        return Simulated(seen, float(added.mean()), float(added.std()) / noise)

    def at(self, trajectories: FloatArray, delay: float) -> FloatArray:
        """Trajectories (n, …) when the readings that arrived were taken, (m, …)."""
        first = np.zeros_like(trajectories[:1])
        if trajectories.ndim == 1:
            first[:] = self.process.ambient
        ends = np.arange(len(self.path) + 1, dtype=np.float64)
        curve = CubicSpline(ends, np.concatenate((first, trajectories)), axis=0)
        return np.asarray(curve(np.clip(self.arrived - delay, 0.0, ends[-1])))


def set_up(recording: Recording, process: Process, ticks: int) -> Experiment:
    """The first so many ticks of a recording as an experiment on a process."""
    path = recording.path(process.tick)
    check_on_plate(
        path.name,
        path.positions,
        path.lit,
        process.plate[:2],
        cure=", or give --centre",
        units=("µm", "mm"),
    )
    if len(path) > ticks:
        path = ScanPath(
            name=path.name,
            positions=path.positions[: ticks + 1],
            lit=path.lit[:ticks],
            power=None if path.power is None else path.power[:ticks],
            tick=path.tick,
            notes=(*path.notes, f"only the first {ticks} of {len(path)} ticks are fitted; see --ticks"),
        )
    process = fit_camera(process, recording.readings)
    at_speed = replace(process, speed=float(path.lit_speeds.max(initial=0.0)) or process.speed)
    readings, tally = recording.readings, count_faults(recording.readings)
    arrived = readings.arrived / path.tick
    use = tally.usable & (arrived <= len(path))
    if use.sum() < FEWEST:
        raise BadInput(
            f"a fit needs at least {FEWEST} usable readings, but {recording.name} has {int(use.sum())}; "
            f"{'record more' if len(readings) else 'name their column t_measured_k or measured_peak_k'}"
        )
    age = (readings.arrived - readings.taken)[use] / path.tick
    stamped = float(np.median(age)) if np.isfinite(age).all() else None
    places = None if readings.place is None else readings.place[use]
    return Experiment(
        path=path,
        given=process,
        process=at_speed,
        arrived=arrived[use],
        readings=readings.peak[use],
        places=places if places is not None and np.isfinite(places).any() else None,
        coaxial=np.zeros((len(arrived), 2), np.bool_)[use]
        if readings.coaxial is None
        else readings.coaxial[use],
        stamped=stamped,
        tally=tally,
    )
