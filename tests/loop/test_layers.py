"""Layers: a part that grows under one controller."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control import MpcProblem
from laserloop.control.problem import make_twin_problem
from laserloop.control.simple import ConstantController
from laserloop.loop.adapters import Recoating, join_layers, run_layers
from laserloop.native.twin import make_twin
from laserloop.paths import ScanPath
from laserloop.plant import Camera, make_plant
from laserloop.process import CameraSettings, Process

HOP = 0.304 * 1.25e-4  # m, of a tick
PROCESS = Process(plate=(5e-3, 4e-3, 1e-3))
RECOATING = Recoating(pause=0.02, thickness=4e-5)


def line(ticks: int = 30) -> ScanPath:
    x = -6e-4 + HOP * np.arange(ticks + 1)
    return ScanPath(name="line", positions=np.column_stack((x, np.zeros(ticks + 1))))


def make_camera() -> Camera:
    return Camera(CameraSettings(sampling="smooth", subgrid=True))


def test_layers_are_joined_by_dark_ticks() -> None:
    path = join_layers([line(), line()], RECOATING)
    assert len(path) == 30 + 160 + 30
    assert not path.lit[30:190].any()
    assert path.lit[:30].all()
    assert path.lit[190:].all()
    np.testing.assert_array_equal(path.positions[190:], line().positions)


def test_at_constant_power_each_layer_is_hotter_while_the_plate_warms_up() -> None:
    plant = make_plant("graded", PROCESS)
    runs = run_layers(plant, make_camera(), ConstantController(12.0), 3 * [line()], RECOATING)
    assert [run.ending for run in runs] == 3 * ["path completed"]
    ends = [run.t_peak[-1] for run in runs]
    assert ends[0] < ends[1] < ends[2] < ends[0] + 30.0
    assert plant.cells()[2][-1] == pytest.approx(1e-3 + 2 * 4e-5)
    books = plant.books
    assert books["stored"] + books["lost"] == pytest.approx(books["absorbed"], rel=1e-6)


def test_the_twin_hears_of_the_pause_and_predicts_the_next_layer() -> None:
    plant = make_plant("graded", PROCESS)
    runs = run_layers(
        plant, make_camera(), make_twin(make_twin_problem(MpcProblem()), PROCESS), 2 * [line()], RECOATING
    )
    for run in runs:
        settled = run.t_peak[12:]
        assert np.abs(settled - 780.0).max() < 8.0
        assert np.abs(run.predicted[12:] - settled).max() < 5.0


def test_after_a_long_pause_the_twin_begins_as_on_a_cold_plate() -> None:
    plant, twin = make_plant("graded", PROCESS), make_twin(make_twin_problem(MpcProblem()), PROCESS)
    long = Recoating(pause=2.0, thickness=4e-5)
    runs = run_layers(plant, make_camera(), twin, 2 * [line()], long)
    np.testing.assert_allclose(runs[1].power[:10], runs[0].power[:10], atol=0.3)


@pytest.mark.parametrize("changes", [{"pause": 0.0}, {"thickness": -1.0}, {"pause": float("nan")}])
def test_impossible_recoatings_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="between layers must be a positive number"):
        Recoating(**({"pause": 1.0, "thickness": 5e-5} | changes))


def test_layers_must_share_a_tick() -> None:
    other = ScanPath(name="slow", positions=line().positions, tick=1e-3)
    with pytest.raises(BadInput, match="all of one tick"):
        join_layers([line(), other], RECOATING)


def test_a_layer_beside_the_plate_is_refused_before_any_is_begun() -> None:
    away = ScanPath(name="away", positions=line().positions + np.array([0.0, 3e-3]))
    with pytest.raises(BadInput, match="must lie on the 5 × 4 mm plate"):
        run_layers(
            make_plant("graded", PROCESS), make_camera(), ConstantController(12.0), [line(), away], RECOATING
        )
