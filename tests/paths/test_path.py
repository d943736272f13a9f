import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import ScanPath

POSITIONS = arrays(np.float64, st.tuples(st.integers(2, 30), st.just(2)), elements=st.floats(-5e-3, 5e-3))


def make_path(positions: object, tick: float = 1e-4) -> ScanPath:
    return ScanPath(name="test", positions=np.array(positions, dtype=np.float64), tick=tick)


def test_a_path_has_one_tick_less_than_positions() -> None:
    path = make_path([[0, 0], [1, 0], [2, 0]])
    assert len(path) == 2
    np.testing.assert_allclose(path.times, [0, 1e-4, 2e-4])


def test_positions_and_velocities_cannot_be_changed() -> None:
    source = np.zeros((3, 2))
    path = make_path(source)
    source[0] = 1
    assert (path.positions == 0).all()
    for array in (path.positions, path.velocities, path.headings):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@settings(deadline=None, max_examples=50)
@given(POSITIONS)
def test_summed_velocities_return_the_positions(positions: NDArray[np.float64]) -> None:
    path = make_path(positions)
    travelled = positions[0] + np.cumsum(path.velocities[:-1], axis=0) * path.tick
    np.testing.assert_allclose(travelled, positions[1:], atol=1e-15)
    np.testing.assert_array_equal(path.velocities[-1], path.velocities[-2])


@settings(deadline=None, max_examples=50)
@given(POSITIONS)
def test_headings_point_along_the_velocity(positions: NDArray[np.float64]) -> None:
    path = make_path(positions)
    size = np.hypot(*path.velocities.T)
    unit = np.column_stack([np.cos(path.headings), np.sin(path.headings)])
    moving = size > 1e-12
    along = (size[:, np.newaxis] * unit)[moving]
    np.testing.assert_allclose(along, path.velocities[moving], atol=1e-12)


def test_a_resting_beam_keeps_its_heading() -> None:
    path = make_path([[0, 0], [0, 0], [0, 1], [0, 1], [-1, 1], [-1, 1]])
    np.testing.assert_allclose(path.headings, [0, np.pi / 2, np.pi / 2, np.pi, np.pi, np.pi])


def test_a_spot_spans_its_tick() -> None:
    path = make_path([[0, 0], [1, 0], [1, 2]])
    np.testing.assert_array_equal(path.spot(1), [[1, 0], [1, 2]])


@pytest.mark.parametrize("k", [-1, 2])
def test_there_is_no_spot_outside_the_path(k: int) -> None:
    with pytest.raises(BadInput, match=rf"path test has the ticks 0 to 1, but tick {k} "):
        make_path([[0, 0], [1, 0], [1, 2]]).spot(k)


@settings(deadline=None, max_examples=100)
@given(POSITIONS, st.integers(0, 40), st.integers(0, 10))
def test_a_preview_follows_the_path_and_then_goes_straight_on(
    positions: NDArray[np.float64], k: int, ticks: int
) -> None:
    path = make_path(positions)
    preview = path.preview(k, ticks)
    assert preview.shape == (ticks + 1, 2)
    for row, j in enumerate(range(k, k + ticks + 1)):
        beyond = max(j - len(path), 0)
        expected = positions[min(j, len(path))] + beyond * path.tick * path.velocities[-1]
        np.testing.assert_allclose(preview[row], expected, atol=1e-14)


@pytest.mark.parametrize(("k", "ticks"), [(-1, 2), (0, -1)])
def test_a_preview_does_not_look_back(k: int, ticks: int) -> None:
    with pytest.raises(BadInput, match=f"k = {k} and ticks = {ticks}"):
        make_path([[0, 0], [1, 0]]).preview(k, ticks)


def test_a_truncated_path_is_the_beginning_of_the_whole() -> None:
    whole = make_path([[0, 0], [1, 0], [2, 5], [3, 0]])
    short = whole.truncated(2)
    assert (len(short), short.name, short.tick) == (2, whole.name, whole.tick)
    np.testing.assert_array_equal(short.positions, whole.positions[:3])
    assert len(whole.truncated(3)) == 3


def test_a_path_cannot_be_truncated_to_more_than_it_has() -> None:
    with pytest.raises(
        BadInput, match="path test is 1 tick long, but 2 were asked for; ask for at most 1, slow"
    ):
        make_path([[0, 0], [1, 0]]).truncated(2)


def test_a_path_cannot_be_truncated_to_nothing() -> None:
    with pytest.raises(BadInput, match="at least 1 tick, but 0 were"):
        make_path([[0, 0], [1, 0]]).truncated(0)


