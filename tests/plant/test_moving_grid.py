"""The moving grid: fine around the beam, nodes from one lattice, the focus pushed along."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.plant.moving_grid import make_axis
from laserloop.plant.settings import moving_settings

AXIS = make_axis(15e-3, 5e-5)


def test_the_lattice_is_as_fine_as_asked_and_ends_on_the_plates_edges() -> None:
    assert 0.95 * 5e-5 < AXIS.spacing <= 5e-5
    nodes = AXIS.faces((100, 140))
    assert (nodes[0], nodes[-1]) == (-7.5e-3, 7.5e-3)


@given(low=st.integers(0, 290), length=st.integers(1, 60))
def test_every_axis_is_fine_in_its_focus_and_doubles_outwards_on_one_lattice(low: int, length: int) -> None:
    nodes = AXIS.faces((low, low + length))
    places = np.rint((nodes + AXIS.half) / AXIS.spacing).astype(int)
    cells = np.diff(places)
    inside = (places[:-1] >= low) & (places[1:] <= low + length)
    assert np.all(cells[inside] == 1)
    assert set((cells[1:] / cells[:-1]).tolist()) <= {0.5, 1.0, 2.0}
    assert np.all(places[:-1] % cells == 0)  # cells of one size are the same ones wherever the focus is


def test_a_focus_stays_until_the_beam_comes_near_its_end_and_then_goes_ahead_of_it() -> None:
    focus = AXIS.push(None, -4e-4, 4e-4, 1.7e-3, 3e-4)
    assert AXIS.push(focus, -3e-4, 5e-4, 1.7e-3, 3e-4) == focus
    pushed = AXIS.push(focus, 2e-4, 1e-3, 1.7e-3, 3e-4)
    assert pushed[1] * AXIS.spacing - AXIS.half >= 1.3e-3
    assert pushed[1] - pushed[0] <= 1.7e-3 / AXIS.spacing + 8
    back = AXIS.push(pushed, -1.2e-3, -4e-4, 1.7e-3, 3e-4)
    assert back[0] * AXIS.spacing - AXIS.half <= -1.5e-3


def test_a_focus_ends_with_the_plate() -> None:
    assert AXIS.push((260, 290), 6.9e-3, 7.7e-3, 1.7e-3, 3e-4)[1] == AXIS.cells
    assert AXIS.push((10, 40), -7.7e-3, -6.9e-3, 1.7e-3, 3e-4)[0] == 0


@pytest.mark.parametrize("side", [10e-3, 30e-3, 100e-3])
def test_the_number_of_nodes_hardly_depends_on_the_plate(side: float) -> None:
    settings = moving_settings(plate=(side, side, 2e-3))
    assert max(settings.grid.shape) < 150


def test_impossible_axes_are_refused() -> None:
    with pytest.raises(BadInput, match="positive lengths"):
        make_axis(1e-3, 2e-3)
    with pytest.raises(BadInput, match="too fine"):
        make_axis(1.0, 1e-6)
