"""The closed loop: order of events, the record, and endings that are sentences."""

import numpy as np
import pytest

from laserloop import BadInput
from laserloop.control.action import Action, Status
from laserloop.control.constant import ConstantController
from laserloop.data.episode import simulate
from laserloop.loop.run import COMPLETED, bound, run_closed_loop
from laserloop.paths import ScanPath, find_path
from laserloop.paths.preview import Preview
from laserloop.plant import Camera, Image, Plant, make_plant


class Watcher:
    """Gives scripted powers and keeps what it saw."""

    name = "watcher"
    horizon = 4

    def __init__(self, powers: list[float]) -> None:
        self.powers = powers
        self.seen: list[tuple[Image | None, Preview]] = []

    def reset(self) -> None:
        self.seen.clear()

    def act(self, image: Image | None, preview: Preview) -> Action:
        self.seen.append((image, preview))
        power = self.powers[len(self.seen) - 1]
        return Action(power=power, status=Status.SOLVED, predicted=np.array([700.0 + len(self.seen)]))


@pytest.fixture(scope="module")
def path() -> ScanPath:
    return find_path("diagonal", ticks=15)


@pytest.fixture(scope="module")
def plant(path: ScanPath) -> Plant:
    return make_plant("paper", path)


def test_constant_power_in_the_loop_is_the_open_loop_episode(plant: Plant, path: ScanPath) -> None:
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), path)
    episode = simulate(plant, path, np.full(len(path), 14.0))
    assert np.array_equal(run.t_max, episode.t_max)
    assert np.array_equal(run.t_peak, episode.t_peak)
    assert np.array_equal(run.positions, episode.positions)
    assert np.array_equal(run.t, episode.t)
    assert run.ending == COMPLETED


def test_the_controller_sees_the_surface_before_the_tick_it_decides(plant: Plant, path: ScanPath) -> None:
    watcher = Watcher([14.0, 10.0, 12.0] * 5)
    run = run_closed_loop(plant, Camera(), watcher, path)
    images = [image for image, _ in watcher.seen]
    assert images[0] is not None
    assert images[0].peak.temperature == pytest.approx(300.0)
    measured = [image.peak.temperature for image in images[1:] if image is not None]
    assert np.allclose(measured, run.t_max[:-1])
    assert np.allclose(run.predicted, 701.0 + np.arange(15))


def test_the_preview_knows_the_way_and_the_powers_given(plant: Plant, path: ScanPath) -> None:
    watcher = Watcher([float(k) for k in range(15)])
    run_closed_loop(plant, Camera(), watcher, path)
    _, last = watcher.seen[12]
    assert np.array_equal(last.ahead[0], path.positions[12])
    assert np.array_equal(last.powers, np.arange(2.0, 12.0))
    assert np.array_equal(last.positions[0], path.positions[2])
    assert last.ahead.shape == (5, 2)


@pytest.mark.parametrize(("wanted", "given"), [(25.0, 20.0), (-3.0, 0.0), (np.nan, 0.0), (np.inf, 0.0)])
def test_the_laser_keeps_its_own_limits(wanted: float, given: float) -> None:
    assert bound(wanted, (0.0, 20.0)) == given


def test_a_plant_that_fails_ends_the_run_with_a_sentence(
    path: ScanPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant = make_plant("paper", path)
    step = plant.step

    def fail(power: float, spot: np.ndarray) -> object:
        if plant.time > 5.5 * path.tick:
            raise BadInput("the heat balance did not close")
        return step(power, spot)

    monkeypatch.setattr(plant, "step", fail)
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), path)
    assert len(run) == 6
    assert "heat balance" in run.ending


def test_a_path_of_one_tick_is_a_run(plant: Plant) -> None:
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), find_path("spiral", ticks=1))
    assert len(run) == 1
