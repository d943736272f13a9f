import json

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import Scaler, fit_scaler


def test_scaled_features_have_zero_mean_and_unit_variance_and_come_back() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal([700.0, 1e-3], [60.0, 1e-4], size=(500, 3, 2))
    scaler = fit_scaler(values)
    scaled = scaler.scale(values)
    assert scaler.mean.shape == scaler.std.shape == (3, 2)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros((3, 2)), abs=1e-12)
    assert scaled.std(axis=0) == pytest.approx(np.ones((3, 2)))
    assert scaler.unscale(scaled) == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("constant", [0.0, 300.0, 0.1, -0.304])
def test_a_constant_feature_keeps_its_unit(constant: float) -> None:
    scaler = fit_scaler(np.full((1000, 1), constant))
    assert scaler.std.tolist() == [1.0]
    assert scaler.scale([[constant + 2.0]]) == pytest.approx(np.array([[2.0]]))


def test_a_scaler_survives_json_bit_by_bit() -> None:
    scaler = fit_scaler(np.random.default_rng(1).random((9, 5, 5)))
    back = Scaler.from_json(json.loads(json.dumps(scaler.to_json())))
    assert np.array_equal(back.mean, scaler.mean)
    assert np.array_equal(back.std, scaler.std)


@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        {"mean": [1.0]},
        {"mean": [1.0], "std": [0.0]},
        {"mean": [1.0], "std": [-1.0]},
        {"mean": [1.0], "std": [1.0, 2.0]},
        {"mean": [float("nan")], "std": [1.0]},
        {"mean": ["x"], "std": [1.0]},
        {"mean": [[1.0], [1.0, 2.0]], "std": [1.0]},
    ],
)
def test_a_broken_scaler_is_one_sentence(given: object) -> None:
    with pytest.raises(BadInput, match="a scaler must"):
        Scaler.from_json(given)


def test_no_samples_make_no_scaler() -> None:
    with pytest.raises(BadInput, match="at least one sample"):
        fit_scaler(np.empty((0, 3)))
