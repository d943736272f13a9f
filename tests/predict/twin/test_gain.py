"""The gain filter: one number, robust to bad frames, quick to follow what has really changed."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.predict.twin.gain import D, E, GainFilter, GainSettings, X, Y

HOP = 3.75e-5  # m, of the beam in a tick


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


def test_a_process_says_what_gain_can_be() -> None:
    gain = GainFilter(GainSettings(), (0.8, 1.2))
    settle(gain, 1.3, 20)
    assert gain.gain == 1.2
    settle(gain, 1.0, 20)
    assert not gain.read(0.7, 0.001)
    assert not gain.read(0.7, 0.001)
    assert gain.gain == pytest.approx(1.0, abs=0.002)


def test_two_readings_that_are_too_hot_are_believed_even_if_they_differ(gain: GainFilter) -> None:
    settle(gain, 1.0, 20)
    assert not gain.read(2.0, 0.001)
    assert gain.read(1.8, 0.001)
    assert gain.gain == pytest.approx(1.8, abs=0.01)


def test_a_ratio_that_is_no_number_is_left_out(gain: GainFilter) -> None:
    settle(gain, float("nan"), 5)
    assert gain.gain == 1.0


def drive(gain: GainFilter, hops: NDArray[np.float64], offset: tuple[float, float], late: float) -> None:
    """Spots seen along a way of hops (n, 2), m, in images that lie off, with places late by some ticks."""
    for hop in hops:
        gain.wait(1)
        seen = np.array(offset) - late * hop
        gain.place(seen - gain.state[X:] + gain.state[D] * hop, hop, 1e-6)


def test_a_turn_tells_an_offset_from_a_lag(gain: GainFilter) -> None:
    drive(gain, np.repeat([[HOP, 0.0], [0.0, HOP]], 10, axis=0), (5e-5, -3e-5), 1.0)
    assert gain.state[X:] == pytest.approx([5e-5, -3e-5], abs=3e-6)
    assert gain.state[D] == pytest.approx(1.0, abs=0.1)


def test_a_straight_line_tells_only_their_sum(gain: GainFilter) -> None:
    drive(gain, np.repeat([[HOP, 0.0]], 20, axis=0), (5e-5, -3e-5), 0.0)
    assert gain.state[X] - gain.state[D] * HOP == pytest.approx(5e-5, abs=1e-6)  # where the spot is
    assert gain.state[Y] == pytest.approx(-3e-5, abs=1e-6)
    assert gain.covariance[Y, Y] < 0.02 * gain.covariance[X, X]


def test_a_knocked_camera_is_believed_at_the_second_image(gain: GainFilter) -> None:
    hop = np.array([HOP, 0.0])
    drive(gain, np.repeat([[HOP, 0.0], [0.0, HOP]], 20, axis=0), (0.0, 0.0), 0.0)
    knock, before = np.array([0.0, 8e-5]), gain.state.copy()
    assert gain.place(knock, hop, 1e-6) is None
    assert gain.state == pytest.approx(before)
    assert gain.refused == 1
    believed = gain.place(knock, hop, 1e-6)
    assert believed == pytest.approx(knock, abs=2e-6)
    assert gain.state[X:] == pytest.approx(before[X:] + knock, abs=2e-6)


def test_a_place_seen_in_a_turn_tells_less_of_what_is_late(gain: GainFilter) -> None:
    drive(gain, np.repeat([[HOP, 0.0]], 20, axis=0), (5e-5, 0.0), 0.0)
    known, unknown = gain.state.copy(), gain.covariance.copy()
    off, hop = np.array([-3e-5, 0.0]), np.array([0.0, HOP])
    left = []
    for turn in (0.0, 2.0 * HOP):
        gain.state, gain.covariance = known.copy(), unknown.copy()
        assert gain.place(off, hop, 1e-6, turn) is not None
        left.append(gain.covariance[D, D])
    assert left[1] > 3.0 * left[0]


def test_a_place_that_is_no_number_is_left_out(gain: GainFilter) -> None:
    assert gain.place(np.full(2, np.nan), np.array([HOP, 0.0]), 1e-6) is None
    assert np.isfinite(gain.state).all()


def test_the_gain_falls_by_at_most_a_twentieth_a_reading(gain: GainFilter) -> None:
    settle(gain, 1.0, 20)
    seen = [gain.gain]
    for _ in range(8):
        gain.wait(1)
        gain.read(0.8, 0.001)
        seen.append(gain.gain)
    assert min(np.array(seen[1:]) / seen[:-1]) == pytest.approx(0.95)
    assert gain.gain == pytest.approx(0.8, abs=0.002)


def test_what_is_late_tells_itself_where_the_power_changes(gain: GainFilter) -> None:
    for slope in 10 * [0.2, -0.2]:  # the heat expected rises and falls; power is a tick late
        gain.wait(1)
        gain.read(0.9 * (1.0 + slope * (1.0 - gain.state[E])), 0.001, slope)
    assert gain.state[E] == pytest.approx(1.0, abs=0.1)
    assert gain.gain == pytest.approx(0.9, abs=0.01)


def test_at_constant_power_nothing_is_late(gain: GainFilter) -> None:
    for _ in range(20):
        gain.wait(1)
        gain.read(0.9, 0.001, 0.01)
    assert gain.state[E] == 0.0


def test_bad_frames_make_it_doubt_what_is_late(gain: GainFilter) -> None:
    for slope in 10 * [0.2, -0.2]:
        gain.read(1.0, 0.001, slope)
    sure = gain.covariance[E, E]
    assert not gain.read(1.6, 0.001)
    assert gain.covariance[E, E] == pytest.approx(sure + 0.3**2)


def test_power_and_places_that_are_late_alike_are_told_from_one_that_is_not(gain: GainFilter) -> None:
    gain.state[[E, D]] = 1.0, 1.0
    assert gain.between == 0.0
    gain.state[[E, D]] = 0.0, 1.0
    assert gain.between == 0.0  # nothing was seen yet: not sure
    gain.covariance *= 1e-2
    assert gain.between == pytest.approx(0.91, abs=0.01)
