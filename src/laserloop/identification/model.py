"""What readings should be for some parameters, and how they change with them.

p  parameters: logarithms of factors, ticks of delay, lags in times that the beam takes for σ, offsets in σ
m  readings      n  ticks
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from laserloop.identification.experiment import Experiment, Peaks
from laserloop.identification.parameters import (
    CHANGE_HEAT,
    LAG,
    OF_HEAT,
    OFFSETS,
    REACHES,
    SCANNER,
    TRAIL,
    apply,
)
from laserloop.identification.places import (
    HALF,
    expect,
    find_beam_slopes,
    find_headings,
    interpolate,
)
from laserloop.process import Process

FloatArray = NDArray[np.float64]


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
