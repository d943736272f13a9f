"""What every surrogate must do, whatever its architecture."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.data.windows import Scaler, Windows
from laserloop.predict.model import Model, Scalers, find_model, load_model, save_model, shipped_models
from laserloop.predict.networks import (
    AffineNet,
    Fno,
    Lstm,
    MsDeepONet,
    Network,
    SsAr,
    SsArLoc,
    Tide,
    TideQuantile,
    WindowNetwork,
    split_flat,
)
from laserloop.predict.training import FitSettings, Progress, fit

torch = pytest.importorskip("torch")

ARCHITECTURES: list[WindowNetwork] = [
    MsDeepONet(),
    MsDeepONet(trunk="loc", width=32, basis=20),
    MsDeepONet(trunk="both", width=32, basis=20, horizon=3),
    SsAr(),
    SsAr(width=24, basis=10, horizon=1),
    SsArLoc(),
    SsArLoc(width=24, basis=10, horizon=1),
    Lstm(),
    Lstm(hidden=16, horizon=3),
]
NAMES = [f"{a.name}-{getattr(a, 'trunk', '')}-{a.horizon}" for a in ARCHITECTURES]
every = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=NAMES)
SEQUENCES = [AffineNet(width=16), Tide(width=18), TideQuantile(width=18), Fno(channels=2, width=12)]
every_formula = pytest.mark.parametrize(
    "network", [*ARCHITECTURES, *SEQUENCES], ids=[*NAMES, *(net.name for net in SEQUENCES)]
)

WHERE, SPREAD = 750.0, 60.0  # K, about what T_max does on the plant
FloatArray = NDArray[np.float64]
Window = tuple[FloatArray, FloatArray, FloatArray]


def draw_model(architecture: WindowNetwork) -> Model:
    """Random weights with the scalers of plausible data."""
    a, b, c = architecture.sizes()
    branch = Scaler(np.resize([14.0, 0, 0, 0, 0], a), np.resize([4.0, 1e-3, 1e-3, 0.2, 0.2], a))
    trunk = Scaler(np.full(b, WHERE), np.full(b, SPREAD))
    if isinstance(architecture, MsDeepONet) and architecture.trunk != "temps":
        trunk = Scaler(np.r_[trunk.mean[:-2], 0, 0], np.r_[trunk.std[:-2], 1e-3, 1e-3])
    target = Scaler(np.full(c, WHERE), np.full(c, SPREAD))
    if isinstance(architecture, SsArLoc):
        trunk = target = Scaler(np.array([WHERE, 0.0, 0.0]), np.array([SPREAD, 1e-4, 1e-4]))
    return Model(
        architecture=architecture,
        weights=architecture.draw_weights(np.random.default_rng(3)),
        scalers=Scalers(branch=branch, trunk=trunk, target=target),
    )


def draw_windows(horizon: int, n: int = 200) -> Windows:
    """Random inputs, and targets that depend on them smoothly."""
    rng = np.random.default_rng(n)
    branch = rng.normal(0, 1, (n, horizon, 5)) * [4.0, 1e-3, 1e-3, 0.2, 0.2] + [14.0, 0, 0, 0, 0]
    temps = rng.normal(WHERE, SPREAD, (n, 1 + horizon))
    heat = np.cumsum(branch[:, :, 0] - 14.0, axis=1) * 5.0
    target = 0.7 * temps[:, :1] + 0.3 * WHERE + heat + 200.0 * branch[:, :, 3] * branch[:, :, 4]
    zeros = np.zeros(n, np.int64)
    return Windows(
        branch=branch,
        temps=temps,
        location=rng.normal(0, 1e-3, (n, 2)),
        target=target,
        places=branch[:, :, 1:3] + 1e-3 * branch[:, :, 3:],
        episode=np.arange(n) % 10,
        tick=np.arange(n),
        excitation=zeros,
        geometry=zeros,
    )


def inputs(windows: Windows) -> Window:
    return windows.branch, windows.temps, windows.location


def flatten(model: Model) -> FloatArray:
    return np.concatenate([weight.ravel() for weight in model.weights.values()])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def predict_by_torch(model: Model, window: Window) -> FloatArray:
    """The network that is trained, in double precision, on the model's weights."""
    from laserloop.predict.torch_training import TorchNetwork

    flat = torch.from_numpy(flatten(model).astype(np.float64))
    network = TorchNetwork(model.architecture, flat, torch.zeros_like(flat))
    scalers = model.scalers

    def net(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        x, y = scalers.branch.scale(x), scalers.trunk.scale(y)
        with torch.no_grad():
            return scalers.target.unscale(network.predict(torch.from_numpy(x), torch.from_numpy(y)).numpy())

    predicted: FloatArray = model.architecture.predict(net, *window).astype(np.float64)
    return predicted


def draw_standard(network: Network, n: int) -> tuple[Any, Any, Any, Any]:
    """Weights as one vector, and x, y and s of n windows, in double precision."""
    rng = np.random.default_rng(n)
    weights = np.concatenate([weight.ravel() for weight in network.draw_weights(rng).values()])
    arrays = (weights.astype(np.float64), *(rng.normal(size=(n, size)) for size in network.sizes()))
    flat, x, y, s = (torch.from_numpy(array) for array in arrays)
    return flat, x, y, s


@every_formula
def test_numpy_and_pytorch_agree(network: Network) -> None:
    from laserloop.predict.torch_training import TorchNetwork

    flat, x, y, s = draw_standard(network, 30)
    with torch.no_grad():
        there = TorchNetwork(network, flat, torch.zeros_like(flat)).predict(x, y).numpy()
    here = network.forward(np, split_flat(network.shapes(), flat.numpy()), x.numpy(), y.numpy())
    assert here.shape == s.shape
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", shipped_models())
def test_numpy_and_pytorch_agree_on_shipped_models(name: str) -> None:
    model = find_model(name)
    window = inputs(draw_windows(model.architecture.horizon))
    np.testing.assert_allclose(model.predict(*window), predict_by_torch(model, window), rtol=0, atol=1e-4)


@every
def test_a_saved_model_predicts_the_same_bits(architecture: WindowNetwork, tmp_path: Path) -> None:
    model, window = draw_model(architecture), inputs(draw_windows(architecture.horizon))
    save_model(model, tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.architecture == architecture
    np.testing.assert_array_equal(loaded.predict(*window), model.predict(*window))


@every_formula
def test_the_gradient_is_that_of_the_loss(network: Network) -> None:
    from laserloop.predict.torch_training import TorchNetwork

    flat, x, y, s = draw_standard(network, 40)
    gradient, losses = torch.zeros_like(flat), []
    with torch.no_grad():
        learner = TorchNetwork(network, flat, gradient)
        learner.learn(x, y, s)
        direction = torch.from_numpy(np.random.default_rng(0).normal(size=len(flat)))
        slope = float(gradient @ direction)
        for step in (1e-6, -2e-6):
            flat += step * direction
            losses.append(float(learner.measure(x, y, s)) / s.numel())
    assert (losses[0] - losses[1]) / 2e-6 == pytest.approx(slope, rel=1e-4)


QUICK = FitSettings(max_epochs=8, batch=32, learning_rate=1e-2)


@every
def test_training_learns(architecture: WindowNetwork) -> None:
    losses: list[list[float]] = []
    model = fit(
        draw_windows(architecture.horizon),
        architecture,
        QUICK,
        report=lambda progress: losses.append(progress.validation_losses.copy()),
    )
    assert losses[-1][-1] < 0.8 * losses[-1][0]
    assert model.provenance["metrics"]["validation_loss"] == min(losses[-1])


class Killed(Exception):
    """Stands for SIGKILL."""


@every
def test_an_interrupted_training_ends_with_the_weights_of_an_unbroken_one(
    architecture: WindowNetwork, tmp_path: Path
) -> None:
    def kill(progress: Progress) -> None:
        if progress.epoch in (2, 3):
            raise Killed

    windows = draw_windows(architecture.horizon)
    unbroken = fit(windows, architecture, QUICK)
    for _ in range(2):
        with pytest.raises(Killed):
            fit(windows, architecture, QUICK, out=tmp_path, report=kill, keep_every=0)
    resumed = fit(windows, architecture, QUICK, out=tmp_path, keep_every=0)
    np.testing.assert_array_equal(flatten(resumed), flatten(unbroken))
    np.testing.assert_array_equal(flatten(load_model(tmp_path)), flatten(unbroken))


@every
def test_another_seed_gives_another_network(architecture: WindowNetwork) -> None:
    one, other = (architecture.draw_weights(np.random.default_rng(seed)) for seed in (0, 1))
    assert {name: w.shape for name, w in one.items()} == architecture.shapes()
    assert not any(np.array_equal(one[name], other[name]) for name in one if name != "bias")


@every
def test_a_flat_vector_is_split_without_loss(architecture: WindowNetwork) -> None:
    weights = architecture.draw_weights(np.random.default_rng(0))
    flat = np.concatenate([weight.ravel() for weight in weights.values()])
    for name, weight in split_flat(architecture.shapes(), flat).items():
        np.testing.assert_array_equal(weight, weights[name])
