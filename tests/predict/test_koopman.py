"""A lifted linear model: what is linear is found, and a mirror image is a mirror image."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.loop.run import look_ahead
from laserloop.paths import find_path
from laserloop.plant.camera import develop
from laserloop.plant.surface import Surface
from laserloop.predict.koopman import (
    POWERS,
    SIDE,
    TURNS,
    Koopman,
    KoopmanPredictor,
    Lift,
    Transitions,
    find_lift,
    find_region,
    fit_maps,
    follow_way,
    load_koopman,
    save_koopman,
)
from laserloop.process import Process

FloatArray = NDArray[np.float64]
REGIONS = len(TURNS) + 1


def make_lift(seed: int = 0) -> Lift:
    """Of smooth blobs that lean to either side."""
    rng = np.random.default_rng(seed)
    place = np.linspace(-1.0, 1.0, SIDE)
    centres = rng.uniform(-0.5, 0.5, (300, 2))
    away = (place - centres[:, :1, np.newaxis]) ** 2 + (
        place[:, np.newaxis] - centres[:, 1:, np.newaxis]
    ) ** 2
    return find_lift(np.exp(-2.0 * away).reshape(300, -1), np.ones(300), SIDE)


def make_maps(lift: Lift, seed: int = 1) -> FloatArray:
    """A stable system; that of going straight on is its own mirror image."""
    rng, size = np.random.default_rng(seed), lift.size
    maps = rng.normal(0.0, 0.1, (REGIONS, size, 2 * (size + 1)))
    signs = lift.signs
    twice = np.concatenate((signs, [1.0], signs, [1.0]))
    maps[0] = 0.5 * (maps[0] + signs[:, np.newaxis] * maps[0] * twice)
    return maps


def test_a_known_linear_system_is_recovered() -> None:
    lift = make_lift()
    rng, size, n = np.random.default_rng(2), lift.size, 6000
    truth = Koopman(lift, make_maps(lift))
    states, powers = rng.normal(size=(n, size)), rng.uniform(size=n)
    turns, paces = rng.uniform(-np.pi, np.pi, n), rng.uniform(0.5, 1.5, n)
    turns[: n // 4] = 0.0
    following = np.empty_like(states)
    for k in range(n):
        A, B = truth.step(turns[k], paces[k])
        following[k] = A @ states[k] + B * powers[k]
    found = fit_maps(
        Transitions(states, powers, following, turns, paces, np.ones(n)), lift.signs, ridge=1e-12
    )
    np.testing.assert_allclose(found, truth.maps, atol=1e-6)


def test_a_region_without_data_has_the_map_of_all() -> None:
    lift = make_lift()
    rng, size = np.random.default_rng(3), lift.size
    states, powers, turns = rng.normal(size=(500, size)), rng.uniform(size=500), np.zeros(500)
    maps = fit_maps(Transitions(states, powers, 0.5 * states, turns, np.ones(500), np.ones(500)), lift.signs)
    np.testing.assert_allclose(maps[-1], maps[0], atol=1e-4)


def test_rolling_is_stepping() -> None:
    model = Koopman(lift := make_lift(), make_maps(lift))
    rng = np.random.default_rng(4)
    state, plan = rng.normal(size=lift.size), rng.uniform(size=5)
    turns, paces = np.array([0.0, 0.5, -2.0, 0.0, 0.1]), np.array([1.0, 1.2, 1.0, 0.8, 1.0])
    base, slopes = model.roll(state, turns, paces)
    moved = state
    for i in range(5):
        A, B = model.step(turns[i], paces[i])
        moved = A @ moved + B * plan[i]
        assert base[i] + slopes[i] @ plan == pytest.approx(moved[1], abs=1e-12)
    assert not np.triu(slopes, 1).any()


def test_a_turn_to_the_right_is_the_mirror_image_of_one_to_the_left() -> None:
    model = Koopman(lift := make_lift(), make_maps(lift))
    state, signs = np.random.default_rng(5).normal(size=lift.size), lift.signs
    for turn in (0.3, 2.0):
        (A, B), (mirrored, given) = (model.step(sign * turn, 1.1) for sign in (1.0, -1.0))
        np.testing.assert_allclose(mirrored @ (signs * state) + given, signs * (A @ state + B), atol=1e-12)


def test_modes_are_even_or_odd_across_the_heading() -> None:
    lift = make_lift()
    flipped = lift.modes.reshape(SIDE, SIDE, -1)[::-1].reshape(SIDE * SIDE, -1)
    np.testing.assert_allclose(flipped, lift.modes * np.where(lift.odd, -1.0, 1.0), atol=1e-9)
    assert 0 < lift.odd.sum() < len(lift.odd)
    np.testing.assert_allclose(lift.modes.T @ lift.modes, np.eye(lift.modes.shape[1]), atol=1e-9)


def test_turns_and_speeds_of_a_way() -> None:
    turns, paces = follow_way(np.array([[0, 0], [1, 0], [1, 1], [-1, 1], [-2, 1]]) * 1.0, hop=1.0)
    np.testing.assert_allclose(turns, [np.pi / 2, np.pi / 2, 0.0, 0.0])
    np.testing.assert_allclose(paces, [1.0, 1.0, 2.0, 1.0])
    assert [find_region(turn) for turn in (0.0, -np.radians(30.0), np.pi)] == [0, 3, REGIONS - 1]


def test_in_the_loop_it_is_affine_causal_and_goes_on_without_images(tmp_path: Path) -> None:
    model = Koopman(lift := make_lift(), 0.3 * make_maps(lift))
    save_koopman(model, tmp_path, {})
    predictor = KoopmanPredictor(load_koopman(tmp_path), Process())
    path, powers = find_path("zigzag:3", ticks=40), list[float]()
    x = y = np.linspace(-2e-3, 2e-3, 81)
    assert predictor.observe(None, look_ahead(path, 0, [], 5, predictor.memory)) is None
    for k in range(30):
        heat = np.full((81, 81), 600.0) + 100.0 * np.exp(-(x**2 + y[:, np.newaxis] ** 2) / 1e-6)
        image = (
            develop(Surface(x, y, heat, k * path.tick), sampling="smooth", subgrid=True) if k < 8 else None
        )
        forecast = predictor.observe(image, look_ahead(path, k, powers, 5, predictor.memory))
        assert forecast is not None
        powers.append(10.0)
    assert forecast is not None
    assert predictor.memory > POWERS
    assert forecast is not None
    plan = np.arange(5.0)
    predicted, slopes = forecast.linearise(plan)
    assert np.isfinite(predicted).all()
    np.testing.assert_allclose(forecast.predict(plan + 1.0), predicted + slopes @ np.ones(5))
    assert not np.triu(slopes, 1).any()
    predictor.reset()
    assert predictor.observe(None, look_ahead(path, 0, [], 5, predictor.memory)) is None
