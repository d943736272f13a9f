"""A recording: where the beam was, what power it got, and what a camera said, at the machine's own times.

Bad readings are counted and marked, not repaired. `read_log` finds the reader of a format.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, count, plain
from laserloop.paths.path import ScanPath
from laserloop.process import Process

FloatArray = NDArray[np.float64]

MOST_ROWS = 2_000_000  # of a log; 20 s of a scanner at 100 kHz
MOST_TICKS = 400_000  # of a recording at the control period
ENDINGS = (".csv", ".json", ".parquet", ".h5", ".hdf5")
POSES = "poses.csv"  # of a folder of frames
SPARSE = 100.0  # ticks between rows, beyond which nobody knows what the laser did
CREDIBLE = (50.0, 5000.0)  # K; colder or hotter is a broken pixel, not a plate
REPEATS = 5  # equal readings in a row, from which on they may be called frozen
CHANCE = 1e-3  # that a coarse sensor repeats itself as often anywhere in the log, below which it is frozen
MANY = 20  # changes of a reading, from which on it can be told how coarse the sensor is
GLIMPSE = 1e-6  # share of a tick with the laser on, below which it is rounding
LATE = 1.5  # usual ages beyond which a reading is late


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture: temperatures (y, x) in K at pixel centres x and y, m."""

    x: FloatArray
    y: FloatArray
    temperature: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readings:
    """What a camera or a pyrometer said, in the order of arrival."""

    arrived: FloatArray  # (m,), s
    taken: FloatArray  # (m,), s, end of the exposure; NaN if the log does not say
    peak: FloatArray  # (m,), K; NaN if broken
    saturated: NDArray[np.bool_]  # (m,)
    place: FloatArray | None = None  # (m, 2), m, where the peak was seen; NaN if the log does not say
    coaxial: NDArray[np.bool_] | None = (
        None  # (m, 2), does a place count from the beam? None: from the plate's centre
    )
    frame: Callable[[int], Frame] | None = None  # reads one picture, if there are pictures
    pixel: float | None = None  # m, edge of their pixels

    def __len__(self) -> int:
        return len(self.arrived)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """A run of a machine, SI units; its times begin with 0."""

    name: str
    times: FloatArray  # (n + 1,), s, rising
    positions: FloatArray  # (n + 1, 2), m, of the beam; the origin is the plate's centre
    power: FloatArray  # (n,), W, from each time to the next
    on: NDArray[np.bool_] | None = None  # (n,), may the laser be on? None: where it had power
    readings: Readings
    process: Process | None = None  # if the log has it inside
    notes: tuple[str, ...] = ()  # what was assumed; sentences without their full stop

    @property
    def lit(self) -> NDArray[np.bool_]:
        """Whether the laser was on, from each time to the next, (n,); a run of ours may be on with 0 W."""
        return self.power > 0.0 if self.on is None else self.on

    @property
    def duration(self) -> float:
        """From the first row to the last, s."""
        return float(self.times[-1])

    def path(self, tick: float) -> ScanPath:
        """The beam at whole ticks, with the mean power of each: no energy is lost; lit where any came."""
        apart = float(np.median(np.diff(self.times)))
        if apart > SPARSE * tick:
            raise BadInput(
                f"{self.name}: rows must lie at most {SPARSE:g} ticks of {1e6 * tick:g} µs apart, but most "
                f"lie {plain(1e3 * apart)} ms apart; check the unit of the times, or give a --process with a "
                "longer tick_us"
            )
        ticks = int(np.floor(self.duration / tick + 1e-6))
        if not 1 <= ticks <= MOST_TICKS:
            raise BadInput(
                f"{self.name} must last 1 to {MOST_TICKS} ticks, but is {1e3 * self.duration:g} ms long, "
                f"which is {count(ticks, 'tick')} of {1e6 * tick:g} µs; give a --process with another "
                "tick_us, or cut the log"
            )
        ends: FloatArray = tick * np.arange(ticks + 1, dtype=np.float64)
        steps = np.diff(self.times)
        energy = np.concatenate(([0.0], np.cumsum(self.power * steps)))
        bright = np.concatenate(([0.0], np.cumsum(self.lit * steps)))
        share = np.diff(np.interp(ends, self.times, bright)) / tick
        mean = np.diff(np.interp(ends, self.times, energy)) / tick
        lit = share > GLIMPSE
        return ScanPath(
            name=self.name,
            positions=self.places_at(self._trim(ends, lit)),
            lit=lit,
            power=np.where(lit, np.maximum(mean, 0.0), 0.0),
            tick=tick,
            notes=self.notes,
        )

    def places_at(self, times: FloatArray) -> FloatArray:
        """(…, 2): where the beam was, m."""
        return np.stack([np.interp(times, self.times, line) for line in self.positions.T], axis=-1)

    def _trim(self, ends: FloatArray, lit: NDArray[np.bool_]) -> FloatArray:
        """Where ticks end, s: beside a dark one by the last or first light, so that no jump is heated."""
        bright = np.flatnonzero(self.lit)
        if not len(bright):
            return ends
        off, on = self.times[bright + 1], self.times[bright]
        before = np.searchsorted(on, ends - GLIMPSE * (ends[1] - ends[0]))  # stretches that began by then
        after = np.searchsorted(off, ends + GLIMPSE * (ends[1] - ends[0]))
        last = np.where(before > 0, np.minimum(off[np.maximum(before - 1, 0)], ends), ends)
        first = np.where(after < len(on), np.maximum(on[np.minimum(after, len(on) - 1)], ends), ends)
        was, will = np.concatenate(([False], lit)), np.concatenate((lit, [False]))
        return np.where(was & ~will, last, np.where(will & ~was, first, ends))

    def moved(self, by: FloatArray) -> "Recording":
        """The same with all places moved by (x, y), m."""
        frame = self.readings.frame

        def shifted(i: int) -> Frame:
            assert frame is not None
            seen = frame(i)
            return Frame(seen.x + by[0], seen.y + by[1], seen.temperature)

        place = self.readings.place
        if place is not None:
            coaxial = self.readings.coaxial
            place = place + (by if coaxial is None else np.where(coaxial, 0.0, by))
        readings = replace(self.readings, frame=None if frame is None else shifted, place=place)
        return replace(self, positions=self.positions + by, readings=readings)

    def centred(self) -> "Recording":
        """The same with the middle of its lit part at the plate's centre."""
        lit = np.flatnonzero(self.lit)
        ends = self.positions[np.union1d(lit, lit + 1)] if len(lit) else self.positions
        return self.moved(-0.5 * (ends.min(axis=0) + ends.max(axis=0)))


