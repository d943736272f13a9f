"""Networks and models: settings and inputs that make no sense are refused; a rollout follows the peak."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import Windows
from laserloop.data.windows import Scaler
from laserloop.predict.model import Model, Scalers
from laserloop.predict.networks import FloatArray, Lstm, MsDeepONet, SsAr, SsArLoc


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


NET = SsArLoc(horizon=3, width=4, basis=2)


def test_it_is_taught_the_next_peak_and_where_it_is_from_the_beam(windows: Windows) -> None:
    net = SsArLoc(horizon=windows.horizon, width=4, basis=2)
    x, y = net.select(windows.branch, windows.temps, windows.location)
    beam = windows.branch[:, 0, 1:3]
    np.testing.assert_array_equal(x, windows.branch[:, 0])
    np.testing.assert_array_equal(y, np.column_stack([windows.temps[:, 0], windows.location - beam]))
    s = net.select_target(windows.target, windows.places - windows.branch[:, :, 1:3])
    np.testing.assert_array_equal(s, np.column_stack([windows.target[:, 0], windows.places[:, 0] - beam]))


def test_its_rollout_follows_the_peak_while_the_beam_moves_on() -> None:
    branch = np.zeros((1, 3, 5))
    branch[0, :, 1] = [0.0, 1.0, 2.0]  # where the beam is
    seen = []

    def step(x: FloatArray, y: FloatArray) -> FloatArray:
        """The peak moves by 0.5 a tick and is 10 K warmer each time."""
        seen.append(y[0].tolist())
        return np.column_stack([y[:, 0] + 10.0, y[:, 1] + 0.5, y[:, 2]])

    temps, location = np.array([[700.0, 0.0, 0.0, 0.0]]), np.array([[-1.0, 0.25]])
    found = NET.predict(step, branch, temps, location)
    assert found.tolist() == [[710.0, 720.0, 730.0]]
    assert seen == [[700.0, -1.0, 0.25], [710.0, -1.5, 0.25], [720.0, -2.0, 0.25]]  # seen from the beam
