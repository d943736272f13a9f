"""A recording as an experiment: readings that count, what twin and plant say they should be, and slopes.

T_k  peak at the end of tick k, K      a  arrival of a reading, ticks      d  delay, ticks      g  gain
e  what noise adds to a peak, K      reading = g T(a − d) + e

x(t)  told place of the beam, m      b(t)  way from the beam to the peak, m      h  heading of the beam
l  ticks by which the scanner is late      c  offset of the images, m

    seen = x(a − d − l) + b(a − d) + c + r h        by a camera that looks along the beam without x

r is what the plant may tell wrongly of b. Along a straight line at one speed c and l move places alike.

p  parameters: logarithms of factors, ticks of delay, lags in times that the beam takes for σ, offsets in σ
m  readings      n  ticks
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from laserloop.bad_input import BadInput
from laserloop.identification.parameters import (
    CHANGE_HEAT,
    LAG,
    OF_HEAT,
    OFFSETS,
    REACHES,
    SCANNER,
    SURE,
    TRAIL,
    apply,
)
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
START = 8  # ticks of light, before which the spot still forms
HALF = 0.5  # tick, to either side, for slopes
RESTS = 1e-9  # m in a tick


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


class Columns(NamedTuple):
    """Slopes of readings, K, and of the places of their peaks, σ."""

    readings: FloatArray  # (m, p)
    places: FloatArray  # (m, 2, p)


class Model:
    """Names of the parameters of an experiment, and what they mean."""

    def __init__(self, do: Experiment, names: tuple[str, ...]) -> None:
        self.do, self.names = do, names
        self.reaches = [REACHES[name] for name in names]
        self.prior = np.array([reach.prior for reach in self.reaches])
        self.held = np.array([reach.held for reach in self.reaches])
        self.heat = np.array([name in CHANGE_HEAT for name in names])
        self.sigma = do.process.beam.sigma
        self.delay = do.stamped if do.stamped is not None else float(do.process.camera.delay)
        self.said = np.zeros(len(names))  # by the process
        self.put(self.said, LAG, do.process.laser.lag / do.passage)

    def put(self, values: FloatArray, name: str, value: float) -> None:
        """Set a parameter, if it is one."""
        if name in self.names:
            values[self.names.index(name)] = value

    def get(self, values: FloatArray, name: str, otherwise: float = 0.0) -> float:
        """A parameter, if it is one."""
        return float(values[self.names.index(name)]) if name in self.names else otherwise

    def find_delay(self, values: FloatArray) -> float:
        """Of the camera, ticks."""
        return self.get(values, "delay", self.delay)

    def find_late(self, values: FloatArray) -> float:
        """Ticks by which the scanner is late."""
        return self.get(values, SCANNER) * self.do.passage / self.do.path.tick

    def make(self, values: FloatArray) -> Process:
        """The process of these parameters."""
        factors = {
            name: float(np.exp(v)) for name, v in zip(self.names, values, strict=True) if name in OF_HEAT
        }
        lag = self.get(values, LAG) * self.do.passage if LAG in self.names else None
        return apply(self.do.process, factors, lag)

    def drive(self, values: FloatArray) -> Peaks:
        """Peaks by the twin with these parameters."""
        return self.do.late(self.find_late(values)).twin(self.make(values))

    def leave(self, values: FloatArray) -> FloatArray:
        """By how many standard deviations parameters leave what the process says."""
        return np.asarray(((values - self.said) / self.prior)[self.held])

    def read(self, peaks: FloatArray, values: FloatArray) -> FloatArray:
        """What the readings should be, but for the noise."""
        gain = np.exp(self.get(values, "gain"))
        return np.asarray(gain * self.do.at(peaks, self.find_delay(values)))

    def see(self, behind: FloatArray, values: FloatArray) -> FloatArray:
        """(m, 2): where peaks should be seen, σ."""
        delay, late = self.find_delay(values), self.find_late(values)
        offset = [self.get(values, name) for name in (*OFFSETS, TRAIL)]
        places = expect(self.do, behind, delay, late) / self.sigma
        return np.asarray(places + offset[:2] + offset[2] * find_headings(self.do, delay + late))

    def find_slopes(self, at: FloatArray) -> Peaks:
        """(n, …, heat): ∂T/∂(what changes the heat), and that of the way to the peak, by the twin."""
        columns = []
        for i in np.flatnonzero(self.heat):
            reach, ends = self.reaches[i], np.repeat(at[np.newaxis], 2, axis=0)
            back = min(reach.slope, float(at[i]) - reach.least)
            ends[:, i] += (-back, reach.slope)
            below, above = (self.drive(values) for values in ends)
            columns.append(
                [(up - down) / (back + reach.slope) for up, down in zip(above, below, strict=True)]
            )
        peaks, behind = (np.stack(parts, axis=-1) for parts in zip(*columns, strict=True))
        return Peaks(peaks, behind)

    def find_columns(self, driven: Peaks, slopes: Peaks, values: FloatArray) -> Columns:
        """How readings and places change with all parameters."""
        return Columns(
            self._find_reading_columns(driven.peaks, slopes.peaks, values),
            self._find_place_columns(driven.behind, slopes.behind, values),
        )

    def _find_reading_columns(self, peaks: FloatArray, slopes: FloatArray, values: FloatArray) -> FloatArray:
        do = self.do
        delay, gain = self.find_delay(values), float(np.exp(self.get(values, "gain")))
        heat = iter((gain * do.at(slopes, delay)).T)
        columns = []
        for name in self.names:
            if name in CHANGE_HEAT:
                columns.append(next(heat))
            elif name == "gain":
                columns.append(gain * do.at(peaks, delay))
            elif name == "delay":
                columns.append(
                    gain * (do.at(peaks, delay + HALF) - do.at(peaks, delay - HALF)) / (2.0 * HALF)
                )
            else:
                columns.append(np.zeros(len(do.readings)))
        return np.stack(columns, axis=1)

    def _find_place_columns(self, behind: FloatArray, slopes: FloatArray, values: FloatArray) -> FloatArray:
        do, columns = self.do, np.zeros((len(self.do.readings), 2, len(values)))
        if TRAIL not in self.names:
            return columns
        delay, late = self.find_delay(values), self.find_late(values)
        columns[..., self.heat] = interpolate(do, slopes, delay) / self.sigma
        ends = [expect(do, behind, delay + step, late) for step in (HALF, -HALF)]
        fixed = {
            "delay": (ends[0] - ends[1]) / (2.0 * HALF * self.sigma),
            SCANNER: find_beam_slopes(do, delay + late) * do.passage / do.path.tick / self.sigma,
            OFFSETS[0]: np.array([1.0, 0.0]),
            OFFSETS[1]: np.array([0.0, 1.0]),
            TRAIL: find_headings(do, delay + late),
        }
        for i, name in enumerate(self.names):
            if name in fixed:
                columns[..., i] += fixed[name]
        return columns


def find_settled(do: Experiment, delay: float) -> NDArray[np.bool_]:
    """(m,): readings that have a place, and were taken when the laser had been on for some time."""
    if do.places is None:
        return np.zeros(len(do.arrived), np.bool_)
    n = np.arange(len(do.path) + 1)
    dark = np.concatenate(([True], ~do.path.lit))  # by the end of each tick
    since = n - np.maximum.accumulate(np.where(dark, n, 0))
    tick = np.clip(np.ceil(do.arrived - delay - 1e-6).astype(np.intp), 0, len(do.path))
    return np.asarray((since[tick] > START) & np.isfinite(do.places).all(axis=1))


def expect(do: Experiment, behind: FloatArray, delay: float, late: float) -> FloatArray:
    """(m, 2): where peaks are seen, m, by images that do not lie off; `behind` (n, 2): b, m."""
    return _find_beam(do, delay + late) + interpolate(do, behind, delay)


def interpolate(do: Experiment, behind: FloatArray, delay: float) -> FloatArray:
    """(m, …): b (n, …) when the readings that arrived were taken."""
    line = np.concatenate((np.zeros_like(behind[:1]), behind)).reshape(len(do.path) + 1, -1)
    n = np.arange(len(line), dtype=np.float64)
    at = [np.interp(do.arrived - delay, n, values) for values in line.T]
    return np.stack(at, axis=1).reshape(-1, *behind.shape[1:])


def find_beam_slopes(do: Experiment, late: float) -> FloatArray:
    """(m, 2): change of the beam's part of a place with a tick of delay, m."""
    return np.asarray((_find_beam(do, late + HALF) - _find_beam(do, late - HALF)) / (2.0 * HALF))


