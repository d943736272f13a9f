"""The compiled twin along a whole path: as in a loop without images, and as it forecasts itself."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.loop.run import look_ahead
from laserloop.native.twin import TwinController, TwinPlayer
from laserloop.paths import ScanPath, find_path
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.process import Process

PROBLEM = make_twin_problem(MpcProblem())


def make_player(horizon: int = 5, gain: float = 1.0) -> TwinPlayer:
    twin = TwinPredictor(Process(), TwinSettings(horizon=horizon))
    return TwinPlayer(twin, replace(PROBLEM, horizon=horizon), gain=gain)


def find_hatch() -> ScanPath:
    return find_path("stroke:3", ticks=120)


def plan(player: TwinPlayer, path: ScanPath) -> tuple[np.ndarray, np.ndarray]:
    n, h = len(path), player.horizon
    return player.plan(path.preview(0, n + h), path.preview_lit(0, n + h), n)


def test_a_plan_is_what_the_loop_would_do_without_images() -> None:
    path, powers = find_hatch(), list[float]()
    controller = TwinController(TwinPredictor(Process()), PROBLEM)
    for k in range(len(path)):
        action = controller.act(None, look_ahead(path, k, powers, 5, controller.memory))
        powers.append(action.power if path.lit[k] else 0.0)
    assert plan(make_player(), path)[0] == pytest.approx(powers, abs=1e-4)


@pytest.mark.parametrize("horizon", [1, 5])
def test_following_a_plan_leads_to_what_it_expected(horizon: int) -> None:
    path = find_hatch()
    power, T = plan(make_player(), path)
    followed = make_player(horizon).follow(path.positions, power)
    assert followed[path.counted] == pytest.approx(T[path.counted], abs=0.05)


def test_a_plan_in_two_parts_is_the_plan() -> None:
    path, player = find_hatch(), make_player()
    whole = plan(player, path)[0]
    player.reset()
    way, lit = path.preview(0, 125), path.preview_lit(0, 125)
    parts = [player.plan(way, lit, 50)[0], player.plan(way[50:], lit[50:], 70)[0]]
    assert np.concatenate(parts) == pytest.approx(whole, abs=1e-9)


def test_a_restored_player_goes_on_as_before() -> None:
    path, player = find_path("diagonal", ticks=60), make_player(1)
    player.follow(path.positions[:31], np.full(30, 11.0))
    state = player.save()
    first = player.follow(path.positions[30:], np.full(30, 11.0))
    player.restore(state)
    assert np.array_equal(player.follow(path.positions[30:], np.full(30, 11.0)), first)


def test_a_pause_is_as_many_dark_ticks() -> None:
    path = find_path("diagonal", ticks=60)
    ends, found = path.positions[30], list[np.ndarray]()
    for dark in (False, True):
        player = make_player(1)
        player.follow(path.positions[:31], np.full(30, 11.0))
        if dark:
            player.follow(np.tile(ends, (401, 1)), np.zeros(400))
        else:
            player.pause(400 * 1.25e-4, ends)
        found.append(player.follow(path.positions[30:], np.full(30, 11.0)))
    assert found[0] == pytest.approx(found[1], abs=0.2)


def test_a_layer_that_begins_at_once_far_away_finds_a_cold_plate() -> None:
    path, cold, warm = find_path("diagonal", ticks=60), make_player(1), make_player(1)
    first, power = path.positions[:31], np.full(20, 11.0)
    second = path.positions[:21] + np.array([0.0, 3e-3])
    warm.follow(first, np.full(30, 11.0))
    warm.pause(0.0, second[0])
    assert warm.follow(second, power) == pytest.approx(cold.follow(second, power), abs=0.05)


def test_a_gain_makes_the_same_plate_hotter() -> None:
    path = find_path("diagonal", ticks=40)
    cold, hot = (plan(make_player(gain=gain), path)[0][20] for gain in (1.0, 1.02))
    assert hot == pytest.approx(cold / 1.02, rel=2e-3)


def test_too_short_a_way_is_refused() -> None:
    path = find_path("diagonal", ticks=40)
    with pytest.raises(ValueError, match="need a way of 45 ticks"):
        make_player().plan(path.positions, path.lit, 40)
    with pytest.raises(ValueError, match="need 42 positions"):
        make_player().follow(path.positions, np.ones(41))
