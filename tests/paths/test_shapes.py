from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import trace_diagonal, trace_horizontal, trace_spiral, trace_vertical

SHAPES = [trace_vertical, trace_horizontal, trace_spiral, trace_diagonal]
Corner = st.tuples(st.sampled_from([-1, 1]), st.sampled_from([-1, 1]))
mm = 1e-3


def length_of(waypoints: NDArray[np.float64]) -> float:
    return float(np.hypot(*np.diff(waypoints, axis=0).T).sum())


@pytest.mark.parametrize("trace", SHAPES)
@pytest.mark.parametrize("length", [1e-5, 15.2 * mm, 0.3])
def test_every_shape_is_as_long_as_asked_and_stays_in_the_scan_area(
    trace: Callable[[float], NDArray[np.float64]], length: float
) -> None:
    waypoints = trace(length)
    assert length_of(waypoints) >= length
    assert np.abs(waypoints).max() <= 1.5 * mm * (1 + 1e-12)


@pytest.mark.parametrize("trace", SHAPES)
@pytest.mark.parametrize("length", [0.0, -1.0, np.nan, np.inf, 101.0])
def test_no_shape_has_an_absurd_length(trace: Callable[[float], NDArray[np.float64]], length: float) -> None:
    with pytest.raises(BadInput, match=r"at most 100 m, but .* m were asked for"):
        trace(length)


def test_the_vertical_raster_starts_upwards_from_the_lower_left() -> None:
    expected = [[-1.5, -1.5], [-1.5, 1.5], [-1.0, 1.5], [-1.0, -1.5], [-0.5, -1.5], [-0.5, 1.5]]
    np.testing.assert_allclose(trace_vertical(20 * mm)[:6] / mm, expected, atol=1e-12)


def test_the_raster_hatches_back_when_the_area_is_done() -> None:
    x_mm = trace_vertical(60 * mm)[::2, 0] / mm
    there = [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5]
    np.testing.assert_allclose(x_mm[:15], [*there, *there[-2::-1], -1.0, -0.5], atol=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.floats(0.3 * mm, 0.6 * mm), Corner, st.integers(0, 5))
def test_a_raster_alternates_full_lines_and_hatches(
    hatch: float, corner: tuple[int, int], first: int
) -> None:
    waypoints = trace_vertical(40 * mm, hatch=hatch, corner=corner, first_line=first)
    dx, dy = np.abs(np.diff(waypoints, axis=0)).T
    np.testing.assert_allclose(dx[::2], 0, atol=1e-15)
    np.testing.assert_allclose(dy[::2], 3 * mm)
    np.testing.assert_allclose(dx[1::2], hatch)
    np.testing.assert_allclose(dy[1::2], 0, atol=1e-15)
    np.testing.assert_allclose(
        waypoints[0], [corner[0] * (1.5 * mm - first * hatch), corner[1] * 1.5 * mm], atol=1e-15
    )


@settings(deadline=None, max_examples=20)
@given(st.floats(0.3 * mm, 0.6 * mm), Corner, st.integers(0, 5))
def test_the_horizontal_raster_exchanges_the_axes(hatch: float, corner: tuple[int, int], first: int) -> None:
    horizontal = trace_horizontal(20 * mm, hatch=hatch, corner=corner, first_line=first)
    vertical = trace_vertical(20 * mm, hatch=hatch, corner=(corner[1], corner[0]), first_line=first)
    np.testing.assert_array_equal(horizontal, vertical[:, ::-1])


@settings(deadline=None, max_examples=30)
@given(st.floats(0.5, 6), st.floats(0.2 * mm, 1.5 * mm), st.floats(-7, 7), st.booleans())
def test_the_spiral_grows_in_proportion_to_its_angle_then_keeps_its_radius(
    turns: float, radius: float, start_angle: float, clockwise: bool
) -> None:
    points = trace_spiral(20 * mm, turns=turns, radius=radius, start_angle=start_angle, clockwise=clockwise)
    r = np.hypot(*points.T)
    angle = np.unwrap(np.arctan2(points[1:, 1], points[1:, 0]))
    turned = np.abs(angle - angle[0]) + 2 * np.pi * turns * r[1] / radius
    np.testing.assert_allclose(r[1:], radius * np.minimum(turned / (2 * np.pi * turns), 1), rtol=1e-9)
    assert (np.diff(angle) < 0).all() == clockwise
    assert r[0] == 0


@settings(deadline=None, max_examples=30)
@given(st.floats(0.5, 100), st.floats(0.1 * mm, 1.5 * mm))
def test_chords_of_the_spiral_stay_within_a_tenth_of_a_micrometre(turns: float, radius: float) -> None:
    points = trace_spiral(1 * mm, turns=turns, radius=radius)
    end = 2 * np.pi * turns
    arm = points[np.hypot(*points.T) < radius * (1 - 1e-9)]
    u = np.hypot(*arm.T) / radius * end
    halfway = (u[1:] + u[:-1]) / 2
    on_arc = (radius / end * halfway * [np.cos(halfway), np.sin(halfway)]).T
    # The chord's midpoint is shifted along the arc too, so the distance is taken across the chord.
    chord = np.diff(arm, axis=0)
    miss = on_arc - arm[:-1]
    across = np.abs(chord[:, 0] * miss[:, 1] - chord[:, 1] * miss[:, 0]) / np.hypot(*chord.T)
    assert across.max() < 1e-8 * 1.01


def test_the_outward_spiral_leaves_the_centre_at_its_start_angle() -> None:
    first, second = trace_spiral(1 * mm, start_angle=1.0)[:2]
    np.testing.assert_array_equal(first, 0)
    assert np.arctan2(second[1], second[0]) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("clockwise", [False, True])
def test_the_inward_spiral_runs_from_the_circle_smoothly_through_the_centre(clockwise: bool) -> None:
    points = trace_spiral(40 * mm, start_angle=0.5, inward=True, clockwise=clockwise)
    np.testing.assert_allclose(points[0], 1.5 * mm * np.array([np.cos(0.5), np.sin(0.5)]))
    r = np.hypot(*points.T)
    centre = int(r.argmin())
    assert (np.diff(r[: centre + 1]) < 0).all()
    assert r[centre] < 1e-5
    assert r[-1] == pytest.approx(1.5 * mm)
    headings = np.unwrap(np.arctan2(*np.diff(points, axis=0).T[::-1]))
    assert (
        np.abs(np.diff(headings)).max() < 0.062
    )  # one chord and the joint with the circle: 0.007 + 1/(2π·3) rad
    assert (np.diff(headings)[10:-10].sum() < 0) == clockwise


def test_the_diagonal_is_a_closed_bow_tie_with_four_turns_of_135_degrees() -> None:
    points = trace_diagonal(20 * mm)
    expected = [[-1.5, 0], [-1.5, -1.5], [1.5, 1.5], [1.5, -1.5], [-1.5, 1.5], [-1.5, 0], [-1.5, -1.5]]
    np.testing.assert_allclose(points[:7] / mm, expected)
    headings = np.arctan2(*np.diff(points[:7], axis=0).T[::-1])
    turns = np.degrees(np.abs(np.angle(np.exp(1j * np.diff(headings)))))
    np.testing.assert_allclose(turns, [135, 135, 135, 135, 0], atol=1e-9)
