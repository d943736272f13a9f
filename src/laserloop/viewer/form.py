"""What can be chosen on the bench: processes, alloys, paths, controllers, and within which bounds."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from laserloop.process import find_process, shipped_materials, shipped_processes
from laserloop.process.schema import find_entry
from laserloop.report.run_record import SPOKEN

SHAPES = ("spiral", "diagonal", "vertical", "horizontal")
NUMBERS = ("speed_mm_s", "sigma_um", "absorptivity", "noise_k", "delay_ticks")
EXPLAINED = {
    "twin": "plans with a physics twin of the process",
    "pi": "feedback of the measured peak, as most shops would do it",
    "feedforward": "less power where the beam comes back; no camera",
    "constant": "one power for everything, as most machines do",
    "realtime": "plans with a trained network, for the paper's process",
    "oracle": "plans on the plant itself: slow, the upper bound",
}


@cache
def describe_form() -> dict[str, Any]:
    """Everything that the page offers."""
    return {
        "processes": {name: describe_process(find_process(name).to_json()) for name in shipped_processes()},
        "materials": list(shipped_materials()),
        "shapes": list(SHAPES),
        "controllers": [
            {"name": name, "spoken": SPOKEN.get(name, name), "text": text} for name, text in EXPLAINED.items()
        ],
        "bounds": {name: _bound(name) for name in NUMBERS},
    }


def describe_process(told: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a process that the form shows."""
    return {
        "name": told["name"],
        "material": told["material"]["name"],
        "window_k": told["window_k"],
        "power_max_w": told["laser"]["power_w"][1],
        "speed_mm_s": told["speed_mm_s"],
        "sigma_um": told["beam"]["sigma_um"],
        "absorptivity": told["beam"]["absorptivity"],
        "noise_k": told["camera"]["noise_k"],
        "delay_ticks": told["camera"]["delay_ticks"],
        "plate_mm": told["plate_mm"],
        "tick_us": told["tick_us"],
    }


def _bound(name: str) -> dict[str, Any]:
    entry = find_entry(name)
    return {"low": entry.low, "high": entry.high, "unit": entry.unit, "text": entry.text}
