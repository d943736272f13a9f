"""Gains: shipped ones are used only on the process they were tuned for."""

from typing import Any

import pytest

from laserloop.control.simple import Gains, find_gains
from laserloop.process import Process


@pytest.mark.parametrize("plant", ["paper", "graded"])
def test_the_papers_process_has_gains_on_each_plant(plant: str) -> None:
    gains = find_gains(plant, Process())
    assert gains is not None
    assert gains.pi is not None
    assert 760.0 < gains.pi.setpoint < 800.0
    assert Gains.from_json(gains.to_json()) == gains


def test_each_plant_has_its_own() -> None:
    paper, graded = (find_gains(plant, Process()) for plant in ("paper", "graded"))
    assert paper is not None
    assert graded is not None
    assert paper.constant > graded.constant + 2.0  # W; the resolved plant runs hotter


@pytest.mark.parametrize(
    "change",
    [
        {"material": "ti64"},
        {"window_k": [1500.0, 1700.0]},
        {"power_w": [0.0, 200.0]},
        {"speed_mm_s": 370.0},
        {"sigma_um": 80.0},
        {"absorptivity": 0.5},
        {"tick_us": 100.0},
        {"lag_us": 100.0},
        {"ambient_k": 400.0},
        {"plate_mm": [15.0, 10.0, 1.0]},
        {"pixel_um": 100.0},
    ],
    ids=str,
)
def test_another_process_has_none(change: dict[str, Any]) -> None:
    assert find_gains("paper", Process().change(**change)) is None


@pytest.mark.parametrize(
    "change",
    [{"noise_k": 5.0}, {"delay_ticks": 2}, {"every_ticks": 4}, {"exposure_ticks": 2}, {"pixel_um": 50.0}],
    ids=str,
)
def test_what_a_camera_forgives_needs_no_new_ones(change: dict[str, Any]) -> None:
    assert find_gains("paper", Process().change(**change)) == find_gains("paper", Process())
