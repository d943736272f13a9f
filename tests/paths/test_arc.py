from cmath import exp, pi

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from laserloop.paths.gcode_machine import Arc, find_centre

POINTS = st.builds(complex, st.floats(-5e-3, 5e-3), st.floats(-5e-3, 5e-3))
ANGLES = st.floats(0.01, 2 * pi - 0.01)


@settings(deadline=None, max_examples=60)
@given(POINTS, st.floats(1e-5, 5e-3), ANGLES, ANGLES, st.booleans())
def test_an_arc_ends_where_it_says_and_stays_on_its_circle(
    centre: complex, radius: float, first: float, sweep: float, clockwise: bool
) -> None:
    start = centre + radius * exp(1j * first)
    end = start + (centre - start) * (1 - exp(1j * (-sweep if clockwise else sweep)))
    points = np.array(Arc(start, end, centre, clockwise).points())
    assert (points[0], points[-1]) == (start, end)
    np.testing.assert_allclose(np.abs(points - centre), radius, rtol=1e-9)
    halfway = (points[1:] + points[:-1]) / 2
    assert (radius - np.abs(halfway - centre)).max() <= 1.01e-8
    length = np.abs(np.diff(points)).sum()
    assert length == pytest.approx(radius * sweep, rel=5e-3 if radius < 1e-4 else 1e-4)


@settings(deadline=None, max_examples=60)
@given(POINTS, POINTS, st.floats(1.0, 100.0), st.booleans(), st.booleans())
def test_a_radius_gives_the_short_way_round_and_its_negative_the_long_one(
    start: complex, end: complex, factor: float, clockwise: bool, long: bool
) -> None:
    chord = abs(end - start)
    assume(chord > 1e-5)
    radius = factor * chord / 2
    centre = find_centre(start, end, -radius if long else radius, clockwise=clockwise)
    assert centre is not None
    assert Arc(start, end, centre, clockwise).closes
    assert abs(start - centre) == pytest.approx(radius, rel=1e-6)
    sweep = Arc(start, end, centre, clockwise).sweep
    assert (sweep < 0) == clockwise
    if factor > 1.001:
        assert (abs(sweep) > pi) == long


def test_start_and_end_in_one_point_are_a_whole_turn() -> None:
    assert Arc(1, 1, 0, False).sweep == pytest.approx(2 * pi)
    assert Arc(1, 1, 0, True).sweep == pytest.approx(-2 * pi)


def test_radii_that_differ_by_rounding_grow_into_each_other() -> None:
    arc = Arc(1e-3 + 0j, 1.0005e-3j, 0j, clockwise=False)
    points = arc.points()
    assert points[-1] == 1.0005e-3j
    assert np.diff(np.abs(points)).min() > 0
    assert arc.closes
    assert not Arc(1e-3 + 0j, 1.01e-3j, 0j, clockwise=False).closes


@pytest.mark.parametrize("radius", [0.9, 0.0, -0.9])
def test_a_radius_shorter_than_half_the_chord_has_no_centre(radius: float) -> None:
    assert find_centre(0, 2, radius, clockwise=True) is None
    assert find_centre(1, 1, radius, clockwise=True) is None
