"""The result of a fit: values with intervals, what cannot be told apart, and the process as it is now."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.identify.intervals import correlate
from laserloop.process import Process

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A process fitted to readings."""

    names: tuple[str, ...]
    values: FloatArray  # (p,), logarithms of factors, and ticks
    half: FloatArray  # (p,), half the length of each 95 % interval
    covariance: FloatArray  # (p, p)
    before: Process
    process: Process  # as it is now
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

    @property
    def residual_rms(self) -> float:
        """K."""
        return float(np.sqrt(np.mean((self.readings - self.fitted) ** 2)))

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
            label, was = units[name]
            ends = {"value": value, "low": value - half, "high": value + half}
            told[label] = {key: float(was * np.exp(end)) for key, end in ends.items()}
        if "delay" not in self.names:
            told["delay_ticks"] = {"value": self.delay, "low": self.delay, "high": self.delay}
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
