"""The result of a fit: values with intervals, what cannot be told apart, and the process as it is now."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.identification.intervals import correlate
from laserloop.identification.parameters import LAG, OFFSETS, SCANNER
from laserloop.process import Process

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A process fitted to readings."""

    names: tuple[str, ...]
    values: FloatArray  # (p,), logarithms of factors, ticks of delay, lags in passages, offsets in σ
    half: FloatArray  # (p,), half the length of each 95 % interval
    covariance: FloatArray  # (p, p)
    before: Process
    process: Process  # as it is now
    passage: float  # s, that the beam takes for σ
    delay: float  # ticks
    noise: float  # K, of a pixel
    time: FloatArray  # (m,), s, of the readings that count
    readings: FloatArray  # (m,), K
    fitted: FloatArray  # (m,), K
    steps: int  # simulations by the plant
    converged: bool
    not_separable: tuple[str, ...]
    notes: tuple[str, ...]
    tally: dict[str, int] = field(default_factory=dict)
    vague: tuple[str, ...] = ()  # parameters about which the readings say hardly anything

    @property
    def residual_rms(self) -> float:
        """K."""
        return float(np.sqrt(np.mean((self.readings - self.fitted) ** 2)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the readings tell of lag, scanner and offset."""
        text = {}
        for name, digits in {LAG: 0, SCANNER: 2, **dict.fromkeys(OFFSETS, 1)}.items():
            if name in self.names and name not in self.vague:
                found = self._tell_off(name)
                value = round(found["value"], digits) + 0.0  # not -0
                text[name] = f"{value:.{digits}f} ± {found['std_error']:.{digits}f}"
        sentences = []
        if LAG in text:
            sentences.append(f"the laser follows its command with a lag of {text[LAG]} µs")
        if SCANNER in text:
            sentences.append(f"the scanner comes {text[SCANNER]} ticks later than the log says")
        if all(name in text for name in OFFSETS):
            x, y = (text[name] for name in OFFSETS)
            sentences.append(f"images lie {x} µm in x and {y} µm in y from where the log has the beam")
        return tuple(f"{sentence} (± one standard error)" for sentence in sentences)

    def _tell_off(self, name: str) -> dict[str, Any]:
        """The laser's lag or an offset, µs or µm, or how late the scanner is, ticks."""
        i = self.names.index(name)
        per, least = {
            LAG: (1e6 * self.passage, 0.0),
            SCANNER: (self.passage / self.process.tick, -np.inf),
        }.get(name, (1e6 * self.before.beam.sigma, -np.inf))
        value, half, error = (
            float(each) for each in (self.values[i], self.half[i], np.sqrt(self.covariance[i, i]))
        )
        ends = {"value": value, "low": max(value - half, least), "high": value + half, "std_error": error}
        return {key: per * end for key, end in ends.items()} | {"told": name not in self.vague}

    def to_json(self) -> dict[str, Any]:
        """Values and intervals, with units in their names, and the series that they were taken from."""
        told: dict[str, Any] = {}
        units = {
            "absorptivity": ("absorptivity", self.before.beam.absorptivity),
            "diffusivity": ("diffusivity_factor", 1.0),
            "sigma": ("sigma_um", 1e6 * self.before.beam.sigma),
            "gain": ("gain", 1.0),
        }
        for name, value, half in zip(self.names, self.values.tolist(), self.half.tolist(), strict=True):
            if name == "delay":
                told["delay_ticks"] = {"value": value, "low": max(value - half, 0.0), "high": value + half}
                continue
            if name in (LAG, SCANNER, *OFFSETS):
                told[name] = self._tell_off(name)
                continue
            label, was = units[name]
            ends = {"value": value, "low": value - half, "high": value + half}
            told[label] = {key: float(was * np.exp(end)) for key, end in ends.items()}
        if "delay" not in self.names:
            told["delay_ticks"] = {"value": self.delay, "low": self.delay, "high": self.delay}
        if {LAG, SCANNER, *OFFSETS} & {*self.names}:
            told["sentences"] = list(self.sentences)
        return told | {
            "noise_k": self.noise,
            "residual_rms_k": self.residual_rms,
            "readings": len(self.readings),
            "frames": self.tally,
            "plant_runs": self.steps,
            "converged": self.converged,
            "correlation": {"names": list(self.names), "matrix": correlate(self.covariance).tolist()},
            "not_separable": list(self.not_separable),
            "notes": list(self.notes),
            "process": self.process.to_json(),
            "series": {
                "t_s": self.time.tolist(),
                "t_measured_k": self.readings.tolist(),
                "t_fitted_k": self.fitted.tolist(),
            },
        }
