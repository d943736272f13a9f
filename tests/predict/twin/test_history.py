"""Old heat in few Gaussians: as exact as its budget, and never more than a bounded number."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.paths import find_path
from laserloop.predict.twin.heat import CAPACITY, SHARES, Medium, ThermalHistory, merge_rows

TICK, ALPHA, SIGMA, K = 1.25e-4, 3.7e-6, 1e-4, 16.0
PLATE = (15e-3, 10e-3, 2e-3)
FloatArray = NDArray[np.float64]


def fill(history: ThermalHistory, ends: FloatArray) -> None:
    for k in range(len(ends) - 1):
        history.add(k + 1, 10.0 * TICK, ends[k : k + 2])


def exact(body: Medium, ends: FloatArray, points: FloatArray) -> FloatArray:
    """The unmerged sum."""
    ticks = len(ends) - 1
    hop = np.diff(ends, axis=0)
    scatter = np.stack((hop[:, 0] ** 2, hop[:, 0] * hop[:, 1], hop[:, 1] ** 2), axis=1) / 12.0
    tau = np.asarray(TICK * (ticks - np.arange(ticks) - 0.5), np.float64)
    old = tau > 8 * TICK
    middle = 0.5 * (ends[1:] + ends[:-1])
    return body.spread(np.full(old.sum(), 10.0 * TICK), tau[old], middle[old], scatter[old]).at(points)


@pytest.mark.parametrize("budget", [0.05, 0.5])
@pytest.mark.parametrize("name", ["raster:3", "polyline:5"])
def test_merging_costs_no_more_kelvin_than_its_budget(budget: float, name: str) -> None:
    body = Medium(sigma=SIGMA, alpha=ALPHA, plate=PLATE)
    ends = find_path(name, ticks=1600).positions
    history = ThermalHistory(body, TICK, budget * K / SHARES, 10)
    fill(history, ends)
    around = ends[-1] + SIGMA * np.stack(np.meshgrid(*2 * [np.linspace(-4, 4, 9)]), axis=-1).reshape(-1, 2)
    merged = history.gaussians(np.array([len(ends) - 1]), 8).at(around)
    assert np.abs(merged - exact(body, ends, around)).max() / K <= budget
    assert len(history) < 400


def test_a_larger_budget_needs_fewer_gaussians() -> None:
    body, ends = Medium(sigma=SIGMA, alpha=ALPHA, plate=PLATE), find_path("raster:3", ticks=1500).positions
    counts = []
    for budget in (0.02, 0.2, 2.0):
        history = ThermalHistory(body, TICK, budget * K / SHARES, 10)
        fill(history, ends)
        counts.append(len(history))
    assert counts[0] > counts[1] > counts[2]


def test_the_newest_ticks_stay_apart() -> None:
    history = ThermalHistory(Medium(sigma=SIGMA, alpha=ALPHA, plate=PLATE), TICK, 1e9, 20)
    fill(history, np.zeros((100, 2)))
    assert len(history) >= 20
    assert len(history) <= 22  # all else is one


def test_no_more_than_its_capacity_is_kept() -> None:
    history = ThermalHistory(Medium(sigma=SIGMA, alpha=1e-12, plate=PLATE), TICK, 0.0, 10)
    fill(history, np.outer(np.arange(CAPACITY + 50), [1e-3, 0.0]))
    assert len(history) == CAPACITY


def test_a_merged_gaussian_keeps_energy_centre_and_scatter() -> None:
    rows = np.array([[1.0, 4.0, 0.0, 0.0, 0.1, 0.0, 0.1], [3.0, 8.0, 4.0, 2.0, 0.2, 0.05, 0.3]])
    energy, time, x, y, xx, xy, yy = merge_rows(rows)
    assert (energy, time, x, y) == (4.0, 7.0, 3.0, 1.5)
    assert xx == pytest.approx(0.25 * (0.1 + 9) + 0.75 * (0.2 + 1))
    assert xy == pytest.approx(0.25 * (0.0 + 4.5) + 0.75 * (0.05 + 0.5))
    assert yy == pytest.approx(0.25 * (0.1 + 2.25) + 0.75 * (0.3 + 0.25))


def test_heat_below_a_cold_bottom_is_forgotten() -> None:
    body = Medium(sigma=SIGMA, alpha=ALPHA, plate=(1.0, 1.0, 2e-4))
    history = ThermalHistory(body, TICK, 0.1 * K / SHARES, 10)
    fill(history, np.zeros((50, 2)))
    for k in range(50, 4000):
        history.add(k + 1, 0.0, np.zeros((2, 2)))
    assert len(history) <= 1
