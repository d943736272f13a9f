import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import ScanPath, Track, sample_polyline, sample_track, track
from laserloop.paths.mark import Mark
from laserloop.paths.track import lay_track

mm = 1e-3
TICK = 1.25e-4
HOP = 0.304 * TICK
PLATE = (15 * mm, 10 * mm)


def lay(*marks: Mark) -> Track:
    return lay_track(iter(marks), file="part", plate=PLATE)


def sample(*marks: Mark, speed: float | None = None, ticks: int | None = None) -> ScanPath:
    return sample_track(lay(*marks), name="part", speed=speed, tick=TICK, ticks=ticks)


@settings(deadline=None, max_examples=40)
@given(arrays(np.float64, st.tuples(st.integers(2, 8), st.just(2)), elements=st.floats(-3e-3, 3e-3)))
def test_at_one_speed_a_track_is_a_sampled_polyline(waypoints: NDArray[np.float64]) -> None:
    assume(np.hypot(*np.diff(waypoints, axis=0).T).sum() > 1.01 * HOP)
    path = sample(Mark(line=1, points=[complex(x, y) for x, y in waypoints], speed=0.304))
    expected = sample_polyline(waypoints, name="part")
    assert abs(len(path) - len(expected)) <= 1
    ticks = min(len(path), len(expected)) + 1
    np.testing.assert_allclose(path.positions[:ticks], expected.positions[:ticks], atol=1e-12)
    assert path.notes == ()


def test_each_mark_keeps_its_own_speed_and_the_beam_rests_where_it_is_told() -> None:
    path = sample(
        Mark(line=1, points=[0j, 1 * mm], speed=0.4),  # 20 ticks
        Mark(line=2, points=[1 * mm], speed=0.4, rest=10 * TICK),
        Mark(line=3, points=[1 * mm, 1 * mm + 1j * mm], speed=0.8),  # 10 ticks
    )
    assert len(path) == 40
    np.testing.assert_allclose(path.positions[10], [0.5 * mm, 0], atol=1e-12)
    np.testing.assert_allclose(path.positions[20:31], np.tile([1 * mm, 0], (11, 1)), atol=1e-12)
    np.testing.assert_allclose(path.positions[35], [1 * mm, 0.5 * mm], atol=1e-12)


def test_a_given_speed_is_for_all_marks_but_leaves_rests_alone() -> None:
    marks = [
        Mark(line=1, points=[0j, 1 * mm], speed=0.4, rest=5 * TICK),
        Mark(line=2, points=[1 * mm, 2 * mm]),
    ]
    assert len(sample(*marks, speed=0.2)) == 40 + 5 + 40
    assert sample(*marks, speed=0.2).notes == ()
    assert sample(*marks).notes == ("part: moves without a speed of their own go at 304 mm/s",)


def test_marks_apart_are_joined_straight_with_the_speed_of_what_follows_and_a_note() -> None:
    path = sample(
        Mark(line=1, points=[0j, 1 * mm], speed=0.4),
        Mark(line=2, points=[1 * mm + 1j * mm, 1j * mm], speed=0.8),
    )
    assert len(path) == 20 + 10 + 10
    np.testing.assert_allclose(path.positions[25], [1 * mm, 0.5 * mm], atol=1e-12)
    assert "the laser is off on 1 way between marks, 1 of 3 mm" in path.notes[0]
    assert path.truncated(3).notes == path.notes


def test_ends_that_rounding_parts_are_no_gap() -> None:
    assert lay(Mark(line=1, points=[0j, 1 * mm]), Mark(line=2, points=[1.0005 * mm, 2 * mm])).notes == ()


def test_the_first_layer_with_marks_is_taken_wherever_in_the_file_its_marks_are() -> None:
    low, high = 0.04 * mm, 0.08 * mm
    found = lay(
        Mark(line=1, points=[0j, 1 * mm], level=low),
        Mark(line=2, points=[5 * mm, 6 * mm], level=high),
        Mark(line=3, points=[1 * mm, 2 * mm], level=low + 1e-12),
    )
    np.testing.assert_allclose(found.points[:, 0], [0, 1 * mm, 1 * mm, 2 * mm])
    assert found.notes == ("part has 2 layers with laser-on moves; the first, z = 0.04 mm, is used",)


def test_a_point_off_the_plate_is_named_with_its_line() -> None:
    with pytest.raises(BadInput, match=r"part, line 7: every point must lie on the 15 × 10 mm plate"):
        lay(Mark(line=3, points=[0j, 1 * mm]), Mark(line=7, points=[1 * mm, 8 * mm]))


@pytest.mark.parametrize("far", [1e300, 1e308, float("inf")])
def test_an_absurd_point_is_off_the_plate(far: float) -> None:
    with pytest.raises(BadInput, match="part, line 3: every point must lie"):
        lay(Mark(line=3, points=[complex(-far, far), complex(far, -far)]))


def test_no_marks_one_place_or_too_many_waypoints_are_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="part: a path needs moves with the laser on"):
        lay()
    with pytest.raises(BadInput, match=r"part, line 2: a path needs at least two .* \(1, 0\) mm .* line 4"):
        lay(Mark(line=2, points=[1 * mm], rest=1.0), Mark(line=4, points=[1 * mm], rest=1.0))
    monkeypatch.setattr(track, "MAX_WAYPOINTS", 5)
    marks = [Mark(line=k, points=[k * mm, (k + 1) * mm]) for k in range(4)]
    assert len(lay(*marks[:2]).points) == 4
    with pytest.raises(BadInput, match="part, line 2: a layer may have at most 5 waypoints"):
        lay(*marks)


def test_ticks_cut_a_track_short_but_cannot_lengthen_it() -> None:
    mark = Mark(line=1, points=[0j, 1 * mm], speed=0.4)
    assert len(sample(mark, ticks=7)) == 7
    with pytest.raises(BadInput, match="path part is 20 ticks long, but 21 were asked for"):
        sample(mark, ticks=21)
    with pytest.raises(BadInput, match="at least 1 tick, but 0 were"):
        sample(mark, ticks=0)


@pytest.mark.parametrize(
    ("speed", "rest", "match"),
    [
        (100.0, 0.0, "at least one tick, but part lasts 1e-05 s and a tick 0.000125 s"),
        (1e-9, 0.0, "at most 10000000 ticks, but all of part, which lasts 1e\\+06 s"),
        (1e-320, 0.0, "at most 10000000 ticks, but all of part, which lasts inf s"),
        (1.0, 1e9, "at most 10000000 ticks"),
    ],
)
def test_a_track_too_short_or_too_long_in_time_is_refused(speed: float, rest: float, match: str) -> None:
    with pytest.raises(BadInput, match=match):
        sample(Mark(line=1, points=[0j, 1 * mm], speed=speed, rest=rest))


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan, np.inf])
def test_a_given_speed_must_be_one(speed: float) -> None:
    with pytest.raises(BadInput, match="speed must be positive and finite"):
        sample(Mark(line=1, points=[0j, 1 * mm]), speed=speed)
