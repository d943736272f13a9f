"""The twin over a whole path at once says what it says tick by tick."""

import numpy as np
import pytest

from laserloop.paths import find_path
from laserloop.paths.path import Preview
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.predict.twin.rollout import KEPT, roll_out
from laserloop.process import Process


@pytest.mark.parametrize("lag_us", [0.0, 150.0])
def test_many_ticks_at_a_time_are_as_one_by_one(lag_us: float) -> None:
    process = Process().change(lag_us=lag_us)
    path = find_path("polyline:5", ticks=45)
    power = 10.0 + 4.0 * np.sin(np.arange(45))
    found = roll_out(process, path, power)
    twin = TwinPredictor(process, TwinSettings(horizon=1))
    for k in range(45):
        past = min(k, twin.memory)
        now = Preview(
            time=k * path.tick,
            tick=path.tick,
            positions=path.positions[k - past : k + 2],
            powers=power[k - past : k],
        )
        expected = twin.observe(None, now).predict(power[k : k + 1])[0]
        assert found.peaks[k] == pytest.approx(expected, abs=0.2)


def test_shapes_are_of_the_heat_around_the_peak() -> None:
    offsets = np.array([[0.0, 0.0], [5e-5, 0.0], [0.0, 1e-4]])
    found = roll_out(Process(), find_path("vertical", ticks=30), np.full(30, 11.0), offsets)
    assert found.shapes[:, 0] == pytest.approx(1.0)
    assert (np.diff(found.shapes[5:], axis=1) < 0.0).all()


def test_old_heat_merges_in_long_paths() -> None:
    ticks = KEPT + 100
    found = roll_out(Process(), find_path("spiral", ticks=ticks), np.full(ticks, 10.0))
    assert np.isfinite(found.peaks).all()
    assert np.abs(np.diff(found.peaks[30:])).max() < 5.0
