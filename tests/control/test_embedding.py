"""Embedding: the graph is the network, in value, slope and curvature."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.ipopt import embed, embed_folded, embed_folded_slope
from laserloop.data.windows import Scaler
from laserloop.predict.model import Model, Scalers, find_model
from laserloop.predict.networks import (
    ROW,
    FloatArray,
    Lstm,
    MsDeepONet,
    SsAr,
    SsArLoc,
    WindowNetwork,
)
from laserloop.predict.window import SMOOTHING, Folding

casadi = pytest.importorskip("casadi")

FOLDABLE = [
    MsDeepONet(width=16, basis=8),
    MsDeepONet(width=16, basis=8, trunk="loc"),
    MsDeepONet(width=16, basis=8, trunk="both", horizon=3),
    MsDeepONet(width=8, basis=4, horizon=1),
    MsDeepONet(width=24, basis=5, horizon=10),
]
EMBEDDABLE: list[WindowNetwork] = [
    *FOLDABLE,
    SsAr(width=16, basis=8),
    SsAr(width=8, basis=4, horizon=1),
    SsArLoc(width=8, basis=4),
]
every = pytest.mark.parametrize("architecture", EMBEDDABLE, ids=repr)
every_foldable = pytest.mark.parametrize("architecture", FOLDABLE, ids=repr)

SOFT = 1e-2  # an ε at which the curvature is not all at the kinks
TINY = 1e-30  # W, of the complex step: no difference is taken, so none is lost

Window = tuple[FloatArray, FloatArray, FloatArray]


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


def draw_window(horizon: int, seed: int = 0) -> Window:
    rng = np.random.default_rng(seed)
    branch = rng.normal(0, 1, (horizon, ROW)) * [4.0, 1e-3, 1e-3, 0.2, 0.2] + [14.0, 0, 0, 0, 0]
    return branch, rng.uniform(400, 800, 1 + horizon), rng.normal(0, 1e-3, 2)


def predict_smoothly(model: Model, window: Window, powers: Any, smoothing: float) -> Any:
    """The network in NumPy with the smooth rectifier; also for complex powers."""
    weights, scalers = model.double, model.scalers

    def perceptron(net: str, z: Any) -> Any:
        for layer in range(3):
            z = z @ weights[f"{net}.{layer}.weight"].T + weights[f"{net}.{layer}.bias"]
            if layer < 2:
                z = 0.5 * (z + np.sqrt(z**2 + smoothing))
        return z

    def net(x: Any, y: Any) -> Any:
        B = perceptron("branch", scalers.branch.scale(x))
        t = perceptron("trunk", scalers.trunk.scale(y))
        s = np.einsum("nij,nj->ni", B.reshape(len(B), -1, t.shape[1]), t) + weights["bias"]
        return scalers.target.unscale(s)

    branch, temps, location = window
    plan = np.concatenate((np.asarray(powers)[:, np.newaxis], branch[:, 1:]), axis=1)
    return model.architecture.predict(net, plan[np.newaxis], temps[np.newaxis], location[np.newaxis])[0]


def slope_smoothly(model: Model, window: Window, powers: FloatArray, smoothing: float) -> FloatArray:
    """∂T̂/∂P by complex steps: Im T̂(P + i h e_j)/h."""
    columns = [
        predict_smoothly(model, window, powers + 1j * TINY * unit, smoothing).imag / TINY
        for unit in np.eye(len(powers))
    ]
    return np.stack(columns, axis=1)


def call(function: Any, *arguments: FloatArray) -> FloatArray:
    return np.asarray(function(*arguments))


def differentiate(graph: Any) -> Any:
    """∂T̂/∂P of a graph by CasADi."""
    inputs = graph.mx_in()
    return casadi.Function("slope", inputs, [casadi.jacobian(graph(*inputs), inputs[0])])


def curve(graph: Any, weights: FloatArray) -> Any:
    """∂²(weights · T̂)/∂P² of a graph by CasADi."""
    inputs = graph.mx_in()
    return casadi.Function(
        "curve", inputs, [casadi.hessian(casadi.dot(weights, graph(*inputs)), inputs[0])[0]]
    )


def split(window: Window) -> tuple[FloatArray, ...]:
    """The inputs of the plain graph."""
    branch, temps, location = window
    return branch[:, 0], branch[:, 1:], temps, location


@every
def test_the_graph_is_the_network_with_its_rectifier_smoothed(architecture: WindowNetwork) -> None:
    model = draw_model(architecture)
    graph = embed(model)
    for seed in range(5):
        window = draw_window(architecture.horizon, seed)
        want = predict_smoothly(model, window, window[0][:, 0], SMOOTHING)
        np.testing.assert_allclose(call(graph, *split(window)).ravel(), want, rtol=0, atol=1e-9)


@every
def test_the_graphs_slope_is_the_networks(architecture: WindowNetwork) -> None:
    model, window = draw_model(architecture), draw_window(architecture.horizon)
    slope = call(differentiate(embed(model)), *split(window))
    want = slope_smoothly(model, window, window[0][:, 0], SMOOTHING)
    assert np.abs(want).max() > 0.1  # K/W
    np.testing.assert_allclose(slope, want, rtol=1e-9, atol=1e-9)


@every
@pytest.mark.parametrize("smoothing", [SOFT, SMOOTHING])
def test_the_graphs_curvature_is_the_networks(architecture: WindowNetwork, smoothing: float) -> None:
    horizon = architecture.horizon
    model, window = draw_model(architecture), draw_window(horizon)
    weights = np.linspace(1.0, 2.0, horizon)
    powers, step = window[0][:, 0], 1e-5
    slopes = [
        [weights @ slope_smoothly(model, window, powers + sign * step * unit, smoothing) for sign in (1, -1)]
        for unit in np.eye(horizon)
    ]
    want = np.array([(above - below) / (2 * step) for above, below in slopes])
    got = call(curve(embed(model, smoothing=smoothing), weights), *split(window))
    size = np.abs(want).max()
    assert size > (1e-3 if smoothing == SOFT else 0.0)  # K/W²
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * size + 1e-8)


@every_foldable
def test_the_folded_graph_is_the_plain_one(architecture: MsDeepONet) -> None:
    model, window = draw_model(architecture), draw_window(architecture.horizon)
    plain, folder = embed(model), Folding(model, smoothing=SMOOTHING)
    folded = folder.fold(*split(window)[1:])
    inputs = window[0][:, 0], folded.a, folded.C, folded.c
    weights = np.linspace(1.0, 2.0, architecture.horizon)
    value, slope = (np.asarray(part) for part in embed_folded_slope(folder)(*inputs))
    graph = embed_folded(folder)
    wants = [call(each, *split(window)) for each in (plain, differentiate(plain), curve(plain, weights))]
    gots = [call(each, *inputs) for each in (graph, differentiate(graph), curve(graph, weights))]
    for got, want in zip([*gots, value, slope], [*wants, *wants[:2]], strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-8)


def test_smoothing_moves_the_shipped_models_prediction_by_less_than_a_fifth_of_a_kelvin() -> None:
    model = find_model("paper-corner")
    graph = embed(model)
    moved = []
    for seed in range(50):
        window = draw_window(5, seed)
        (sharp,) = model.predict(*(part[np.newaxis] for part in window))
        moved.append(np.abs(call(graph, *split(window)).ravel() - sharp).max())
    assert 0 < max(moved) < 0.2  # K; on 594 recorded windows: median 0.02, largest 0.10


def test_a_recurrent_network_is_not_embedded() -> None:
    with pytest.raises(BadInput, match="lstm"):
        embed(draw_model(Lstm(hidden=4)))


def test_the_package_starts_without_casadi() -> None:
    code = "import sys, laserloop.cli, laserloop.control.ipopt; sys.exit('casadi' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
