"""SS-AR with the peak's place: what it is taught, and how its rollout goes on."""

import numpy as np

from laserloop.data import Windows
from laserloop.predict.networks import FloatArray, SsArLoc

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
