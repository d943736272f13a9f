"""Sampling between the nodes: what each interpolant reproduces, and how fast it converges."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from laserloop.plant.paper import uniform_grid
from laserloop.plant.sampling import bilinear, lattice, nearest, smooth

FloatArray = NDArray[np.float64]
Sampler = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]

PATIENT = settings(deadline=None, max_examples=60)  # the machine may be busy
SAMPLERS = pytest.mark.parametrize("sampler", [nearest, bilinear, smooth])

LINES = st.lists(st.floats(0.2, 2.0), min_size=2, max_size=12).map(lambda steps: np.cumsum([-3.0, *steps]))
PLACES = arrays(np.float64, (8, 2), elements=st.floats(0.0, 1.0))
COEFFICIENTS = arrays(np.float64, (3, 3), elements=st.floats(-2.0, 2.0))


def spread(places: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Places in the unit square, stretched over the grid."""
    low, high = np.array([x[0], y[0]]), np.array([x[-1], y[-1]])
    points: FloatArray = low + places * (high - low)
    return points


def polynomial(coefficients: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    values = np.polynomial.polynomial.polyval2d(x, y, coefficients)
    return np.asarray(values, dtype=np.float64)


def on_grid(coefficients: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    return polynomial(coefficients, *np.meshgrid(x, y))


@PATIENT
@given(COEFFICIENTS, LINES, LINES, PLACES)
def test_bilinear_fields_are_reproduced_by_bilinear_sampling(
    coefficients: FloatArray, x: FloatArray, y: FloatArray, places: FloatArray
) -> None:
    coefficients = coefficients[:2, :2]
    points = spread(places, x, y)
    found = bilinear(x, y, on_grid(coefficients, x, y), points)
    np.testing.assert_allclose(found, polynomial(coefficients, *points.T), atol=1e-10)


@PATIENT
@given(COEFFICIENTS, LINES, LINES, PLACES)
def test_biquadratic_fields_are_reproduced_by_smooth_sampling_up_to_the_edge(
    coefficients: FloatArray, x: FloatArray, y: FloatArray, places: FloatArray
) -> None:
    points = spread(places, x, y)
    found = smooth(x, y, on_grid(coefficients, x, y), points)
    np.testing.assert_allclose(found, polynomial(coefficients, *points.T), atol=1e-8)


@PATIENT
@given(LINES, LINES, PLACES)
def test_no_node_is_nearer_to_a_point_than_the_one_whose_value_it_gets(
    x: FloatArray, y: FloatArray, places: FloatArray
) -> None:
    points = spread(places, x, y)
    rows, cols = np.mgrid[: len(y), : len(x)]
    col = nearest(x, y, cols.astype(float), points).astype(int)
    row = nearest(x, y, rows.astype(float), points).astype(int)
    for chosen, lines, at in ((col, x, points[:, 0]), (row, y, points[:, 1])):
        least = np.abs(lines[:, np.newaxis] - at).min(axis=0)
        np.testing.assert_allclose(np.abs(lines[chosen] - at), least, atol=1e-8)


def test_a_point_in_the_middle_of_a_cell_gets_the_lower_node_however_it_was_rounded() -> None:
    grid = uniform_grid()
    field = np.add.outer(np.arange(len(grid.y)), np.arange(len(grid.x))).astype(float)
    steps = np.arange(3, 60)
    middles = np.column_stack((grid.x[0] + (steps + 0.5) * 1e-4, np.full(57, grid.y[7])))
    for rounded in (middles, np.nextafter(middles, 1.0), np.nextafter(middles, -1.0)):
        np.testing.assert_array_equal(nearest(grid.x, grid.y, field, rounded), 7.0 + steps)


@SAMPLERS
def test_every_node_of_the_papers_grid_is_met(sampler: Sampler) -> None:
    grid = uniform_grid()
    field = np.random.default_rng(0).uniform(300.0, 900.0, (len(grid.y), len(grid.x)))
    nodes = np.stack(np.meshgrid(grid.x, grid.y), axis=-1).reshape(-1, 2)
    np.testing.assert_array_equal(sampler(grid.x, grid.y, field, nodes), field.ravel())


@SAMPLERS
@PATIENT
@given(LINES, LINES, arrays(np.float64, (8, 2), elements=st.floats(-50.0, 50.0)))
def test_a_point_off_the_grid_counts_as_the_nearest_point_of_its_edge(
    sampler: Sampler, x: FloatArray, y: FloatArray, points: FloatArray
) -> None:
    field = np.random.default_rng(0).normal(size=(len(y), len(x)))
    edge = np.clip(points, [x[0], y[0]], [x[-1], y[-1]])
    np.testing.assert_array_equal(sampler(x, y, field, points), sampler(x, y, field, edge))


@SAMPLERS
@PATIENT
@given(LINES, LINES, PLACES)
def test_the_second_axis_of_a_point_is_the_first_of_the_field(
    sampler: Sampler, x: FloatArray, y: FloatArray, places: FloatArray
) -> None:
    field = np.random.default_rng(0).normal(size=(len(y), len(x)))
    points = spread(places, x, y)
    turned = sampler(y, x, np.ascontiguousarray(field.T), np.ascontiguousarray(points[:, ::-1]))
    np.testing.assert_allclose(turned, sampler(x, y, field, points), atol=1e-10)


@PATIENT
@given(LINES, LINES, st.floats(0.0, 1.0), st.data())
def test_smooth_sampling_has_neither_jump_nor_kink_across_cell_borders(
    x: FloatArray, y: FloatArray, place: float, data: st.DataObject
) -> None:
    field = np.random.default_rng(0).normal(size=(len(y), len(x)))
    border = data.draw(st.sampled_from(x[1:-1].tolist()))
    beside, step = y[0] + place * (y[-1] - y[0]), 1e-5
    offsets = np.array([-2 * step, -step, 0.0, step, 2 * step])
    f = smooth(x, y, field, np.column_stack([border + offsets, np.full(5, beside)]))
    assert abs(f[3] - f[1]) < 1e-2
    slope_before, slope_after = (
        (3 * f[2] - 4 * f[1] + f[0]) / (2 * step),
        (4 * f[3] - 3 * f[2] - f[4]) / (2 * step),
    )
    assert slope_after == pytest.approx(slope_before, abs=1e-5)


def largest_error(sampler: Sampler, spacing: float) -> float:
    """Of a bump as wide as 1, sampled at random points."""
    lines = np.arange(-4.0, 4.0 + spacing / 2, spacing)
    points = np.random.default_rng(0).uniform(-2.0, 2.0, (4000, 2))
    field = np.exp(-0.5 * (lines**2 + lines[:, np.newaxis] ** 2))
    return float(np.abs(sampler(lines, lines, field, points) - np.exp(-0.5 * (points**2).sum(axis=1))).max())


@pytest.mark.parametrize(("sampler", "order"), [(bilinear, 2), (smooth, 3)])
def test_halving_the_spacing_divides_the_error_by_two_to_the_order(sampler: Sampler, order: int) -> None:
    ratio = largest_error(sampler, 0.25) / largest_error(sampler, 0.125)
    assert np.log2(ratio) == pytest.approx(order, abs=0.35)


def test_at_half_a_beam_width_smooth_sampling_errs_several_times_less() -> None:
    assert 6 * largest_error(smooth, 0.5) < largest_error(bilinear, 0.5)


@PATIENT
@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-10.0, 10.0), st.integers(1, 4))
def test_a_lattice_runs_along_its_heading_first_and_then_to_the_left(
    cx: float, cy: float, heading: float, half: int
) -> None:
    size = 2 * half + 1
    points = lattice(np.array([cx, cy]), heading, size, 0.1).reshape(size, size, 2)
    ahead = 0.1 * np.array([np.cos(heading), np.sin(heading)])
    left = 0.1 * np.array([-np.sin(heading), np.cos(heading)])
    np.testing.assert_allclose(points[half, half], [cx, cy], atol=1e-14)
    np.testing.assert_allclose(np.diff(points, axis=1) - ahead, 0.0, atol=1e-14)
    np.testing.assert_allclose(np.diff(points, axis=0) - left, 0.0, atol=1e-14)
