"""Grids: where nodes are and what volumes they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.plant.grid import Grid, graded_grid, uniform_grid


def test_the_papers_grid_has_151_by_101_by_21_nodes() -> None:
    grid = uniform_grid()
    assert grid.shape == (21, 101, 151)
    assert np.diff(grid.x) == pytest.approx(100e-6)
    assert grid.z[0] == 0.0


@settings(deadline=None, max_examples=60)
@given(
    st.floats(2e-3, 30e-3),
    st.floats(2e-3, 30e-3),
    st.floats(0.5e-3, 10e-3),
    st.floats(10e-6, 150e-6),
    st.floats(0.02, 0.5),
    st.tuples(st.floats(0.0, 0.45), st.floats(0.55, 1.0)),
)
def test_control_volumes_fill_the_plate_and_spacings_change_gently(
    lx: float, ly: float, lz: float, fine: float, first: float, share: tuple[float, float]
) -> None:
    region = tuple(length * (s - 0.5) for length in (lx, ly) for s in share)
    grid = graded_grid((lx, ly, lz), region, fine=fine, first_depth=first * fine)  # type: ignore[arg-type]
    for widths, length in zip(grid.widths, (lz, ly, lx), strict=True):
        assert widths.sum() == pytest.approx(length, rel=1e-9)
    assert grid.x[0] == pytest.approx(-lx / 2)
    assert grid.y[-1] == pytest.approx(ly / 2)
    assert grid.z[-1] == pytest.approx(lz)
    inside = (grid.x >= region[0] - 1e-12) & (grid.x <= region[1] + 1e-12)
    assert np.diff(grid.x[inside]).max() <= fine * (1 + 1e-9)
    depth = np.diff(grid.z)
    assert (depth[1:] / depth[:-1]).max() < 1.41


def test_a_region_beside_the_plate_cannot_be_refined() -> None:
    with pytest.raises(BadInput, match="must lie on the plate"):
        graded_grid((1e-2, 1e-2, 2e-3), (0.0, 6e-3, 0.0, 1e-3), fine=5e-5, first_depth=1e-5)


def test_an_axis_must_rise() -> None:
    rising = np.linspace(0.0, 1.0, 5)
    with pytest.raises(BadInput, match="increasing"):
        Grid(x=rising[::-1].copy(), y=rising.copy(), z=rising.copy())
    with pytest.raises(BadInput, match="spacing must be positive"):
        uniform_grid((1e-2, 1e-2, 1e-3), spacing=-1.0)
