"""The blind protocol: what is measured, and on which windows."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data.store import COLUMNS
from laserloop.data.windows import Scaler, Windows
from laserloop.evaluation import PredictionErrors, measure_blind, measure_errors
from laserloop.predict.model import Model, Scalers
from laserloop.predict.networks import MsDeepONet, SsAr


def believer(net: MsDeepONet | SsAr, value: float) -> Model:
    """A model that predicts the same temperature, whatever it is shown."""
    branch, trunk, target = (Scaler(np.zeros(n), np.ones(n)) for n in net.sizes())
    weights = {name: np.zeros(shape, np.float32) for name, shape in net.shapes().items()}
    weights["bias"] += np.float32(value)
    return Model(
        architecture=net, weights=weights, scalers=Scalers(branch=branch, trunk=trunk, target=target)
    )


def record(states: int) -> np.ndarray:
    """T_max = 700 K + the number of the state; every other column is 0."""
    values = np.zeros((states, len(COLUMNS)))
    values[:, COLUMNS.index("t_node_k")] = 700.0 + np.arange(states)
    return values


def test_errors_are_pooled_over_windows_and_ticks() -> None:
    errors = PredictionErrors(np.array([[3.0, -4.0], [3.0, 0.0]]))
    np.testing.assert_allclose(errors.per_step, [3.0, np.sqrt(8.0)])
    assert errors.pooled == pytest.approx(np.sqrt(34 / 4))
    assert errors.worst == 4.0


@pytest.mark.parametrize("net", [MsDeepONet(horizon=4, width=8, basis=3), SsAr(horizon=4, width=8, basis=3)])
def test_every_state_is_predicted_once_from_the_window_before_it(net: MsDeepONet | SsAr) -> None:
    errors = measure_blind(believer(net, 700.0), [record(14), record(10)])
    # Windows start at states 1, 5 and 9 of the first record and at 1 and 5 of the second.
    np.testing.assert_array_equal(
        -errors.residual,
        [[2, 3, 4, 5], [6, 7, 8, 9], [10, 11, 12, 13], [2, 3, 4, 5], [6, 7, 8, 9]],
    )
    assert errors.worst == 13.0


def test_noise_reaches_what_the_trunk_sees_and_is_the_same_for_the_same_seed() -> None:
    net = MsDeepONet(horizon=4, width=8, basis=3)
    model = believer(net, 700.0)
    weights = net.draw_weights(np.random.default_rng(0))
    model = Model(architecture=net, weights=weights, scalers=model.scalers)
    clean, one, again, other = (
        measure_blind(model, [record(40)], noise=noise, seed=seed).pooled
        for noise, seed in ((0.0, 0), (5.0, 0), (5.0, 0), (5.0, 1))
    )
    assert one == again
    assert len({clean, one, other}) == 3


def test_overlapping_windows_are_refused(windows: Windows) -> None:
    model = believer(MsDeepONet(), 700.0)
    with pytest.raises(BadInput, match="5 ticks apart, got 1"):
        measure_errors(model, windows)
    assert measure_errors(model, windows.take(slice(0, 50, 5))).residual.shape == (10, 5)


def test_no_record_and_negative_noise_are_refused() -> None:
    model = believer(MsDeepONet(), 700.0)
    with pytest.raises(BadInput, match="at least one record"):
        measure_blind(model, [])
    with pytest.raises(BadInput, match="0 K or more"):
        measure_blind(model, [record(20)], noise=-1.0)