def fit_camera(process: Process, readings: Readings) -> Process:
    """The process with the pixels of the recording's frames, if it has some."""
    pixel = readings.pixel or process.camera.pixel
    return replace(process, camera=replace(process.camera, pixel=pixel))


@dataclass(slots=True, eq=False)
class RowTimes:
    """Checks that times rise from row to row, and lets them begin with 0."""

    where: Callable[[int], str]  # names a row
    column: str
    seconds: FloatArray
    start: float = field(init=False)

    def __post_init__(self) -> None:
        if len(self.seconds) < 2:
            raise BadInput(
                f"{self.where(0)}: a log must have at least two rows, but has {len(self.seconds)}; "
                "record more"
            )
        back = np.flatnonzero(np.diff(self.seconds) <= 0.0)
        if len(back):
            raise BadInput(
                f"{self.where(int(back[0]) + 1)}: {self.column} must rise from row to row, but does not; "
                "sort the rows and remove doubles"
            )
        self.start = float(self.seconds[0])


def read_log(text: str | Path, columns: Mapping[str, str] | None = None) -> Recording:
    """Read what a machine or laserloop wrote down: a format's reader is loaded when it is asked for.

    `columns` tells how a CSV names its columns: {"time": "Time (ms)", "peak": "T (°C)"}.
    """
    file = Path(text)
    if file.name == POSES or file.is_dir():
        from laserloop.logs.frames import read_frame_folder

        return read_frame_folder(file if file.is_dir() else file.parent)
    names = (file, Path(str(text).rpartition("#")[0]))  # a # is part of a name, or begins a group inside it
    match next((end for name in names if (end := name.suffix.lower()) in ENDINGS), None):
        case ".csv":
            from laserloop.logs.csv_log import read_csv_log

            return read_csv_log(file, columns)
        case ".parquet":
            from laserloop.logs.run_json import read_run_parquet as read
        case ".json":
            from laserloop.logs.run_json import read_run_json as read
        case ".h5" | ".hdf5":
            from laserloop.logs.hdf5_log import read_hdf5_log as read
        case _:
            raise BadInput(
                f"a log must end in {', '.join(ENDINGS)}, or be a folder with {POSES}, but got "
                f"{str(text)[-80:]!r}; convert it"
            )
    return read(file)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FaultCounts:
    """How many readings came, and what was wrong with them; `usable` marks those with nothing wrong."""

    readings: int
    lost: int  # that the cadence promises and that are not there
    late: int  # older than one that came before, or much older than usual
    nan: int
    saturated: int
    frozen: int
    usable: NDArray[np.bool_]  # (readings,)
    stale: NDArray[np.bool_]  # (readings,), frozen: says nothing new

    def to_json(self) -> dict[str, int]:
        """The counts."""
        return {
            name: getattr(self, name) for name in ("readings", "lost", "late", "nan", "saturated", "frozen")
        }