@pytest.mark.parametrize("positions", [[[0, 0]], [0, 1], [[0, 0, 0], [1, 1, 1]], np.zeros((0, 2))])
def test_positions_of_the_wrong_shape_are_refused(positions: object) -> None:
    with pytest.raises(BadInput, match=r"path test must have shape \(ticks \+ 1, 2\)"):
        make_path(positions)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_position_that_is_not_finite_is_named(value: float) -> None:
    with pytest.raises(BadInput, match="position 2 is"):
        make_path([[0, 0], [1, value], [2, 0]])


@pytest.mark.parametrize("tick", [0.0, -1.0, np.nan, np.inf])
def test_a_tick_takes_time(tick: float) -> None:
    with pytest.raises(BadInput, match="tick must be a positive, finite time"):
        make_path([[0, 0], [1, 0]], tick=tick)


def test_a_path_is_lit_unless_it_says_otherwise() -> None:
    path = make_path([[0, 0], [1, 0], [2, 0]])
    assert path.lit.tolist() == [True, True]
    assert path.power is None
    for array in (path.lit, make_lit([True], power=[3.0]).power):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = False


def make_lit(lit: list[bool], power: list[float] | None = None) -> ScanPath:
    positions = np.column_stack((np.arange(len(lit) + 1.0), np.zeros(len(lit) + 1)))
    return ScanPath(
        name="test", positions=positions, lit=np.array(lit), power=None if power is None else np.array(power)
    )


@pytest.mark.parametrize("lit", [np.ones(3, np.bool_), np.ones(2), np.ones((2, 2), np.bool_)])
def test_lit_must_be_one_boolean_per_tick(lit: NDArray[np.bool_]) -> None:
    with pytest.raises(BadInput, match="lit of the path test must be 2 booleans, one per tick"):
        ScanPath(name="test", positions=np.zeros((3, 2)), lit=lit)


@pytest.mark.parametrize(
    ("power", "match"),
    [
        ([1.0], "must have 3 values"),
        ([1.0, 0.0, -1.0], "in tick 2 it is -1 W"),
        ([1.0, 0.0, np.nan], "in tick 2 it is nan W"),
        ([1.0, 5.0, 1.0], "0 where the laser is off, but in tick 1 it is 5 W"),
    ],
)
def test_the_power_of_a_file_is_one_number_per_tick_and_none_in_the_dark(
    power: list[float], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        make_lit([True, False, True], power)


def test_a_tick_has_settled_after_so_many_lit_ticks_since_the_start_or_the_last_dark_one() -> None:
    path = make_lit([True] * 5 + [False] + [True] * 4)
    assert np.flatnonzero(path.settled(3)).tolist() == [3, 4, 9]
    assert np.flatnonzero(path.settled(0)).tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert np.flatnonzero(path.settled()).size == 0
    np.testing.assert_array_equal(path.counted, path.lit)  # where none has settled all lit ones count
    assert np.flatnonzero(make_lit([True] * 12 + [False] + [True] * 11).counted).tolist() == [10, 11, 23]


def test_a_preview_of_the_laser_holds_its_last_tick_beyond_the_end() -> None:
    path = make_lit([True, False, True])
    assert path.preview_lit(0, 2).tolist() == [True, False]
    assert path.preview_lit(1, 4).tolist() == [False, True, True, True]
    assert path.preview_lit(9, 1).tolist() == [True]
    with pytest.raises(BadInput, match="k = -1"):
        path.preview_lit(-1, 2)


def test_a_truncated_path_keeps_what_it_knows_of_the_laser() -> None:
    short = make_lit([True, False, True], [7.0, 0.0, 9.0]).truncated(2)
    assert short.lit.tolist() == [True, False]
    assert short.power is not None
    assert short.power.tolist() == [7.0, 0.0]


def test_a_beam_that_waits_has_no_speed_whatever_rounding_moves_it() -> None:
    place = np.array([1e-3 / 3, 2e-3 / 7])
    positions = place + 1e-18 * np.arange(14)[:, np.newaxis]
    assert ScanPath(name="spot", positions=positions + np.spacing(positions)).median_speed == 0.0
    moved = positions.copy()
    moved[-3:, 0] += 1e-5 * np.arange(1, 4)
    assert ScanPath(name="spot", positions=moved).median_speed == 0.0
    assert ScanPath(name="line", positions=moved[-5:]).median_speed == pytest.approx(0.08)
