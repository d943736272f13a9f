"""Networks with a history: what they see in the loop is what they saw in lessons, and what all must do."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.data.store import COLUMNS, record_path
from laserloop.data.windows import Scaler
from laserloop.loop.run import look_ahead
from laserloop.paths import find_path
from laserloop.plant import Camera, make_plant
from laserloop.plant.camera import develop
from laserloop.plant.surface import Surface
from laserloop.predict.model import Model, Scalers, load_model
from laserloop.predict.networks import FEATURES, HISTORY, HORIZON, NETWORKS, PLACES, SequenceNetwork
from laserloop.predict.sequence import SequencePredictor, Sequences, observe_features, read_record, turn_to
from laserloop.predict.training import FitSettings, Progress, fit_sequences
from laserloop.process import Process

TICKS, SIGMA = 22, 1e-4


def test_the_loop_and_the_lessons_show_the_same() -> None:
    path = find_path("zigzag:7", ticks=TICKS + HORIZON)
    power = np.random.default_rng(0).uniform(8.0, 16.0, TICKS)
    table = read_record(record_path(make_plant("paper"), path, power), SIGMA)
    assert table.features.shape == (TICKS + 1 - HISTORY - HORIZON, FEATURES)

    plant = make_plant("paper")
    camera = Camera(replace(plant.settings.process.camera, sampling="smooth", subgrid=True))
    surface, peaks = plant.reset(), list[float]()
    for k in range(TICKS):
        image = camera.see(surface)
        assert image is not None
        peaks.insert(0, image.peak.temperature)
        if HISTORY <= k < HISTORY + len(table.features):
            seen = observe_features(
                image, look_ahead(path, k, list(power[:k]), HORIZON, HISTORY), np.array(peaks), SIGMA
            )
            row = k - HISTORY
            np.testing.assert_allclose(seen, table.features[row], rtol=1e-5, atol=1e-6)  # patches are single
            np.testing.assert_array_equal(table.plans[row], power[k : k + HORIZON])
        surface = plant.step(float(power[k]), path.spot(k))


def test_the_target_is_what_comes_of_the_plan() -> None:
    path = find_path("vertical", ticks=TICKS + HORIZON)
    power = np.linspace(5.0, 15.0, TICKS)
    record = record_path(make_plant("paper"), path, power)
    table = read_record(record, SIGMA)
    peak = record[:, COLUMNS.index("t_peak_k")]
    np.testing.assert_array_equal(table.target[0], peak[HISTORY + 1 : HISTORY + 1 + HORIZON])
    assert table.features[0, PLACES["heat"]][0] == peak[HISTORY]


def test_a_turned_path_looks_the_same() -> None:
    rng = np.random.default_rng(1)
    ways, angle = rng.normal(size=(3, 4, 2)), 0.7
    headings = rng.normal(size=(3, 2))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(turn_to(headings @ turn, ways @ turn, 2.0), turn_to(headings, ways, 2.0))


NETS = {name: kind for name, kind in NETWORKS.items() if issubclass(kind, SequenceNetwork)}
every = pytest.mark.parametrize("name", NETS)
QUICK = FitSettings(max_epochs=4, batch=64, learning_rate=3e-3)
SIZE = {"affine-history": {"width": 16}, "tide": {"width": 18}, "tide-quantile": {"width": 18}, "fno": {}}


def make_net(name: str) -> SequenceNetwork:
    settings: dict[str, Any] = {"fno": {"channels": 2, "width": 12}}.get(name, SIZE[name])
    return NETS[name](**settings)


def draw_model(name: str) -> Model:
    """Random weights with the scalers of plausible data."""
    net = make_net(name)
    outputs = HORIZON * max(1, len(net.quantiles))
    scalers = Scalers(
        branch=Scaler(np.full(HORIZON, 10.0), np.full(HORIZON, 4.0)),
        trunk=Scaler(np.zeros(FEATURES), np.full(FEATURES, 300.0)),
        target=Scaler(np.full(outputs, 780.0), np.full(outputs, 60.0)),
    )
    return Model(architecture=net, weights=net.draw_weights(np.random.default_rng(0)), scalers=scalers)


def draw_table(n: int = 240) -> Sequences:
    """Targets that depend on plans and features smoothly."""
    rng = np.random.default_rng(n)
    plans, features = rng.uniform(5.0, 15.0, (n, HORIZON)), rng.normal(0.0, 1.0, (n, FEATURES))
    target = 700.0 + np.cumsum(plans, axis=1) + 20.0 * features[:, :1]
    return Sequences(plans, features, target, np.arange(n) // 20)


class Killed(Exception):
    """Stands for SIGKILL."""


@every
def test_an_interrupted_training_ends_with_the_weights_of_an_unbroken_one(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")

    def kill(progress: Progress) -> None:
        if progress.epoch == 2:
            raise Killed

    net, table = make_net(name), draw_table()
    losses: list[float] = []
    unbroken = fit_sequences(
        table,
        net,
        QUICK,
        out=tmp_path / "a",
        data={},
        report=lambda p: losses.append(p.training_losses[-1]),
    )
    assert losses[-1] < losses[0]
    with pytest.raises(Killed):
        fit_sequences(table, net, QUICK, out=tmp_path / "b", data={}, report=kill, keep_every=0)
    fit_sequences(table, net, QUICK, out=tmp_path / "b", data={}, keep_every=0)
    found = load_model(tmp_path / "b")
    for part, weight in unbroken.weights.items():
        np.testing.assert_array_equal(found.weights[part], weight)
    plans, features = table.plans[:9], table.features[:9]
    np.testing.assert_array_equal(found.evaluate(plans, features), unbroken.evaluate(plans, features))


@every
def test_plans_are_causal_and_what_calls_itself_affine_is(name: str) -> None:
    model, table = draw_model(name), draw_table(12)
    now = model.evaluate(table.plans, table.features)[:, :HORIZON]
    more = table.plans + 1.0
    if not model.architecture.affine:
        assert not np.allclose(model.evaluate(more, table.features)[:, :HORIZON], now)
        return
    step = model.evaluate(more, table.features) - now
    np.testing.assert_allclose(model.evaluate(more + 1.0, table.features) - now, 2.0 * step, atol=1e-9)
    last = table.plans.copy()
    last[:, -1] += 1.0
    change = model.evaluate(last, table.features) - now
    np.testing.assert_allclose(change[:, :-1], 0.0, atol=1e-9)
    assert (change[:, -1] > 0.0).all()


def test_the_upper_quantile_is_never_below_the_median() -> None:
    model, table = draw_model("tide-quantile"), draw_table(50)
    found = model.evaluate(table.plans, table.features)
    assert (found[:, HORIZON:] > found[:, :HORIZON]).all()


@every
def test_in_the_loop_it_forecasts_from_images_late_ones_and_none(name: str) -> None:
    process = Process().change(delay_ticks=2)
    predictor, path, powers = (
        SequencePredictor(draw_model(name), process),
        find_path("zigzag:3", ticks=50),
        [],
    )
    x = y = np.linspace(-2e-3, 2e-3, 81)
    heat = 600.0 + 100.0 * np.exp(-(x**2 + y[:, np.newaxis] ** 2) / 1e-6)
    assert predictor.observe(None, look_ahead(path, 0, [], HORIZON, predictor.memory)) is None
    for k in range(2, 40):
        powers = [10.0] * k
        image = (
            develop(Surface(x, y, heat, (k - 2) * path.tick), sampling="smooth", subgrid=True)
            if k < 20
            else None
        )
        forecast = predictor.observe(image, look_ahead(path, k, powers, HORIZON, predictor.memory))
        assert forecast is not None
        assert len(forecast.committed) == (2 if k < 20 else min(k - 17, HORIZON - 1))
        predicted, slopes = forecast.linearise(np.full(HORIZON, 10.0))
        assert np.isfinite(predicted).all()
        nudged = forecast.predict(np.full(HORIZON, 10.01))
        np.testing.assert_allclose(nudged, predicted + 0.01 * slopes.sum(axis=1), atol=1e-3)
