"""Replay: what a controller would have commanded, asked with what was recorded."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.logs import Recording
from laserloop.logs.csv_log import from_ticks
from laserloop.loop.record import Run
from laserloop.loop.replay import replay
from laserloop.loop.scenario import Scenario, prepare
from laserloop.process import CameraSettings, Process

TICKS = 60
CAMERA = CameraSettings(noise=5.0, delay=2)


@cache
def recorded() -> Run:
    process = replace(Process(), camera=CAMERA)
    return prepare(
        Scenario(path="diagonal", controller="twin", plant="graded", process=process, ticks=TICKS)
    ).run()


def make_recording(measured: np.ndarray | None = None) -> Recording:
    run = recorded()
    seen = run.measured if measured is None else measured
    came = ~np.isinf(seen)
    came[-1] = False
    return from_ticks("run", run.t, run.positions, run.power, seen, came)


def make_case(controller: str = "twin") -> Scenario:
    return Scenario(
        path="run",
        controller=controller,
        plant="graded",
        process=replace(Process(), camera=CAMERA),
        ticks=None,
        delta_k=0.0,
    )


def test_the_controller_that_made_a_log_would_do_it_again() -> None:
    found = replay(make_case(), make_recording())
    difference = np.array(found["series"]["commanded_w"]) - recorded().power
    # W of 8 to 20. A log has only the peak of each noisy picture: the hottest of many pixels reads too hot.
    assert np.abs(difference).max() < 0.4
    assert np.sqrt(np.mean(difference**2)) < 0.2


def test_a_colder_log_asks_for_more_power() -> None:
    warm = replay(make_case(), make_recording())
    cold = replay(make_case(), make_recording(recorded().measured - 40.0))
    more = np.array(cold["series"]["commanded_w"])[20:] - np.array(warm["series"]["commanded_w"])[20:]
    assert more.min() > 0.2


@pytest.mark.parametrize("controller", ["twin", "pi", "feedforward", "constant"])
def test_no_fault_of_a_log_leads_beyond_the_limits_and_all_are_counted(controller: str) -> None:
    seen = recorded().measured.copy()
    seen[[12, 30]] = np.inf  # lost
    seen[[15, 16]] = np.nan
    seen[20] = 65535.0
    seen[40:48] = seen[40]
    found = replay(make_case(controller), make_recording(seen))
    assert found["frames"] == {
        "readings": TICKS - 3,
        "lost": 2,
        "late": 0,
        "nan": 2,
        "saturated": 1,
        "frozen": 7,
    }
    commanded = np.array(found["series"]["commanded_w"])
    assert np.isfinite(commanded).all()
    assert commanded.min() >= 0.0
    assert commanded.max() <= 20.0
    assert found["asked_outside_limits"] == 0
    if controller == "twin":
        assert found["statuses"][Status.BLIND] >= 2 + 2 + 1 + 7


def test_networks_need_pictures_and_an_oracle_its_plant() -> None:
    with pytest.raises(BadInput, match="peaks only"):
        replay(replace(make_case("realtime"), model="paper-corner", force=True), make_recording())
    with pytest.raises(BadInput, match="plans on the plant"):
        replay(make_case("oracle"), make_recording())


def test_a_log_beside_the_plate_is_refused_and_can_be_centred() -> None:
    beside = make_recording().moved(np.array([0.1, 0.0]))
    with pytest.raises(BadInput, match="--centre"):
        replay(make_case(), beside)
    assert replay(make_case(), beside.centred())["ticks"] == TICKS