def find_headings(do: Experiment, late: float) -> FloatArray:
    """(m, 2): h when the readings that arrived were taken; 0 where the beam rested."""
    hop = _told(do, late - HALF) - _told(do, late + HALF)
    length = np.linalg.norm(hop, axis=1, keepdims=True)
    return np.where(length > RESTS, hop / np.maximum(length, RESTS), 0.0)


def doubt_offset(offset: FloatArray, covariance: FloatArray, sigma: float) -> str:
    """A sentence about an offset (2,), σ, that the places do not tell."""
    (least, _), ways = np.linalg.eigh(covariance)
    across, along = (way * np.sign(way[np.argmax(np.abs(way))]) for way in ways.T)
    off, error = 1e6 * sigma * float(across @ offset), 1e6 * sigma * float(np.sqrt(least))
    if error > 1e6 * sigma * SURE:
        return "the places of the peaks say hardly anything about the images' offset: record more of them"
    told = (
        f"images that lie off along {_show(along)} and places that come late look the same, as the beam "
        "hardly turns: record a path with turns"
    )
    return f"{told}; along {_show(across)} they lie {off:+.1f} ± {error:.1f} µm off"


def _show(way: FloatArray) -> str:
    """A direction."""
    x, y = np.round(way, 2) + 0.0
    return f"({x:g}, {y:g})"


def _find_beam(do: Experiment, late: float) -> FloatArray:
    """(m, 2): the beam's part of a place, m; none for a camera that looks along it."""
    return np.where(do.coaxial, 0.0, _told(do, late))


def _told(do: Experiment, late: float) -> FloatArray:
    """(m, 2): where the log says the beam was so many ticks before the readings arrived, m."""
    n = np.arange(len(do.path) + 1.0)
    return np.stack([np.interp(do.arrived - late, n, line) for line in do.path.positions.T], axis=1)
