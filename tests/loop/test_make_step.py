"""do-mpc's verb in front of laserloop's controllers, and behind them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.control.simple import PiController, PiGains
from laserloop.loop.adapters import MakeStepController
from laserloop.loop.controllers import choose_camera
from laserloop.loop.disturbances import Fault
from laserloop.loop.run import Testbed, run_closed_loop
from laserloop.native.twin import make_twin
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, Plant, make_plant
from laserloop.process import Process

GAINS = PiGains(setpoint=780.0, bias=11.0, gain=0.02, reset_time=1e-3)


class Planner:
    """As do-mpc's MPC is used: a column in, a column out; it complains where that would."""

    def __init__(self) -> None:
        self.x0: Any = None
        self.guessed = False
        self.states: list[np.ndarray] = []

    def set_initial_guess(self) -> None:
        assert self.x0 is not None
        self.guessed = True

    def reset_history(self) -> None:
        self.states.clear()

    def make_step(self, x0: np.ndarray) -> np.ndarray:
        assert self.guessed
        assert x0.shape == (1, 1)
        self.states.append(x0)
        return np.array([[11.0 + 0.02 * (780.0 - x0[0, 0])]])


@pytest.fixture(scope="module")
def path() -> ScanPath:
    return find_path("diagonal", ticks=25)


@pytest.fixture(scope="module")
def plant(path: ScanPath) -> Plant:
    return make_plant("graded")


@pytest.mark.parametrize("name", ["twin", "pi"])
def test_a_loop_of_ones_own_on_a_testbed_is_the_loop(name: str, plant: Plant, path: ScanPath) -> None:
    def make() -> Any:
        twin = make_twin(make_twin_problem(MpcProblem()), Process())
        return twin if name == "twin" else PiController(GAINS, (0.0, 20.0))

    camera = Camera(replace(choose_camera(plant, None), pixel=50e-6))
    run = run_closed_loop(plant, camera, make(), path)
    testbed, controller = Testbed(plant, camera, path, (0.0, 20.0)), make()
    surface = testbed.reset()
    for k in range(len(path)):
        image = testbed.measure(k, surface)
        action = controller.act(image, testbed.look_ahead(k, controller.horizon, controller.memory))
        surface = testbed.apply(k, action.power)
    assert testbed.powers == pytest.approx(run.power.tolist(), abs=1e-9)


def test_a_testbed_keeps_the_lasers_own_limits(plant: Plant, path: ScanPath) -> None:
    testbed = Testbed(plant, Camera(), path, (0.0, 8.0))
    testbed.reset()
    testbed.apply(0, 9.0)
    assert testbed.powers == [8.0]


def test_a_planner_of_do_mpc_drives_the_loop(plant: Plant, path: ScanPath) -> None:
    planner = Planner()
    camera = Camera(choose_camera(plant, None))
    run = run_closed_loop(
        plant, camera, MakeStepController(planner), path, faults=[Fault(kind="drop", first=5, ticks=3)]
    )
    assert len(planner.states) == len(path)
    assert planner.states[6][0, 0] == planner.states[4][0, 0]  # no image: the last state
    assert run.statuses[6] is Status.BLIND
    assert run.power[20] == pytest.approx(11.0 + 0.02 * (780.0 - run.t_max[19]), abs=1e-6)


def test_a_planner_without_a_number_gives_the_least_power(plant: Plant, path: ScanPath) -> None:
    class Lost:
        def make_step(self, x0: object) -> np.ndarray:
            return np.array([[np.nan]])

    run = run_closed_loop(plant, Camera(), MakeStepController(Lost(), lambda *_: [1.0, 2.0]), path)
    assert set(run.statuses) == {Status.NOT_FINITE}
    assert run.power.max() == 0.0
