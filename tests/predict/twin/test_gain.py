"""The gain filter: one number, robust to bad frames, quick to follow what has really changed."""

import numpy as np
import pytest

from laserloop.predict.twin.gain import GainFilter, GainSettings


@pytest.fixture
def gain() -> GainFilter:
    return GainFilter(GainSettings())


def settle(gain: GainFilter, ratio: float, ticks: int, noise: float = 0.001) -> None:
    for _ in range(ticks):
        gain.wait(1)
        gain.read(ratio, noise)


def test_an_unknown_absorptivity_is_found_at_once(gain: GainFilter) -> None:
    settle(gain, 0.9, 3)
    assert gain.gain == pytest.approx(0.9, abs=0.002)


def test_a_single_bad_frame_changes_nothing(gain: GainFilter) -> None:
    settle(gain, 1.0, 20)
    before = gain.gain
    gain.wait(1)
    assert not gain.read(1.6, 0.001)
    assert (gain.gain, gain.refused) == (before, 1)


def test_two_different_bad_frames_change_nothing(gain: GainFilter) -> None:
    settle(gain, 1.0, 20)
    assert not gain.read(1.6, 0.001)
    assert not gain.read(0.4, 0.001)
    assert gain.gain == pytest.approx(1.0)


def test_a_step_is_believed_the_second_time(gain: GainFilter) -> None:
    settle(gain, 1.0, 20)
    gain.wait(1)
    gain.read(1.1, 0.001)
    gain.wait(1)
    assert gain.read(1.1, 0.001)
    assert gain.gain == pytest.approx(1.1, abs=0.002)


def test_noise_is_averaged_over_more_readings_the_larger_it_is(gain: GainFilter) -> None:
    rng = np.random.default_rng(0)
    spread = []
    for noise in (0.01, 0.05):
        gain.reset()
        seen = []
        for ratio in 1.0 + noise * rng.standard_normal(2000):
            gain.wait(1)
            gain.read(ratio, noise)
            seen.append(gain.gain)
        spread.append(np.std(seen[200:]) / noise)
    assert spread[0] < 0.6
    assert spread[1] < 0.6 * spread[0]


def test_whatever_is_read_the_gain_stays_within_its_bounds(gain: GainFilter) -> None:
    settle(gain, 1e9, 50)
    assert gain.gain <= 5.0
    settle(gain, -1e9, 50)
    assert gain.gain >= 0.2


def test_a_ratio_that_is_no_number_is_left_out(gain: GainFilter) -> None:
    settle(gain, float("nan"), 5)
    assert gain.gain == 1.0
