"""Gains of the controllers without a model: tuned numbers, one set for each plant, kept beside the code."""

import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from laserloop.control.feedforward import FeedforwardGains
from laserloop.control.pi import PiGains
from laserloop.process import Process

SHELF = "gains"
FORGIVEN = {
    f"camera.{key}" for key in ("noise_k", "exposure_ticks", "delay_ticks", "every_ticks", "heat_ratio")
}
FINE = 0.5  # of σ; wider pixels read the peak too cold


@dataclass(frozen=True, slots=True, kw_only=True)
class Gains:
    """What tuning on the training paths of one plant and process gave; None of what was not asked for."""

    constant: float  # W
    pi: PiGains | None = None
    feedforward: FeedforwardGains | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, SI."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "Gains":
        """The gains that `to_json` wrote."""
        return cls(
            constant=given["constant"],
            pi=PiGains(**given["pi"]),
            feedforward=FeedforwardGains(**given["feedforward"]),
        )


def find_gains(plant: str, process: Process) -> Gains | None:
    """The shipped gains that were tuned on this plant for this process, or None.

    Noise, delay and rate of the camera are forgiven, and pixels that are fine against the beam.
    """
    for file in (files("laserloop.control") / SHELF).iterdir():
        page = json.loads(file.read_text(encoding="utf-8")) if file.name.endswith(".json") else {}
        if page.get("plant") != plant:
            continue
        others = set(process.differences(Process.from_json(page["process"]))) - FORGIVEN
        if others == {"camera.pixel_um"} and (process.camera.pixel or 0.0) <= FINE * process.beam.sigma:
            others = set()
        if not others:
            return Gains.from_json(page["gains"])
    return None
