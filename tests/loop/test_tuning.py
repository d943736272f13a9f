"""Tuning: the price of a run, and that every search goes downhill."""

from math import log

import numpy as np
import pytest

from laserloop.control.controller import Controller
from laserloop.control.problem import MpcProblem
from laserloop.control.simple import ConstantController, FeedforwardController, PiController, PiGains
from laserloop.loop.controllers import choose_camera
from laserloop.loop.run import run_closed_loop
from laserloop.loop.tune import (
    EVALUATIONS,
    Course,
    price_of,
    tune,
    tune_for,
)
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, make_plant
from laserloop.process import Process

PROBLEM = MpcProblem()


def test_the_price_of_a_run_is_highest_above_the_window() -> None:
    inside, above, below = (price_of(np.full(5, t), PROBLEM) for t in (780.0, 810.0, 750.0))
    assert inside == 0.0
    assert above == pytest.approx(3 * 10 + 0.2 * 30)
    assert below == pytest.approx(10 + 0.2 * 30)


class Valley(Course):
    """A course whose prices are known: least at 12 W; at 785 K, 0.1 W/K, 1 ms; at κ = 0.4, 10 ms, 0.3 mm."""

    def __init__(self) -> None:
        super().__init__(make_plant("paper"), [], PROBLEM, None)

    def price(self, controller: Controller) -> float:
        if isinstance(controller, ConstantController):
            return (controller.power - 12.0) ** 2
        if isinstance(controller, PiController):
            pi = controller.gains
            assert pi.bias == 12.0
            return (
                ((pi.setpoint - 785.0) / 10) ** 2 + log(pi.gain / 0.1) ** 2 + log(pi.reset_time / 1e-3) ** 2
            )
        assert isinstance(controller, FeedforwardController)
        forward = controller.gains
        return (
            (10 * log(forward.power / 13.0)) ** 2
            + log(forward.relief / 0.4) ** 2
            + log(forward.memory / 10e-3) ** 2
            + log(forward.reach / 0.3e-3) ** 2
        )


def test_every_search_finds_the_bottom_of_its_valley() -> None:
    course = Valley()
    assert course.search_power() == pytest.approx(12.0, abs=0.05)
    pi = course.search_pi(12.0)
    assert pi.setpoint == pytest.approx(785.0, abs=2.0)
    assert pi.gain == pytest.approx(0.1, rel=0.15)
    assert pi.reset_time == pytest.approx(1e-3, rel=0.15)
    forward = course.search_feedforward(12.0)
    assert forward.power == pytest.approx(13.0, rel=0.05)
    assert forward.relief == pytest.approx(0.4, rel=0.25)
    assert forward.memory == pytest.approx(10e-3, rel=0.25)
    assert forward.reach == pytest.approx(0.3e-3, rel=0.25)


@pytest.mark.parametrize("plant", ["paper", "graded"])
def test_a_price_is_taken_on_the_plants_own_reading(plant: str) -> None:
    path = find_path("diagonal", ticks=15)
    course = Course(make_plant(plant), [path], PROBLEM, None)
    run = run_closed_loop(make_plant(plant), Camera(), ConstantController(14.0), path)
    own = run.t_peak if plant == "graded" else run.t_node
    assert course.price(ConstantController(14.0)) == price_of(own[run.settled], PROBLEM)


@pytest.mark.parametrize("plant", ["paper", "graded"])
def test_a_controller_is_tuned_with_the_camera_it_will_have(plant: str) -> None:
    path = find_path("diagonal", ticks=15)
    pi = PiController(PiGains(setpoint=780.0, bias=14.0, gain=0.05, reset_time=2e-3), PROBLEM.power)
    course = Course(make_plant(plant), [path], PROBLEM, None)
    there = make_plant(plant)
    run = run_closed_loop(there, Camera(choose_camera(there, None)), pi, path)
    assert course.price(pi) == price_of(run.t_max[run.settled], PROBLEM)


def test_a_process_is_tuned_for_on_the_training_paths_at_its_own_pace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[ScanPath] = []

    def stop(make: object, paths: list[ScanPath], *_: object, **__: object) -> None:
        found.extend(paths)

    monkeypatch.setattr("laserloop.loop.tune.tune", stop)
    tune_for("paper", Process().change(speed_mm_s=200.0, tick_us=100.0), PROBLEM)
    assert [(path.name, len(path), path.tick) for path in found] == [
        (name, 320, 1e-4) for name in ("vertical", "horizontal", "spiral")
    ]
    assert [path.median_speed for path in found] == pytest.approx([0.2] * 3, rel=1e-3)


def test_gains_are_tuned_for_a_process_that_nobody_tuned_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laserloop.loop.tune.EVALUATIONS", {"constant": 6, "pi": 5, "feedforward": 6})
    monkeypatch.setattr("laserloop.loop.tune.TICKS", 20)
    process = Process().change(material="ti64", window_k=[500.0, 540.0], power_w=[0.0, 12.0])
    gains = tune_for("paper", process, MpcProblem(window=process.window, power=process.laser.power))
    assert 0.5 < gains.constant < 6.0
    assert gains.pi is not None
    assert 500.0 < gains.pi.setpoint < 540.0


def test_only_what_is_asked_for_is_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laserloop.loop.tune.price_of", lambda *_: 1.0)
    told = list[tuple[int, int]]()
    path = find_path("diagonal", ticks=2)
    gains = tune(
        make_plant("paper"),
        [path],
        PROBLEM,
        names=("constant",),
        progress=lambda *now: told.append(now),
    )
    assert (gains.pi, gains.feedforward) == (None, None)
    assert told[-1][1] == EVALUATIONS["constant"]
    assert len(told) <= EVALUATIONS["constant"]
