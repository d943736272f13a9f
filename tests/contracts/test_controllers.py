"""What every controller keeps, whatever the camera, the model, the plate or the path does."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem
from laserloop.control.simple import find_gains
from laserloop.loop.controllers import CONTROLLERS, WITH_MODEL, choose_camera, make_controller
from laserloop.loop.disturbances import Fault
from laserloop.loop.record import COMPLETED, Run
from laserloop.loop.run import run_closed_loop
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, Plant, make_plant
from laserloop.predict.model import Model, find_model
from laserloop.process import Process

FAULTS = {"dropped": "drop", "blank": "blank", "frozen": "freeze", "saturated": "saturate"}
SHORT, LONG = (5, 2), (4, 9)  # first tick and ticks of a fault
TICKS = 16
# While a cold plate heats up no plan keeps the window, and there the compiled solver may end at its cap.
GOOD = {
    "ipopt": {Status.SOLVED},
    "realtime": {Status.SOLVED, Status.STOPPED},
    "sqp": {Status.SOLVED, Status.STOPPED},
}


@pytest.fixture(scope="module")
def model() -> Model:
    return find_model("paper-corner")


@pytest.fixture(scope="module")
def path() -> ScanPath:
    return find_path("diagonal", ticks=TICKS)


@pytest.fixture(scope="module")
def plant(path: ScanPath) -> Plant:
    return make_plant("paper")


def close(
    name: str,
    plant: Plant,
    path: ScanPath,
    model: Model,
    *,
    problem: MpcProblem | None = None,
    fault: Fault | None = None,
) -> Run:
    problem = problem or MpcProblem()
    gains, camera = find_gains("paper", Process()), Camera(choose_camera(plant, model))
    controller = make_controller(name, problem, plant=plant, model=model, gains=gains)
    run = run_closed_loop(
        plant, camera, controller, path, power_bounds=problem.power, faults=[fault] if fault else []
    )
    low, high = problem.power
    assert run.ending == COMPLETED
    assert len(run) == len(path)
    assert np.isfinite(run.power).all()
    assert (run.power >= low).all()
    assert (run.power <= high).all()
    assert all(status in Status for status in run.statuses)
    return run


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_run_is_the_same_when_it_is_run_again(
    name: str, plant: Plant, path: ScanPath, model: Model
) -> None:
    first, second = (close(name, plant, path, model) for _ in range(2))
    assert np.array_equal(first.power, second.power)
    assert first.statuses == second.statuses


@pytest.mark.parametrize("span", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", [name for name in CONTROLLERS if name != "oracle"])
def test_a_bad_camera_ends_no_run(
    name: str, fault: str, span: tuple[int, int], plant: Plant, path: ScanPath, model: Model
) -> None:
    first, ticks = span
    run = close(name, plant, path, model, fault=Fault(kind=FAULTS[fault], first=first, ticks=ticks))
    if name in (*WITH_MODEL, "pi"):
        told = {run.statuses[k] for k in range(first + 1, first + ticks)}
        assert Status.SOLVED not in told
    if name in WITH_MODEL and span is LONG and fault != "saturated":
        assert run.statuses[first + ticks - 1] is Status.EXHAUSTED
        assert run.power[first + ticks - 1] == 0.0
        assert run.statuses[-1] in GOOD[name]  # a plan again
        assert run.power[-1] > 0.0


@pytest.mark.parametrize("name", WITH_MODEL)
def test_a_model_that_predicts_nan_leaves_the_laser_off(
    name: str, plant: Plant, path: ScanPath, model: Model
) -> None:
    broken = Model(
        architecture=model.architecture,
        weights={key: np.full_like(weight, np.nan) for key, weight in model.weights.items()},
        scalers=model.scalers,
    )
    run = close(name, plant, path, broken)
    assert not run.power.any()
    assert set(run.statuses) == {Status.EXHAUSTED}


@pytest.mark.parametrize("name", [*WITH_MODEL, "oracle"])
def test_a_plate_above_the_bound_gets_the_least_power(name: str, path: ScanPath, model: Model) -> None:
    hot = make_plant("paper", Process(ambient=850.0))
    run = close(name, hot, path, model)
    assert run.power[:5] == pytest.approx(0.0, abs=1e-6)
    assert Status.INFEASIBLE in run.statuses


@pytest.mark.parametrize("name", [*WITH_MODEL, "oracle"])
def test_a_weak_laser_gives_all_it_has(name: str, plant: Plant, path: ScanPath, model: Model) -> None:
    weak = replace(MpcProblem(), power=(0.0, 5.0))
    run = close(name, plant, path, model, problem=weak)
    assert run.power[1:] == pytest.approx(5.0, abs=0.01)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_path_of_one_tick_is_controlled(name: str, model: Model) -> None:
    path = find_path("spiral", ticks=1)
    assert len(close(name, make_plant("paper"), path, model)) == 1


@pytest.mark.parametrize("name", CONTROLLERS)
def test_dark_ticks_get_no_power_and_the_light_comes_back_after_them(
    name: str, plant: Plant, path: ScanPath, model: Model
) -> None:
    lit = np.arange(TICKS) % 8 < 5
    run = close(name, plant, replace(path, lit=lit), model)
    assert not run.power[~lit].any()
    assert (run.power[lit] > 1.0).all()
    assert {run.statuses[k] for k in np.flatnonzero(~lit)} == {Status.DARK}
    assert run.t_max[:5].max() > run.t_max[7]


@pytest.mark.parametrize("name", WITH_MODEL)
def test_without_faults_every_tick_is_solved_below_the_bound(
    name: str, plant: Plant, path: ScanPath, model: Model
) -> None:
    run = close(name, plant, path, model)
    assert set(run.statuses) <= GOOD[name]
    assert set(run.statuses[8:]) == {Status.SOLVED}
    assert (run.predicted <= 800.0 + 0.02).all()
    assert run.t_max[8:].min() > 700.0
