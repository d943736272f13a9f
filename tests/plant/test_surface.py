"""The lasered surface: how well the peak between the nodes is found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from laserloop.plant.surface import Surface

FloatArray = NDArray[np.float64]

SIGMA = 100e-6  # m, the beam's
UNIFORM = 50e-6 * np.arange(-15.0, 16.0)  # m
OFFSET = st.floats(-75e-6, 75e-6)
STRETCH = st.floats(1.0, 5.0)  # length by width of a bump
ANGLE = st.floats(0.0, np.pi)
PATIENT = settings(deadline=None, max_examples=150)  # the machine may be busy


def see_bump(
    x: FloatArray,
    y: FloatArray,
    centre: tuple[float, float],
    *,
    sigma: float,
    stretch: float = 1.0,
    angle: float = 0.0,
) -> Surface:
    """A Gaussian 500 K above 300 K, `stretch` times as long along `angle` as it is wide."""
    right, up = np.meshgrid(x - centre[0], y - centre[1])
    along = (right * np.cos(angle) + up * np.sin(angle)) / (stretch * sigma)
    across = (up * np.cos(angle) - right * np.sin(angle)) / sigma
    return Surface(x, y, 300.0 + 500.0 * np.exp(-0.5 * (along**2 + across**2)), 0.0)


def assert_peak(surface: Surface, centre: tuple[float, float], *, within: float) -> None:
    assert surface.peak.temperature == pytest.approx(800.0, abs=within)
    assert np.hypot(surface.peak.x - centre[0], surface.peak.y - centre[1]) < 1e-6


@PATIENT
@given(OFFSET, OFFSET, STRETCH, ANGLE)
def test_the_peak_of_a_bump_wider_than_the_beam_is_found_to_twenty_millikelvin(
    cx: float, cy: float, stretch: float, angle: float
) -> None:
    surface = see_bump(UNIFORM, UNIFORM, (cx, cy), sigma=1.5 * SIGMA, stretch=stretch, angle=angle)
    assert_peak(surface, (cx, cy), within=0.02)


@PATIENT
@given(OFFSET, OFFSET, STRETCH, ANGLE)
def test_the_peak_of_a_bump_as_narrow_as_the_beam_is_found_to_a_third_of_a_kelvin(
    cx: float, cy: float, stretch: float, angle: float
) -> None:
    # Midway between two nodes at spacing σ/2, degree 7 leaves 0.13 K along each axis.
    surface = see_bump(UNIFORM, UNIFORM, (cx, cy), sigma=SIGMA, stretch=stretch, angle=angle)
    assert_peak(surface, (cx, cy), within=0.3)


@PATIENT
@given(
    st.lists(st.floats(25e-6, 50e-6), min_size=40, max_size=40),
    st.tuples(OFFSET, OFFSET),
    st.floats(1.0, 4.0),
    ANGLE,
    st.booleans(),
)
def test_uneven_grid_lines_do_not_disturb_the_peak(
    spacings: list[float], centre: tuple[float, float], stretch: float, angle: float, turned: bool
) -> None:
    x = np.cumsum(spacings)
    x -= x[20]
    x, y = (UNIFORM, x) if turned else (x, UNIFORM)
    surface = see_bump(x, y, centre, sigma=1.5 * SIGMA, stretch=stretch, angle=angle)
    assert_peak(surface, centre, within=0.02)


@PATIENT
@given(st.floats(-1e-3, 1e-3), st.floats(-1e-3, 1e-3), STRETCH, ANGLE)
def test_on_or_beyond_the_plates_edge_the_peak_stays_on_the_plate_and_never_falls_below_the_hottest_node(
    cx: float, cy: float, stretch: float, angle: float
) -> None:
    surface = see_bump(UNIFORM, UNIFORM, (cx, cy), sigma=1.5 * SIGMA, stretch=stretch, angle=angle)
    peak = surface.peak
    assert surface.node.temperature <= peak.temperature <= 800.0 + 5.0
    assert UNIFORM[0] <= peak.x <= UNIFORM[-1]
    assert UNIFORM[0] <= peak.y <= UNIFORM[-1]


@pytest.mark.parametrize("cx", [UNIFORM[0], 0.0, UNIFORM[-1]])
@pytest.mark.parametrize("cy", [UNIFORM[0], 0.0, UNIFORM[-1]])
def test_a_peak_exactly_on_an_edge_or_a_corner_is_found_there(cx: float, cy: float) -> None:
    assert_peak(see_bump(UNIFORM, UNIFORM, (cx, cy), sigma=1.5 * SIGMA), (cx, cy), within=1.0)


def test_a_plate_at_rest_has_its_own_temperature_as_peak() -> None:
    assert Surface(UNIFORM, UNIFORM, np.full((31, 31), 300.0), 0.0).peak.temperature == 300.0


@pytest.mark.parametrize("count", [3, 4, 7])
def test_a_grid_of_few_lines_has_a_peak_too(count: int) -> None:
    lines = 1e-4 * np.arange(float(count))
    centre = (1.2e-4, 0.9e-4)
    paraboloid = 800.0 - 1e9 * ((lines - centre[0]) ** 2 + (lines[:, np.newaxis] - centre[1]) ** 2)
    assert_peak(Surface(lines, lines, paraboloid, 0.0), centre, within=1e-9)


def test_the_hottest_node_is_reported_with_its_own_coordinates() -> None:
    temperature = np.full((3, 4), 300.0)
    temperature[2, 1] = 400.0
    node = Surface(np.arange(4.0), np.arange(10.0, 13.0), temperature, 0.0).node
    assert (node.temperature, node.x, node.y) == (400.0, 1.0, 12.0)


def test_the_peak_never_leaves_the_nodes_it_was_found_with() -> None:
    """Uneven spacing, thirty to one: the interpolant beyond its nodes would say anything."""
    x = np.linspace(-1e-3, 1e-3, 41)
    y = np.concatenate((np.linspace(-1e-3, 1e-3, 41), 1e-3 + 4e-4 * np.arange(1, 8)))
    bump = 300.0 + 600.0 * np.exp(-0.5 * (x[None, :] ** 2 + (y[:, None] - 1.29e-3) ** 2) / 1e-8)
    surface = Surface(x, y, bump, 0.0)
    assert surface.node.temperature <= surface.peak.temperature < 1000.0
