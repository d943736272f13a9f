"""What laserloop writes of a run is read again as a log of the same run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Status
from laserloop.control.margins import Margins, read_margins
from laserloop.control.simple import FeedforwardGains, Gains, PiGains
from laserloop.data.episode import simulate
from laserloop.logs import read_log
from laserloop.logs.export import render_table
from laserloop.loop.run import run_closed_loop
from laserloop.paths import ScanPath, find_path
from laserloop.paths.path import Preview
from laserloop.paths.waypoints import describe_path
from laserloop.plant import Camera, Image, make_plant
from laserloop.process import CameraSettings, Process

POWERS = np.array([14.0, 3.125, 0.0, 0.0, 0.0, 20.0, 0.0, 0.1])
LIT = np.array([True, True, True, False, False, True, True, True])  # with 0 W in lit ticks, too
PROCESS = Process(name="mine").change(tick_us=133.3, every_ticks=3)


class Scripted:
    """Gives the powers above."""

    name = "scripted"
    horizon = 1
    memory = 0

    def reset(self) -> None:
        self.tick = 0

    def act(self, image: Image | None, preview: Preview) -> Action:
        self.tick += 1
        return Action(power=float(POWERS[self.tick - 1]), status=Status.SOLVED)


@pytest.fixture(scope="module")
def path() -> ScanPath:
    """It begins straight: what is written says where each tick ends, and not where the first begins."""
    turns = np.array([0.3, 0.3, 1.2, -2.0, 0.4, 0.0, 3.0, -1.0])
    positions = 3e-5 * np.concatenate(([0j], np.cumsum(np.exp(1j * turns))))
    return ScanPath(
        name="p", positions=np.column_stack((positions.real, positions.imag)), lit=LIT, tick=PROCESS.tick
    )


@pytest.fixture(scope="module", params=["control", "simulate"])
def told(path: ScanPath, request: pytest.FixtureRequest) -> dict[str, Any]:
    """The record of a run, as the verb writes it."""
    plant = make_plant("paper", PROCESS)
    if request.param == "simulate":
        return simulate(plant, path, POWERS).to_json()
    run = run_closed_loop(plant, Camera(CameraSettings(every=3, delay=1)), Scripted(), path)
    return run.to_json()


@pytest.mark.parametrize("ending", [".json", ".csv"])
def test_a_run_is_read_again_as_a_log_of_itself(
    told: dict[str, Any], path: ScanPath, ending: str, tmp_path: Path
) -> None:
    file = tmp_path / f"run{ending}"
    file.write_bytes(json.dumps(told).encode() if ending == ".json" else render_table(told, ending))
    log = read_log(file)
    again = log.path(PROCESS.tick)
    assert log.process == (PROCESS if ending == ".json" else None)
    assert again.power is not None
    np.testing.assert_allclose(again.positions, path.positions, atol=1e-12)
    np.testing.assert_array_equal(again.lit, LIT)
    np.testing.assert_allclose(again.power, POWERS, atol=1e-9)
    series = told.get("series", told)
    seen = series.get("t_measured_k", series["t_peak_k"])
    came = [k for k, value in enumerate(seen) if value is not None]
    np.testing.assert_allclose(log.readings.peak, [seen[k] for k in came])
    np.testing.assert_allclose(log.readings.arrived, path.times[1:][came], rtol=1e-9)
    if "t_measured_k" not in series:
        assert log.readings.place is None
        return
    assert log.readings.place is not None
    assert log.readings.coaxial is None
    mm = [[series[name][k] for name in ("x_measured_mm", "y_measured_mm")] for k in came]
    np.testing.assert_allclose(1e3 * log.readings.place, mm)


def test_a_dark_row_with_power_is_refused_by_its_place(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("t_s,x_mm,y_mm,power_w,lit\n1e-4,0,0,5,1\n2e-4,1,0,5,0\n")
    with pytest.raises(BadInput, match=r"log\.csv, line 3: lit must be 1, or 0 where power_w is 0, but is 0"):
        read_log(file)
    page = {"t_s": [1e-4, 2e-4], "x_mm": [0, 1], "y_mm": [0, 0], "power_w": [5, 0], "lit": [True, "no"]}
    other = tmp_path / "run.json"
    other.write_text(json.dumps(page | {"t_peak_k": [400, 500]}))
    with pytest.raises(BadInput, match=r"run\.json, .*entry 1: lit must be 1, or 0"):
        read_log(other)


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    family=st.sampled_from(["raster", "island", "speed", "stroke", "polyline", "arc", "zigzag"]),
    seed=st.integers(0, 99),
)
@example(family="stroke", seed=72)  # ends in a jump
def test_every_built_in_path_is_the_same_once_it_is_a_file(family: str, seed: int, tmp_path: Path) -> None:
    path = find_path(f"{family}:{seed}", ticks=60)
    file = tmp_path / "path.csv"
    file.write_text(describe_path(path))
    again = find_path(str(file))
    n = min(len(again), len(path))
    assert n >= np.flatnonzero(path.lit)[-1] - 1  # a track ends with its last lit leg
    np.testing.assert_array_equal(again.lit[:n], path.lit[:n])
    np.testing.assert_allclose(again.positions[: n + 1], path.positions[: n + 1], atol=1e-8)


def test_margins_and_gains_are_read_again(tmp_path: Path) -> None:
    margins = Margins(above=3.25, below=1.1, level=0.9, runs=77)
    file = tmp_path / "margins.json"
    file.write_text(json.dumps({"process": PROCESS.to_json(), "margins": margins.to_json()}))
    assert read_margins(file, PROCESS) == margins
    gains = Gains(
        constant=11.3,
        pi=PiGains(setpoint=780.123456789, bias=11.0, gain=0.0123, reset_time=1e-3),
        feedforward=FeedforwardGains(power=11.0, relief=1 / 3, memory=2.5e-3, reach=1.7e-4),
    )
    assert Gains.from_json(json.loads(json.dumps(gains.to_json()))) == gains
