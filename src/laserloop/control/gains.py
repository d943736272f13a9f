"""Gains of the controllers without a model: tuned numbers, one set for each plant, kept beside the code."""

import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.control.feedforward import FeedforwardGains
from laserloop.control.pi import PiGains

SHELF = "gains"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gains:
    """What tuning on the training paths of one plant gave."""

    constant: float  # W
    pi: PiGains
    feedforward: FeedforwardGains

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


def find_gains(plant: str) -> Gains:
    """The shipped gains for a plant of the default material, beam and window."""
    file = files("laserloop.control") / SHELF / f"{plant}.json"
    if not file.is_file():
        raise BadInput(f"there are no tuned gains for the plant {plant!r}: tune them first")
    return Gains.from_json(json.loads(file.read_text(encoding="utf-8"))["gains"])
