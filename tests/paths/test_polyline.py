import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import sample_polyline

SPEED, TICK = 0.25, 2.0**-13
HOP = SPEED * TICK  # 30.5 µm
WAYPOINTS = arrays(np.float64, st.tuples(st.integers(2, 8), st.just(2)), elements=st.floats(-3e-3, 3e-3))


def length_of(waypoints: NDArray[np.float64]) -> float:
    return float(np.hypot(*np.diff(waypoints, axis=0).T).sum())


def sample(waypoints: NDArray[np.float64]) -> NDArray[np.float64]:
    return sample_polyline(waypoints, name="test", speed=SPEED, tick=TICK).positions


def distance_to_polyline(point: NDArray[np.float64], waypoints: NDArray[np.float64]) -> float:
    start, leg = waypoints[:-1], np.diff(waypoints, axis=0)
    squared = np.maximum((leg**2).sum(axis=1), 1e-300)
    share = np.clip(((point - start) * leg).sum(axis=1) / squared, 0, 1)
    return float(np.hypot(*(start + share[:, np.newaxis] * leg - point).T).min())


@settings(deadline=None, max_examples=100)
@given(WAYPOINTS)
def test_samples_lie_on_the_polyline_and_never_farther_apart_than_a_hop(
    waypoints: NDArray[np.float64],
) -> None:
    assume(length_of(waypoints) > 1.01 * HOP)
    positions = sample(waypoints)
    np.testing.assert_array_equal(positions[0], waypoints[0])
    assert np.hypot(*np.diff(positions, axis=0).T).max() <= HOP * (1 + 1e-9)
    assert (
        max(distance_to_polyline(point, waypoints) for point in positions[:: len(positions) // 20 + 1])
        < 1e-12
    )


@settings(deadline=None, max_examples=100)
@given(WAYPOINTS)
def test_the_last_sample_is_the_last_full_tick(waypoints: NDArray[np.float64]) -> None:
    assume(length_of(waypoints) > 1.01 * HOP)
    ticks = len(sample(waypoints)) - 1
    assert ticks * HOP <= length_of(waypoints) * (1 + 1e-9) + 1e-10
    assert (ticks + 1) * HOP > length_of(waypoints) - 1e-10


@settings(deadline=None, max_examples=50)
@given(st.floats(0, 6.3), st.floats(1e-4, 5e-3))
def test_samples_of_a_straight_line_are_one_hop_apart(angle: float, length: float) -> None:
    line = np.array([[0.0, 0.0], [length * np.cos(angle), length * np.sin(angle)]])
    np.testing.assert_allclose(np.hypot(*np.diff(sample(line), axis=0).T), HOP, rtol=1e-9)


@settings(deadline=None, max_examples=100)
@given(WAYPOINTS, st.data())
def test_duplicate_and_collinear_waypoints_change_nothing(
    waypoints: NDArray[np.float64], data: st.DataObject
) -> None:
    assume(length_of(waypoints) > 1.01 * HOP)
    leg = data.draw(st.integers(0, len(waypoints) - 2))
    share = data.draw(st.floats(0, 1))
    between = waypoints[leg] + share * (waypoints[leg + 1] - waypoints[leg])
    richer = np.insert(waypoints, leg + 1, [waypoints[leg], between, between], axis=0)
    np.testing.assert_allclose(sample(richer), sample(waypoints), atol=1e-12)


@settings(deadline=None, max_examples=50)
@given(WAYPOINTS)
def test_samples_stay_in_the_bounding_box_of_the_waypoints(waypoints: NDArray[np.float64]) -> None:
    assume(length_of(waypoints) > 1.01 * HOP)
    positions = sample(waypoints)
    assert (positions >= waypoints.min(axis=0) - 1e-15).all()
    assert (positions <= waypoints.max(axis=0) + 1e-15).all()


@pytest.mark.parametrize("ticks", range(1, 100))
def test_a_line_of_whole_hops_loses_no_tick_to_rounding(ticks: int) -> None:
    end = ticks * 38e-6  # 0.304 m/s · 1.25e-4 s, rounded otherwise than in the source
    path = sample_polyline([[-end / 3, 0.0], [end / 3, 0.0], [2 * end / 3, 0.0]], name="test")
    assert len(path) == ticks
    np.testing.assert_allclose(path.positions[-1], [2 * end / 3, 0], atol=1e-15)


def test_a_corner_is_passed_between_samples() -> None:
    positions = sample(HOP * np.array([[0.0, 0], [1.5, 0], [1.5, 3]]))
    np.testing.assert_allclose(
        positions, HOP * np.array([[0.0, 0.0], [1.0, 0.0], [1.5, 0.5], [1.5, 1.5], [1.5, 2.5]])
    )


def test_ticks_cut_the_path_short() -> None:
    path = sample_polyline([[0.0, 0], [1e-2, 0]], name="test", ticks=7)
    assert len(path) == 7


def test_more_ticks_than_the_polyline_has_are_refused() -> None:
    with pytest.raises(BadInput, match="path test is 26 ticks long, but 27 were asked for"):
        sample_polyline([[0.0, 0], [1e-3, 0]], name="test", ticks=27)


@pytest.mark.parametrize("speed", [0.0, -0.3, np.nan, np.inf])
def test_a_beam_without_speed_is_refused(speed: float) -> None:
    with pytest.raises(BadInput, match="speed must be positive and finite"):
        sample_polyline([[0.0, 0.0], [1.0, 0.0]], name="test", speed=speed)


@pytest.mark.parametrize("tick", [0.0, -1e-4, np.nan, np.inf])
def test_a_tick_without_time_is_refused(tick: float) -> None:
    with pytest.raises(BadInput, match="tick must be a positive, finite time"):
        sample_polyline([[0.0, 0.0], [1.0, 0.0]], name="test", tick=tick)


@pytest.mark.parametrize("speed", [1e-320, 1e-9])
def test_a_beam_that_hardly_moves_is_refused(speed: float) -> None:
    with pytest.raises(BadInput, match="at least 1e-12 m per tick"):
        sample_polyline([[0.0, 0.0], [1.0, 0.0]], name="test", speed=speed)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_waypoint_that_is_not_finite_is_named(value: float) -> None:
    with pytest.raises(BadInput, match="waypoints of test must be finite, but waypoint 3 is"):
        sample_polyline([[0.0, 0.0], [1.0, 0.0], [value, 0]], name="test")


@pytest.mark.parametrize("count", [1, 4])
def test_a_path_without_length_is_refused(count: int) -> None:
    with pytest.raises(BadInput, match=rf"waypoint 1 is \[0.001, 0.0\] m and .* up to waypoint {count};"):
        sample_polyline([[1e-3, 0]] * count, name="test")


@pytest.mark.parametrize(
    "waypoints", [np.zeros((0, 2)), [], [1, 2], [[1, 2, 3]], [[1, 2], [3]], [["a", "b"]]]
)
def test_waypoints_that_are_not_pairs_are_refused(waypoints: list[float]) -> None:
    with pytest.raises(BadInput, match="test"):
        sample_polyline(waypoints, name="test")


def test_a_path_shorter_than_one_tick_is_refused() -> None:
    with pytest.raises(BadInput, match=r"at least one tick, but test is 0\.03 mm long"):
        sample_polyline([[0.0, 0], [3e-5, 0]], name="test")


@pytest.mark.parametrize(("far", "ticks"), [(1000.0, None), (1e308, None), (1e308, 5), (1000.0, 10**8)])
def test_an_absurdly_long_path_is_refused(far: float, ticks: int | None) -> None:
    with pytest.raises(
        BadInput, match=r"at most 10000000 ticks, but .* of test, .* speed or its length is off"
    ):
        sample_polyline([[-far, 0], [far, 0]], name="test", ticks=ticks)
