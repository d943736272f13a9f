"""The beam: a Gaussian that brings exactly its power."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.plant.flux import find_flux
from laserloop.plant.grid import Grid, graded_grid, uniform_grid
from laserloop.process import Beam

GRIDS = [
    uniform_grid(),
    graded_grid((15e-3, 10e-3, 2e-3), (-1e-3, 1e-3, -1e-3, 1e-3), fine=5e-5, first_depth=8e-6),
]


@pytest.mark.parametrize("grid", GRIDS)
@settings(deadline=None)
@given(st.floats(-1e-3, 1e-3), st.floats(-1e-3, 1e-3), st.floats(0.0, 500.0), st.floats(0.1, 1.0))
def test_the_nodes_receive_exactly_the_absorbed_power(
    grid: Grid, x: float, y: float, power: float, absorptivity: float
) -> None:
    flux = find_flux(Beam(absorptivity=absorptivity), grid, power, x, y)
    received = (flux.x @ grid.widths[2]) * (flux.y @ grid.widths[1])
    assert received == pytest.approx(absorptivity * power, rel=1e-12)


def test_the_flux_is_the_gaussian_of_the_paper() -> None:
    grid, beam = GRIDS[0], Beam(sigma=1e-4)
    flux = find_flux(beam, grid, 14.0, 3.3e-4, -1.2e-4)
    distance = (grid.y[:, None] + 1.2e-4) ** 2 + (grid.x - 3.3e-4) ** 2
    expected = 14.0 / (2 * np.pi * 1e-8) * np.exp(-distance / 2e-8)
    assert np.outer(flux.y, flux.x) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("settings_", [{"sigma": 0.0}, {"sigma": float("nan")}, {"absorptivity": 1.5}])
def test_impossible_beams_are_refused(settings_: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="got"):
        Beam(**settings_)
