"""The learned correction of the twin: nothing learned is nothing changed; what is there to learn is found."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.loop.run import look_ahead
from laserloop.paths import ScanPath, find_path
from laserloop.plant.camera import Image, develop
from laserloop.plant.surface import Surface
from laserloop.predict.correction import (
    FEATURES,
    MOST,
    SPREADS,
    HeatCorrection,
    fit_correction,
    gather_samples,
    load_correction,
    no_correction,
    save_correction,
)
from laserloop.predict.twin import TwinPredictor
from laserloop.predict.twin.rollout import roll_out
from laserloop.process import Process

FloatArray = NDArray[np.float64]
PLAN = np.array([12.0, 12.5, 11.0, 13.0, 12.0])


def show(path: ScanPath, k: int) -> Image:
    """A hot spot at the beam."""
    x, y = (np.linspace(c - 4e-4, c + 4e-4, 17) for c in path.positions[k])
    away = (x - path.positions[k, 0]) ** 2 + (y[:, np.newaxis] - path.positions[k, 1]) ** 2
    heat = 300.0 + 470.0 * np.exp(-away / 6e-8)
    return develop(Surface(x, y, heat, k * path.tick), sampling="smooth", subgrid=True)


def drive(twin: TwinPredictor, path: ScanPath, ticks: int = 16) -> tuple[FloatArray, FloatArray]:
    """Forecast and slopes after some ticks with images, at a corner."""
    powers: list[float] = []
    for k in range(ticks):
        forecast = twin.observe(show(path, k) if k else None, look_ahead(path, k, powers, 5, twin.memory))
        powers.append(12.0 + (k % 3))
    return forecast.linearise(PLAN)


def with_constant(value: float) -> HeatCorrection:
    """ln c = value everywhere."""
    bare = no_correction()
    weights = bare.weights.copy()
    weights[0] = value
    return HeatCorrection(bare.mean, bare.std, weights)


def test_a_correction_of_nothing_is_the_bare_twin_bit_by_bit() -> None:
    path, process = find_path("zigzag:3", ticks=40), Process()
    bare = drive(TwinPredictor(process), path)
    nothing = drive(TwinPredictor(process, correction=no_correction()), path)
    for expected, found in zip(bare, nothing, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_gain_only_follows_what_the_correction_does_not_explain() -> None:
    path, process = find_path("zigzag:3", ticks=40), Process()
    bare, corrected = TwinPredictor(process), TwinPredictor(process, correction=with_constant(0.03))
    expected, found = drive(bare, path), drive(corrected, path)
    assert bare.gain != pytest.approx(1.0, abs=1e-3)
    # The prior holds the gain near 1, so that a little of the factor is left.
    assert corrected.gain * np.exp(0.03) == pytest.approx(bare.gain, rel=2e-3)
    np.testing.assert_allclose(found[0], expected[0], atol=1.5)


def test_a_correction_scales_what_the_twin_foresees() -> None:
    path, process = find_path("vertical", ticks=30), Process()
    plans = [TwinPredictor(process, correction=with_constant(value)) for value in (0.0, 0.02)]
    (cold, cold_slopes), (warm, warm_slopes) = (
        twin.observe(None, look_ahead(path, 0, [], 5)).linearise(PLAN) for twin in plans
    )
    u_cold, u_warm = (plans[0].table.theta_of(T) for T in (cold, warm))
    np.testing.assert_allclose(u_warm / u_cold, np.exp(0.02), rtol=1e-6)
    assert (warm_slopes[np.tril_indices(5)] > cold_slopes[np.tril_indices(5)] * 1.005).all()


def test_no_correction_is_bold() -> None:
    assert np.abs(with_constant(3.0).log_factors(np.zeros((1, FEATURES)))).max() == MOST


def test_a_law_of_the_features_is_found() -> None:
    rng = np.random.default_rng(0)
    features = rng.uniform(-1.0, 1.0, (4000, FEATURES))
    law = 0.01 + 0.02 * features[:, 2] * features[:, 5] - 0.01 * features[:, 9]
    found = fit_correction(features, np.exp(law), np.ones(len(law)), ridge=1e-6)
    np.testing.assert_allclose(found.log_factors(features), law, atol=2e-4)


def test_the_twin_needs_no_correction_on_its_own_heat() -> None:
    path, process = find_path("polyline:4", ticks=80), Process()
    power = np.full(80, 10.0)
    samples = gather_samples(process, path, power, roll_out(process, path, power).peaks)
    assert len(samples.ratio) > 20
    np.testing.assert_allclose(samples.ratio, 1.0, atol=1e-9)
    shares = samples.features[:, 1 : 1 + len(SPREADS)]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("mirror", [False, True])
def test_features_do_not_know_where_or_in_which_direction_the_path_lies(mirror: bool) -> None:
    path, process = find_path("polyline:4", ticks=60), Process()
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]]) @ np.diag([1.0, -1.0 if mirror else 1.0])
    turned = ScanPath(name="turned", positions=0.5 * path.positions @ turn + 1e-4, tick=path.tick)
    straight = ScanPath(name="straight", positions=0.5 * path.positions, tick=path.tick)
    power, peaks = np.full(60, 13.0), np.full(60, 780.0)
    one, other = (gather_samples(process, way, power, peaks) for way in (straight, turned))
    np.testing.assert_allclose(other.features, one.features, atol=1e-6)


def test_a_saved_correction_is_the_same_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    features = rng.normal(size=(3000, FEATURES))
    made = fit_correction(features, np.exp(0.01 * features[:, 0]), np.ones(3000), ridge=1e-3)
    save_correction(made, tmp_path, {"data": "made up"})
    found, page = load_correction(tmp_path)
    np.testing.assert_array_equal(found.log_factors(features), made.log_factors(features))
    assert page["data"] == "made up"
    file = tmp_path / "weights.safetensors"
    file.write_bytes(file.read_bytes()[:-8] + b"\0" * 8)
    with pytest.raises(BadInput, match="train it"):
        load_correction(tmp_path)
