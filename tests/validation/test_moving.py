"""The grid that follows the beam, against the fixed fine grid and the books."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.plant import Plant, graded_settings, moving_settings

FloatArray = NDArray[np.float64]
HOP = 0.304 * 1.25e-4  # m, of a tick
LIMIT = 898.788  # K at any angle: Richardson's limit of docs/reproduction/results/plant.json


def hairpin(half: float = 1.4e-3, gap: float = 1e-4) -> FloatArray:
    """To, and back beside it: the beam comes by what it has heated 5 to 15 ms before."""
    corners = np.array([[-half, 0.0], [half, 0.0], [half, gap], [-half, gap]])
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))))
    at = np.arange(0.0, along[-1], HOP)
    return np.column_stack([np.interp(at, along, corners[:, axis]) for axis in (0, 1)])


def test_a_moving_grid_finds_the_temperatures_of_the_fixed_one_and_keeps_every_joule() -> None:
    way = hairpin()
    fixed = Plant(graded_settings(region=(-1.4e-3, 1.4e-3, 0.0, 1e-4)))
    moving = Plant(moving_settings())
    grids = set()
    for k in range(len(way) - 1):
        spot = way[k : k + 2]
        one, other = fixed.step(14.0, spot), moving.step(14.0, spot)
        grids.add(moving.grid.x.tobytes())
        assert other.peak.temperature == pytest.approx(one.peak.temperature, abs=0.6)
    assert len(grids) > 5
    books = moving.books
    assert abs(books["stored"] + books["lost"] - books["absorbed"]) < 1e-7 * books["absorbed"]


def test_a_jump_in_the_dark_keeps_every_joule_and_the_old_spot_cools_as_on_a_fixed_grid() -> None:
    plant = Plant(moving_settings())
    for k in range(10):
        plant.step(14.0, np.array([[-3e-3 + k * HOP, 0.0], [-3e-3 + (k + 1) * HOP, 0.0]]))
    grid = plant.grid
    for _ in range(5):
        plant.step(0.0, np.array([[-2e-3, 0.0], [3e-3, 1e-3]]))
    assert plant.grid is grid  # fine where the heat is, until the laser is on again
    surface = plant.step(14.0, np.array([[3e-3, 1e-3], [3e-3 + HOP, 1e-3]]))
    assert plant.grid is not grid
    assert abs(surface.peak.x - 3e-3) < 1e-4
    books = plant.books
    assert abs(books["stored"] + books["lost"] - books["absorbed"]) < 1e-7 * books["absorbed"]


@pytest.mark.parametrize("angle", [0, 30, 45])
def test_the_moving_grid_is_within_2_k_of_the_limit_with_less_than_1_k_of_ripple(angle: int) -> None:
    plant = Plant(moving_settings(speed=0.3))
    direction = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    peaks = []
    for k in range(64):
        at = (np.array([k, k + 1]) * 0.3 * 1.25e-4 - 1.2e-3)[:, None] * direction
        peaks.append(plant.step(14.0, at).peak.temperature)
    assert np.mean(peaks[40:]) == pytest.approx(LIMIT, abs=2.0)
    assert np.ptp(peaks[40:]) < 1.0
