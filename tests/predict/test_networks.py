"""Architectures and models: settings that make no sense, and inputs that do not fit."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data.windows import Scaler
from laserloop.predict.model import Model, Scalers
from laserloop.predict.networks import Lstm, MsDeepONet, SsAr


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (MsDeepONet, {"horizon": 0}),
        (MsDeepONet, {"width": 10**6}),
        (MsDeepONet, {"basis": 2.5}),
        (MsDeepONet, {"trunk": "all"}),
        (SsAr, {"horizon": True}),
        (Lstm, {"hidden": -1}),
    ],
)
def test_sizes_that_make_no_sense_are_refused(kind: type, wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        kind(**wrong)


def test_the_papers_network_has_its_sizes_and_fits_in_500_kb() -> None:
    shapes = MsDeepONet().shapes()
    assert shapes["branch.0.weight"] == (128, 25)
    assert shapes["branch.2.weight"] == (500, 128)
    assert shapes["trunk.0.weight"] == (128, 6)
    assert shapes["trunk.2.weight"] == (100, 128)
    assert 4 * sum(int(np.prod(shape)) for shape in shapes.values()) < 500_000


@pytest.mark.parametrize(("trunk", "seen"), [("temps", 6), ("loc", 3), ("both", 8)])
def test_the_trunk_sees_what_it_is_told_to(trunk: str, seen: int) -> None:
    assert MsDeepONet(trunk=trunk).sizes() == (25, seen, 5)


def test_windows_of_another_horizon_are_refused() -> None:
    net = MsDeepONet(horizon=2, width=4, basis=3)
    branch, trunk, target = (Scaler(np.zeros(n), np.ones(n)) for n in net.sizes())
    model = Model(
        architecture=net,
        weights=net.draw_weights(np.random.default_rng(0)),
        scalers=Scalers(branch=branch, trunk=trunk, target=target),
    )
    assert model.predict(np.zeros((0, 2, 5)), np.zeros((0, 3)), np.zeros((0, 2))).shape == (0, 2)
    with pytest.raises(BadInput, match="horizon 2"):
        model.predict(np.zeros((1, 3, 5)), np.zeros((1, 4)), np.zeros((1, 2)))
