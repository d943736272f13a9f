"""Folding: the network of a tick is the network."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data.windows import Scaler
from laserloop.predict.model import Model, Scalers, find_model
from laserloop.predict.networks import ROW, FloatArray, Lstm, MsDeepONet, SsAr, WindowNetwork
from laserloop.predict.window import SMOOTHING, Folding, rectify

FOLDABLE = [
    MsDeepONet(width=16, basis=8),
    MsDeepONet(width=16, basis=8, trunk="loc"),
    MsDeepONet(width=16, basis=8, trunk="both", horizon=3),
    MsDeepONet(width=8, basis=4, horizon=1),
    MsDeepONet(width=24, basis=5, horizon=10),
]


def draw_model(architecture: WindowNetwork) -> Model:
    """Random weights, and scalers that differ from feature to feature."""
    rng = np.random.default_rng(5)
    a, b, c = architecture.sizes()
    rows = np.resize([14.0, 0, 0, 0, 0], a), np.resize([4.0, 1e-3, 1e-3, 0.2, 0.2], a)
    return Model(
        architecture=architecture,
        weights={
            name: rng.normal(0, 0.4, shape).astype(np.float32)
            for name, shape in architecture.shapes().items()
        },
        scalers=Scalers(
            branch=Scaler(rows[0] + rng.normal(0, 0.1, a) * rows[1], rows[1] * rng.uniform(0.8, 1.2, a)),
            trunk=Scaler(rng.uniform(400, 750, b), rng.uniform(40, 80, b)),
            target=Scaler(rng.uniform(700, 750, c), rng.uniform(30, 60, c)),
        ),
    )


def draw_window(horizon: int, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    branch = rng.normal(0, 1, (horizon, ROW)) * [4.0, 1e-3, 1e-3, 0.2, 0.2] + [14.0, 0, 0, 0, 0]
    return branch, rng.uniform(400, 800, 1 + horizon), rng.normal(0, 1e-3, 2)


def predict_folded(
    folder: Folding, branch: FloatArray, temps: FloatArray, location: FloatArray
) -> FloatArray:
    return folder.fold(branch[:, 1:], temps, location).predict(branch[:, 0])


@pytest.mark.parametrize("architecture", FOLDABLE, ids=repr)
def test_the_network_of_a_tick_predicts_what_the_whole_one_does(architecture: MsDeepONet) -> None:
    model = draw_model(architecture)
    folder = Folding(model)
    for seed in range(5):
        window = draw_window(architecture.horizon, seed)
        (whole,) = model.predict(*(part[np.newaxis] for part in window))
        np.testing.assert_allclose(predict_folded(folder, *window), whole, rtol=0, atol=1e-9)


def test_the_shipped_model_folds() -> None:
    model, window = find_model("paper-corner"), draw_window(5)
    (whole,) = model.predict(*(part[np.newaxis] for part in window))
    np.testing.assert_allclose(predict_folded(Folding(model), *window), whole, rtol=0, atol=1e-9)


def test_a_tick_leaves_no_trace_in_the_next() -> None:
    model = draw_model(FOLDABLE[0])
    folder = Folding(model)
    branch, temps, location = draw_window(5, 1)
    folder.fold(*(10.0 * part for part in (branch[:, 1:], temps, location)))
    again, fresh = (each.fold(branch[:, 1:], temps, location) for each in (folder, Folding(model)))
    for name in ("A", "a", "W", "b", "C", "c"):
        np.testing.assert_array_equal(getattr(again, name), getattr(fresh, name))


@pytest.mark.parametrize("architecture", FOLDABLE, ids=repr)
def test_the_slopes_of_a_tick_are_those_of_its_prediction(architecture: MsDeepONet) -> None:
    branch, temps, location = draw_window(architecture.horizon, 3)
    net = Folding(draw_model(architecture), smoothing=SMOOTHING).fold(branch[:, 1:], temps, location)
    plan, nudge = branch[:, 0], 1e-4
    found, slopes = net.linearise(plan)
    np.testing.assert_allclose(found, net.predict(plan), rtol=0, atol=1e-12)
    ways = nudge * np.eye(len(plan))
    want = [(net.predict(plan + way) - net.predict(plan - way)) / (2 * nudge) for way in ways]
    np.testing.assert_allclose(slopes, np.stack(want, axis=1), rtol=1e-5, atol=1e-6)


def test_the_smooth_rectifier_is_at_most_half_a_root_above_the_sharp_one() -> None:
    z = np.linspace(-3, 3, 2001)
    np.testing.assert_array_equal(rectify(z), np.maximum(z, 0))
    above = rectify(z, 1e-6) - rectify(z)
    assert above.min() > 0
    assert above.max() == pytest.approx(5e-4) == above[1000]


@pytest.mark.parametrize("architecture", [SsAr(width=4, basis=3), Lstm(hidden=4)], ids=lambda a: str(a.name))
def test_a_network_whose_trunk_depends_on_the_plan_is_not_folded(architecture: WindowNetwork) -> None:
    with pytest.raises(BadInput, match=architecture.name):
        Folding(draw_model(architecture))
