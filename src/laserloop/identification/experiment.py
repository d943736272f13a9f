"""A recording as an experiment: readings that count, what twin and plant say they should be, and slopes.

T_k  peak at the end of tick k, K      a  arrival of a reading, ticks      d  delay, ticks      g  gain
β_k  what noise adds to the maximum over pixels, K: more where the spot is cold and flat
c  1 for a camera's maximum, 0 for a pyrometer      reading = g T(a − d) + c β(a − d)

x(t)  told place of the beam, m      b(t)  way from the beam to the peak, m      h  heading of the beam
l  ticks by which the scanner is late      o  offset of the images, m

    seen = x(a − d − l) + b(a − d) + o + r h        by a camera that looks along the beam without x

r is what the plant may tell wrongly of b. Along a straight line at one speed o and l move places alike.

p  parameters: logarithms of factors, ticks of delay, lags in times that the beam takes for σ, offsets in σ
m  readings      n  ticks
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from laserloop.bad_input import BadInput
from laserloop.identification.parameters import (
    AMBIENT,
    CHANGE_HEAT,
    FACTORS,
    LAG,
    OF_HEAT,
    OFFSETS,
    REACHES,
    SCANNER,
    SENSOR,
    SURE,
    TRAIL,
    apply,
)
from laserloop.logs.recording import FaultCounts, Recording, count_faults, fit_camera
from laserloop.paths.path import ScanPath, check_on_plate
from laserloop.plant import Camera, Image, Surface, make_plant
from laserloop.predict.twin.rollout import roll_out
from laserloop.predict.twin.twin import delay
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]
Prior = tuple[float, float]  # what is known of a parameter before, and its standard deviation

DRAWS = 6  # pairs of pictures with noise and with its opposite, which leaves of it only what it adds
PICTURES = 600  # that noise is drawn for, at most
NEAR = 9  # pictures of a settled spot, alike in temperature, whose noise is averaged
LEAST_SHARE = 0.3  # of a pixel's noise that a peak has; thousands of pixels that are alike leave as much
EDGE = 4  # pixels around those, for what lies between
FARTHEST = 9.0  # standard deviations below the peak, from which on no pixel becomes the hottest
FEWEST = 30  # readings that a fit needs
START = 8  # ticks of light, before which the spot still forms
HALF = 0.5  # tick, to either side, for slopes
LEAD, FORGOTTEN = 100, 0.01  # ticks that the laser may have been on before; what is left of their heat
RESTS = 1e-9  # m in a tick


class Peaks(NamedTuple):
    """The peak at the end of each tick."""

    peaks: FloatArray  # (n,), K
    behind: FloatArray  # (n, 2), m, way from the beam to it


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """What the plant says: peaks as a camera without noise reads them, and what noise does to them."""

    seen: Peaks
    bias: FloatArray  # (n,), K, that noise adds to each on average
    share: FloatArray  # (n,), standard deviation of a reading over that of a pixel


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
    whole: FloatArray  # K, all readings that are numbers, usable or not
    is_camera: bool  # is a reading surely the maximum of many pixels?
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

    def begin(self, lit: int) -> "Experiment":
        """The same until the laser has been on for so many ticks, if that is long before its end."""
        ticks = int(np.searchsorted(np.cumsum(self.path.lit), lit)) + 1
        early = self.arrived <= ticks
        if 2 * ticks > len(self.path) or early.sum() < FEWEST:
            return self
        return replace(
            self,
            path=cut(self.path, ticks),
            arrived=self.arrived[early],
            readings=self.readings[early],
            places=None if self.places is None else self.places[early],
            coaxial=self.coaxial[early],
        )

    def forget(self) -> "Experiment":
        """The same without readings in which heat of before may be, as much as a straight lead-in brings."""
        path = self.path
        lit = int(np.argmax(path.lit))
        hop = path.positions[lit + 1] - path.positions[lit]
        lead = path.positions[0] - hop * np.arange(LEAD, 0, -1)[:, np.newaxis]
        half = 0.5 * np.array(self.process.plate[:2])
        before = ScanPath(
            name=path.name,
            positions=np.concatenate((np.clip(lead, -half, half), path.positions)),
            lit=np.concatenate((np.ones(LEAD, np.bool_), path.lit)),
            tick=path.tick,
        )
        power = np.concatenate((np.full(LEAD, self.power[lit]), self.power))
        cold = self.twin(self.process).peaks
        warm = roll_out(self.process, before, power).peaks[LEAD:]
        left = (warm - cold) > FORGOTTEN * (np.median(cold[path.lit]) - self.process.ambient)
        ticks = int(np.flatnonzero(left)[-1]) + 1 if left.any() else 0
        late = self.arrived > ticks + (self.stamped or 0.0)
        if late.sum() < FEWEST:
            raise BadInput(
                f"{path.name} begins when the plate was hot already, and that is felt for {ticks} of its "
                f"{len(path)} ticks; record from before the laser comes on"
            )
        note = f"{path.name} begins when the plate was hot already: its first {ticks} ticks are not compared"
        return replace(
            self,
            path=replace(path, notes=(*path.notes, note)),
            arrived=self.arrived[late],
            readings=self.readings[late],
            places=None if self.places is None else self.places[late],
            coaxial=self.coaxial[late],
        )

    def find_lit(self, delay: float) -> NDArray[np.bool_]:
        """(m,): readings that were taken at the end of a lit tick."""
        taken = self.arrived - delay
        tick = np.clip(np.ceil(taken - 1e-6).astype(np.intp) - 1, 0, len(self.path) - 1)
        return np.asarray((taken >= 1.0) & self.path.lit[tick])

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
        camera.see(plant.reset())
        peaks, places = np.empty(len(self.path)), np.empty((len(self.path), 2))
        grains: list[tuple[int, FloatArray]] = []
        every = 1 + int(np.count_nonzero(self.path.lit)) // PICTURES
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "temperatures of .* the range of material")
            for k in range(len(self.path)):
                image = camera.see(plant.step(float(self.power[k]), self.path.spot(k)))
                peaks[k], places[k] = image.peak.temperature, (image.peak.x, image.peak.y)
                if noise > 0.0 and self.path.lit[k] and k % every == 0:
                    grains.append((k, draw_noise(image, noise, k)))
                if progress is not None:
                    progress(k + 1, len(self.path))
        bias, share = average_noise(self.path, peaks, grains, noise)
        return Simulated(Peaks(peaks, places - self.path.positions[1:]), bias, share)

    def at(self, trajectories: FloatArray, delay: float, first: float | FloatArray = 0.0) -> FloatArray:
        """Trajectories (n, …) that begin at `first`, when the readings that arrived were taken, (m, …)."""
        begin = np.full_like(trajectories[:1], first)
        ends = np.arange(len(self.path) + 1, dtype=np.float64)
        curve = CubicSpline(ends, np.concatenate((begin, trajectories)), axis=0)
        return np.asarray(curve(np.clip(self.arrived - delay, 0.0, ends[-1])))

    def sample(self, trajectories: FloatArray, delay: float) -> FloatArray:
        """Of trajectories (n + 1, …) with their start the same by straight lines, and quickly."""
        at = np.clip(self.arrived - delay, 0.0, len(self.path))
        low = np.minimum(at.astype(np.intp), len(self.path) - 1)
        share = (at - low)[:, np.newaxis]
        return np.asarray(trajectories[low] * (1.0 - share) + trajectories[low + 1] * share)


def draw_noise(image: Image, noise: float, seed: int) -> FloatArray:
    """(draws, 2): what noise and its opposite add to the peak of a picture, K; drawn alike in every step."""
    T, peak = image.temperature, image.peak.temperature
    least = min(peak - FARTHEST * noise, float(T.max()))
    rows, columns = (np.flatnonzero((least <= T).any(axis=axis)) for axis in (1, 0))
    y, x = (slice(max(i[0] - EDGE, 0), i[-1] + EDGE + 1) for i in (rows, columns))
    grain = np.random.default_rng(seed).normal(0.0, noise, (DRAWS, *T[y, x].shape))
    drawn = [
        Surface(image.x[x], image.y[y], T[y, x] + sign * one, 0.0).peak.temperature
        for one in grain
        for sign in (1.0, -1.0)
    ]
    return np.array(drawn).reshape(DRAWS, 2) - peak


def average_noise(
    path: ScanPath, peaks: FloatArray, grains: "list[tuple[int, FloatArray]]", noise: float
) -> tuple[FloatArray, FloatArray]:
    """(n,) each: what noise adds to the peak at the end of each tick, K, and its spread over a pixel's.

    Settled spots as hot as each other are alike, so theirs is averaged; one that still forms has its own.
    """
    if len(grains) < 2:
        return np.zeros(len(peaks)), np.ones(len(peaks))
    ticks, added = np.array([k for k, _ in grains]), np.stack([grain for _, grain in grains])
    bias, square = added.mean(axis=(1, 2)), (added**2).mean(axis=(1, 2))
    settled = np.flatnonzero(count_lit(path.lit)[ticks + 1] > START)
    settled = settled[np.argsort(peaks[ticks[settled]])]
    for values in (bias, square):
        values[settled] = smooth(values[settled])
    order = np.argsort(peaks[ticks])
    square[order] = smooth(square[order])
    bias, square = (np.interp(np.arange(len(peaks)), ticks, values) for values in (bias, square))
    return bias, np.maximum(np.sqrt(np.maximum(square - bias**2, 0.0)) / noise, LEAST_SHARE)


def count_lit(lit: NDArray[np.bool_]) -> NDArray[np.intp]:
    """(n + 1,): ticks of light without a pause by each end of a tick, from the start on."""
    n = np.arange(len(lit) + 1)
    dark = np.concatenate(([True], ~lit))
    return np.asarray(n - np.maximum.accumulate(np.where(dark, n, 0)))


def smooth(values: FloatArray) -> FloatArray:
    """(n,): the mean of each and its neighbours, fewer towards the ends."""
    if not len(values):
        return values
    half = min(NEAR // 2, (len(values) - 1) // 2)
    n = np.arange(len(values))
    reach = np.minimum(half, np.minimum(n, n[::-1]))
    total = np.concatenate(([0.0], np.cumsum(values)))
    return np.asarray((total[n + reach + 1] - total[n - reach]) / (2 * reach + 1))


def cut(path: ScanPath, ticks: int, *notes: str) -> ScanPath:
    """The first so many ticks of a path."""
    return ScanPath(
        name=path.name,
        positions=path.positions[: ticks + 1],
        lit=path.lit[:ticks],
        power=None if path.power is None else path.power[:ticks],
        tick=path.tick,
        notes=(*path.notes, *notes),
    )


def set_up(
    recording: Recording, process: Process, ticks: int, span: tuple[float, float] = (0.0, np.inf)
) -> Experiment:
    """The first so many ticks of a recording as an experiment on a process; readings of a span, s, count."""
    path = recording.path(process.tick)
    check_on_plate(
        path.name,
        path.positions,
        path.lit,
        process.plate[:2],
        cure=", or give --centre",
        units=("µm", "mm"),
    )
    last = int(np.ceil(min(span[1] / path.tick, len(path))))
    if last < len(path):
        path = cut(path, max(last, 2))
    if len(path) > ticks:
        path = cut(path, ticks, f"only the first {ticks} of {len(path)} ticks are fitted; see --ticks")
    process = fit_camera(process, recording.readings)
    at_speed = replace(process, speed=float(path.lit_speeds.max(initial=0.0)) or process.speed)
    readings, tally = recording.readings, count_faults(recording.readings)
    arrived = readings.arrived / path.tick
    use = tally.usable & (arrived <= len(path)) & (arrived >= span[0] / path.tick)
    if use.sum() < FEWEST:
        raise BadInput(
            f"a fit needs at least {FEWEST} usable readings, but {recording.name} has {int(use.sum())}; "
            f"{'record more' if len(readings) else 'name their column t_measured_k or measured_peak_k'}"
        )
    age = (readings.arrived - readings.taken)[use] / path.tick
    stamped = float(np.median(age)) if np.isfinite(age).all() else None
    arrived = arrived[use] if stamped is None else arrived[use] - age + stamped  # by each one's own stamp
    places = None if readings.place is None else readings.place[use]
    return Experiment(
        path=path,
        given=process,
        process=at_speed,
        arrived=arrived,
        readings=readings.peak[use],
        places=places if places is not None and np.isfinite(places).any() else None,
        coaxial=np.zeros((len(arrived), 2), np.bool_) if readings.coaxial is None else readings.coaxial[use],
        stamped=stamped,
        whole=readings.peak[np.isfinite(readings.peak)],
        is_camera=readings.frame is not None or readings.place is not None,
        tally=tally,
    )


class Columns(NamedTuple):
    """Slopes of readings, K, and of the places of their peaks, σ."""

    readings: FloatArray  # (m, p)
    places: FloatArray  # (m, 2, p)


Several = tuple[Peaks, ...]  # of each log


class Model:
    """Names of the parameters of some experiments, and what they mean; readings of all logs in one row."""

    def __init__(
        self,
        logs: tuple[Experiment, ...],
        names: tuple[str, ...],
        priors: Mapping[str, Prior] | None = None,
        camera: Prior = (1.0, 0.0),
    ) -> None:
        self.logs, self.names, self.camera = logs, names, camera[0]
        self.do = logs[0]
        self.reaches = [REACHES[name] for name in names]
        self.prior = np.array([reach.prior for reach in self.reaches])
        self.held = np.array([reach.held for reach in self.reaches])
        self.low = np.array([reach.low for reach in self.reaches])
        self.high = np.array([reach.high for reach in self.reaches])
        self.unsure = SENSOR in names and 0.0 < camera[0] < 1.0  # is it not known what a reading is?
        self.usual = np.array([reach.usual for reach in self.reaches])
        self.heat = np.array([name in CHANGE_HEAT for name in names])
        self.sigma, self.passage = self.do.process.beam.sigma, self.do.passage
        self.readings = np.concatenate([log.readings for log in logs])
        unknown = [np.full((len(log.readings), 2), np.nan) for log in logs]
        self.places = np.concatenate(
            [none if log.places is None else log.places for log, none in zip(logs, unknown, strict=True)]
        )
        self.delay = self.do.stamped if self.do.stamped is not None else float(self.do.process.camera.delay)
        self.said = np.zeros(len(names))  # by the process
        self.put(self.said, LAG, self.do.process.laser.lag / self.passage)
        self.put(self.said, SENSOR, camera[0])
        self.put(self.prior, SENSOR, camera[1])
        for name, prior in (priors or {}).items():
            i = names.index(name)
            self.said[i], self.prior[i] = self.enter(name, *prior)
            self.held[i] = True

    def enter(self, name: str, value: float, error: float) -> tuple[float, float]:
        """A value and its error as people have them, in the fit's own units."""
        process = self.do.process
        was = {"absorptivity": process.beam.absorptivity, "sigma": 1e6 * process.beam.sigma}.get(name, 1.0)
        if name in FACTORS:
            return float(np.log(value / was)), error / value
        zero = process.ambient if name == AMBIENT else 0.0
        per = {
            LAG: 1e6 * self.passage,
            SCANNER: self.passage / process.tick,
            **dict.fromkeys(OFFSETS, 1e6 * self.sigma),
        }.get(name, 1.0)
        return (value - zero) / per, error / per

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
        return self.get(values, SCANNER) * self.passage / self.do.path.tick

    def make(self, values: FloatArray, log: Experiment | None = None) -> Process:
        """The process of these parameters, at the speed of a log."""
        factors = {
            name: float(np.exp(v)) for name, v in zip(self.names, values, strict=True) if name in OF_HEAT
        }
        lag = self.get(values, LAG) * self.passage if LAG in self.names else None
        return apply((log or self.do).process, factors, lag, self.get(values, AMBIENT))

    def drive(self, values: FloatArray) -> Several:
        """Peaks by the twin with these parameters."""
        late = self.find_late(values)
        return tuple(log.late(late).twin(self.make(values, log)) for log in self.logs)

    def simulate(
        self, values: FloatArray, noise: float, progress: Progress | None = None
    ) -> tuple[Simulated, ...]:
        """Peaks by the plant with these parameters."""
        late = self.find_late(values)
        return tuple(log.late(late).plant(self.make(values, log), noise, progress) for log in self.logs)

    def leave(self, values: FloatArray) -> FloatArray:
        """By how many standard deviations parameters leave what the process says."""
        return np.asarray(((values - self.said) / self.prior)[self.held])

    def gather(
        self, trajectories: Sequence[FloatArray], delay: float, first: float | FloatArray = 0.0
    ) -> FloatArray:
        """Trajectories of all logs when their readings were taken, (m, …)."""
        each = zip(self.logs, trajectories, strict=True)
        return np.concatenate([log.at(line, delay, first) for log, line in each])

    def read(
        self, peaks: Several, values: FloatArray, bias: Sequence[FloatArray] | None = None
    ) -> FloatArray:
        """What the readings should be, but for the noise; `bias` is what that adds to a camera's maximum."""
        gain, delay = np.exp(self.get(values, "gain")), self.find_delay(values)
        ambient = self.do.process.ambient + self.get(values, AMBIENT)
        read = gain * self.gather([each.peaks for each in peaks], delay, ambient)
        if bias is not None:
            read = read + self.get(values, SENSOR, self.camera) * self.gather(bias, delay)
        return np.asarray(read)

    def see(self, peaks: Several, values: FloatArray) -> FloatArray:
        """(m, 2): where peaks should be seen, σ."""
        delay, late = self.find_delay(values), self.find_late(values)
        offset = [self.get(values, name) for name in (*OFFSETS, TRAIL)]
        places = self.expect(peaks, delay, late) / self.sigma
        return np.asarray(places + offset[:2] + offset[2] * self.find_headings(delay + late))

    def expect(self, peaks: Several, delay: float, late: float) -> FloatArray:
        """(m, 2): where peaks are seen, m, by images that do not lie off."""
        each = zip(self.logs, peaks, strict=True)
        return np.concatenate([expect(log, peak.behind, delay, late) for log, peak in each])

    def find_headings(self, late: float) -> FloatArray:
        """(m, 2): h when the readings that arrived were taken."""
        return np.concatenate([find_headings(log, late) for log in self.logs])

    def find_slopes(self, at: FloatArray) -> Several:
        """(n, …, heat): ∂T/∂(what changes the heat), and that of the way to the peak, by the twin."""
        columns: list[list[Peaks]] = []
        for i in np.flatnonzero(self.heat):
            reach, ends = self.reaches[i], np.repeat(at[np.newaxis], 2, axis=0)
            back = min(reach.slope, float(at[i]) - reach.low)
            ends[:, i] += (-back, reach.slope)
            below, above = (self.drive(values) for values in ends)
            columns.append(
                [
                    Peaks(*((up - down) / (back + reach.slope) for up, down in zip(high, low, strict=True)))
                    for high, low in zip(above, below, strict=True)
                ]
            )
        return tuple(
            Peaks(*(np.stack(parts, axis=-1) for parts in zip(*each, strict=True)))
            for each in zip(*columns, strict=True)
        )

    def find_columns(
        self,
        driven: Several,
        slopes: Several,
        values: FloatArray,
        bias: Sequence[FloatArray] | None = None,
    ) -> Columns:
        """How readings and places change with all parameters."""
        return Columns(
            self._find_reading_columns(driven, slopes, values, bias),
            self._find_place_columns(driven, slopes, values),
        )

    def _find_reading_columns(
        self, driven: Several, slopes: Several, values: FloatArray, bias: Sequence[FloatArray] | None
    ) -> FloatArray:
        delay, gain = self.find_delay(values), float(np.exp(self.get(values, "gain")))
        start = np.array([float(name == AMBIENT) for name in self.names])[self.heat]
        heat = iter((gain * self.gather([slope.peaks for slope in slopes], delay, start)).T)
        peaks = [each.peaks for each in driven]
        ambient = self.do.process.ambient + self.get(values, AMBIENT)
        columns = []
        for name in self.names:
            if name in CHANGE_HEAT:
                columns.append(next(heat))
            elif name == "gain":
                columns.append(gain * self.gather(peaks, delay, ambient))
            elif name == "delay":
                ends = (self.gather(peaks, delay + half, ambient) for half in (HALF, -HALF))
                columns.append(gain * np.subtract(*ends) / (2.0 * HALF))
            elif name == SENSOR and bias is not None:
                columns.append(self.gather(bias, delay))
            else:
                columns.append(np.zeros(len(self.readings)))
        return np.stack(columns, axis=1)

    def _find_place_columns(self, driven: Several, slopes: Several, values: FloatArray) -> FloatArray:
        columns = np.zeros((len(self.readings), 2, len(values)))
        if TRAIL not in self.names:
            return columns
        delay, late = self.find_delay(values), self.find_late(values)
        each = zip(self.logs, slopes, strict=True)
        moved = np.concatenate([interpolate(log, slope.behind, delay) for log, slope in each])
        columns[..., self.heat] = moved / self.sigma
        ends = [self.expect(driven, delay + step, late) for step in (HALF, -HALF)]
        beam = np.concatenate([find_beam_slopes(log, delay + late) for log in self.logs])
        fixed = {
            "delay": (ends[0] - ends[1]) / (2.0 * HALF * self.sigma),
            SCANNER: beam * self.passage / self.do.path.tick / self.sigma,
            OFFSETS[0]: np.array([1.0, 0.0]),
            OFFSETS[1]: np.array([0.0, 1.0]),
            TRAIL: self.find_headings(delay + late),
        }
        for i, name in enumerate(self.names):
            if name in fixed:
                columns[..., i] += fixed[name]
        return columns


def find_settled(do: Experiment, delay: float) -> NDArray[np.bool_]:
    """(m,): readings that have a place, and were taken when the laser had been on for some time."""
    if do.places is None:
        return np.zeros(len(do.arrived), np.bool_)
    since = count_lit(do.path.lit)
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
