"""Latencies: of whole predictions, and of every model asked for."""

import numpy as np
import pytest

from laserloop import evaluation as room
from laserloop.bad_input import BadInput
from laserloop.data import Scaler
from laserloop.data.ensemble import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories, measure_latency
from laserloop.predict.model import Model, Scalers
from laserloop.predict.networks import FloatArray, Lstm, MsDeepONet, WindowNetwork


def draw_model(net: WindowNetwork) -> Model:
    branch, trunk, target = (Scaler(np.zeros(n), np.ones(n)) for n in net.sizes())
    weights = net.draw_weights(np.random.default_rng(0))
    return Model(
        architecture=net, weights=weights, scalers=Scalers(branch=branch, trunk=trunk, target=target)
    )


def test_every_model_is_timed_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = cut_episode(Trajectories(ticks=12).get("spiral", Excitation.PERSISTENT, 0))
    models = {"small": draw_model(MsDeepONet(width=4, basis=2)), "lstm": draw_model(Lstm(hidden=4))}
    order: list[str] = []
    clock = iter(range(10**6))

    class Watch:
        """A clock by which every call takes as long as every other."""

        @staticmethod
        def perf_counter() -> int:
            return next(clock)

    monkeypatch.setattr(room, "time", Watch)
    predict = Model.predict

    def spy(self: Model, *window: FloatArray) -> FloatArray:
        order.append(self.architecture.name)
        return predict(self, *window)

    monkeypatch.setattr(Model, "predict", spy)
    times = measure_latency(models, windows, calls=2 * room.BLOCK)
    assert times == {name: {"numpy_us": 1e6} for name in models}
    blocks = [order[2 + n * room.BLOCK] for n in range(4)]
    assert blocks == ["ms-deeponet", "lstm"] * 2
    assert len(order) == 2 + 4 * room.BLOCK


def test_too_few_calls_give_no_median() -> None:
    windows = cut_episode(Trajectories(ticks=12).get("spiral", Excitation.PERSISTENT, 0))
    with pytest.raises(BadInput, match="50 calls at least"):
        measure_latency({}, windows, calls=3)
