"""What a learned predictor was made for, and what speaks against using it elsewhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.path import ScanPath
from laserloop.process import Process
from laserloop.process.camera import Sampling, check_sampling

SPEED_RANGE = 1.05  # times slower or faster than what was learned; 5 % of speed are 12 K
PIXEL_RANGE = 0.5  # of the beam's σ; a wider pixel averages the peak away: 60 K at 1 σ, 194 K at 2 σ
AREA_SLACK = 5e-5  # m
POWER_SLACK = 1.01
SAME = ("material", "plate_mm", "ambient_k", "beam.sigma_um", "beam.absorptivity", "laser.lag_us", "tick_us")
READINGS = {"node": "hottest node", "peak": "peak between the nodes"}
OWN_READING = {"paper": "node", "graded": "peak"}  # of T_max, by plant
Box = tuple[float, float, float, float]


class Misfit(NamedTuple):
    """What a predictor was not made for; both are clauses without their full stop."""

    why: str
    cure: str | None = None  # None: a new training


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedFor:
    """The process, the plant, how T_max was read, and what the data covered."""

    process: Process
    plant: str
    reading: str = "node"  # T_max is the hottest node, or the peak between nodes
    sampling: Sampling = "nearest"  # how previews were read
    area: Box  # m: x_min, x_max, y_min, y_max of the beam
    temperatures: tuple[float, float]  # K, of T_max

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and words; units are in the names."""
        return {
            "process": self.process.to_json(),
            "plant": self.plant,
            "reading": self.reading,
            "sampling": self.sampling,
            "area_mm": [round(1e3 * side, 6) for side in self.area],
            "temperatures_k": [round(limit, 3) for limit in self.temperatures],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any], *, where: str) -> "TrainedFor":
        """What `to_json` wrote; anything else is refused in one sentence."""
        try:
            x_low, x_high, y_low, y_high = (float(side) / 1e3 for side in given["area_mm"])
            coldest, hottest = map(float, given["temperatures_k"])
            words = str(given["plant"]), str(given["reading"])
            sampling = _read_sampling(given)
            process = Process.from_json(given["process"], where=f"the process of {where}")
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            if isinstance(problem, BadInput):
                raise
            raise BadInput(
                f"{where} must say what it was trained for (process, plant, reading, sampling, area_mm, "
                "temperatures_k), but does not; train it again."
            ) from None
        return cls(
            process=process,
            plant=words[0],
            reading=words[1],
            sampling=sampling,
            area=(x_low, x_high, y_low, y_high),
            temperatures=(coldest, hottest),
        )

    def find_misfits(self, process: Process, plant: str, path: ScanPath) -> list[Misfit]:
        """What of a process, a plant and a path this was not made for."""
        return [
            *self._judge_plant(plant),
            *self.judge_process(process, plant),
            *self._judge_path(path),
        ]

    def judge_process(self, process: Process, plant: str | None = None) -> list[Misfit]:
        """What of a process this was not made for, wherever the beam goes."""
        changed = [key for key in self.process.differences(process) if key in SAME]
        return [
            *(Misfit(f"{key} is another than in its training") for key in changed),
            *self._judge_window(process),
            *self._judge_camera(process, plant or self.plant),
        ]

    def _judge_plant(self, plant: str) -> Iterator[Misfit]:
        if plant != self.plant:
            why = f"it was trained on the {self.plant} plant, not on {plant}"
            yield Misfit(why, f"name its plant with --plant {self.plant}")

    def _judge_window(self, process: Process) -> Iterator[Misfit]:
        (coldest, hottest), (low, high) = self.temperatures, process.window
        if low < coldest or high > hottest:
            yield Misfit(
                f"it saw peaks of {coldest:.0f} to {hottest:.0f} K, but the window is {low:g} to {high:g} K"
            )
        most, learned = process.laser.power[1], self.process.laser.power[1]
        if most > POWER_SLACK * learned:
            yield Misfit(f"it saw powers up to {learned:g} W, but the laser may give {most:g} W")

    def _judge_path(self, path: ScanPath) -> Iterator[Misfit]:
        speed, usual = path.median_speed, self.process.speed
        if not usual / SPEED_RANGE <= speed <= usual * SPEED_RANGE:
            yield Misfit(
                f"it was trained at {1e3 * usual:.0f} mm/s, but the path runs at {1e3 * speed:.0f} mm/s"
            )
        x, y = path.positions[1:][path.lit].T
        x_low, x_high, y_low, y_high = self.area
        inside = (x >= x_low - AREA_SLACK) & (x <= x_high + AREA_SLACK)
        inside &= (y >= y_low - AREA_SLACK) & (y <= y_high + AREA_SLACK)
        if not inside.all():
            yield Misfit(
                f"its beam stayed within {1e3 * x_low:.3g} to {1e3 * x_high:.3g} mm in x and "
                f"{1e3 * y_low:.3g} to {1e3 * y_high:.3g} mm in y, which "
                f"{np.count_nonzero(~inside)} of {len(x)} lit ticks leave",
                "move a file's part there with --centre or --offset-mm",
            )

    def _judge_camera(self, process: Process, plant: str) -> Iterator[Misfit]:
        own = OWN_READING.get(plant, self.reading)
        if self.reading != own:
            yield Misfit(
                f"its T_max is the {READINGS[self.reading]}, but on the {plant} plant it is the "
                f"{READINGS[own]}"
            )
        pixel, most = process.camera.pixel or 0.0, PIXEL_RANGE * process.beam.sigma
        if pixel > most:
            yield Misfit(
                f"it was trained on temperatures at points, but a pixel of {1e6 * pixel:g} µm reads the mean "
                f"over more than {PIXEL_RANGE:g} σ of the beam",
                f"take a camera with --pixel-um {1e6 * most:g} or less",
            )


def _read_sampling(given: Mapping[str, Any]) -> Sampling:
    """How previews were read; models of version 0.2 and before only say whether it was by the cubic."""
    if "sampling" not in given:
        return "smooth" if given["smooth"] else "bilinear"
    sampling: Sampling = given["sampling"]
    check_sampling(sampling)
    return sampling