def count_faults(readings: Readings) -> FaultCounts:
    """Judge every reading of a recording."""
    peak = readings.peak
    broken = ~np.isfinite(peak)
    with np.errstate(invalid="ignore"):
        saturated = readings.saturated | (peak > CREDIBLE[1])
        cold = ~broken & (peak < CREDIBLE[0])
    stale, late = find_frozen(peak), find_late(readings)
    return FaultCounts(
        readings=len(readings),
        lost=count_lost(readings),
        late=int(late.sum()),
        nan=int(broken.sum() + cold.sum()),
        saturated=int(saturated.sum()),
        frozen=int(stale.sum()),
        usable=~(broken | cold | saturated | stale | late),
        stale=stale,
    )


def find_frozen(peak: NDArray[np.float64]) -> NDArray[np.bool_]:
    """All but the first of at least `REPEATS` equal readings in a row, broken ones between them or not.

    A coarse sensor repeats itself: how often is told by how many times a value that came lasted for more
    than one reading, and what may be by chance is not frozen.
    """
    frozen = np.zeros(len(peak), np.bool_)
    whole = np.flatnonzero(np.isfinite(peak))
    if not len(whole):
        return frozen
    ends = np.array([0, *(np.flatnonzero(np.diff(peak[whole]) != 0.0) + 1).tolist(), len(whole)])
    lengths = np.diff(ends)
    _, value, times = np.unique(peak[whole[ends[:-1]]], return_inverse=True, return_counts=True)
    usual = float(np.mean(lengths > 1)) if len(lengths) >= MANY else 0.0
    own = np.bincount(value, lengths > 1) / times
    again = np.where(times >= MANY, own, usual)[value]
    unlikely = len(whole) * again ** (lengths - 1.0) < CHANCE
    for k in np.flatnonzero((lengths >= REPEATS) & unlikely).tolist():
        frozen[whole[ends[k] + 1 : ends[k + 1]]] = True
    return frozen


def find_late(readings: Readings) -> NDArray[np.bool_]:
    """Readings taken before one that has already arrived, or much older than usual."""
    taken = readings.taken
    known = np.isfinite(taken)
    late = np.zeros(len(taken), np.bool_)
    if not known.any():
        return late
    newest = np.maximum.accumulate(np.where(known, taken, -np.inf))
    late[1:] = known[1:] & (taken[1:] < newest[:-1])
    age = readings.arrived - taken
    usual, cadence = float(np.median(age[known])), find_cadence(readings)
    with np.errstate(invalid="ignore"):
        late |= known & (age > usual + LATE * cadence)
    return late


def find_cadence(readings: Readings) -> float:
    """The usual time between two readings, s; 0 of fewer than two."""
    return float(np.median(np.diff(readings.arrived))) if len(readings) > 1 else 0.0


def count_lost(readings: Readings) -> int:
    """Readings that are missing between others, by the usual time between two."""
    cadence = find_cadence(readings)
    if cadence <= 0.0:
        return 0
    return int(np.maximum(np.round(np.diff(readings.arrived) / cadence) - 1, 0).sum())
