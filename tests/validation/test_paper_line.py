"""The paper's plant on a straight line, against the figures of the prototypes and against SciPy."""

import numpy as np
import pytest

from laserloop.bench.plant import ReferencePlant
from laserloop.plant import make_plant
from laserloop.process import Process, find_material


def settled_range() -> tuple[float, float]:
    """Lowest and highest hottest node, K, at 14 W and 0.3 m/s along a grid line from a node."""
    plant = make_plant("paper")
    x = -2e-3 + 0.3 * 1.25e-4 * np.arange(101)
    hottest = [
        plant.step(14.0, np.array([[x[k], 0.0], [x[k + 1], 0.0]])).node.temperature for k in range(100)
    ]
    return min(hottest[60:]), max(hottest[60:])


def largest_difference() -> float:
    """Between both plants' surfaces, K, over 30 ticks of switching power on a slanted line."""
    plate, points = (4e-3, 3e-3, 2e-3), np.array([-1e-3, -0.6e-3]) + np.arange(31)[:, None] * [3.3e-5, 2.1e-5]
    ours, theirs = (
        make_plant("paper", Process(plate=plate)),
        ReferencePlant(find_material("304"), plate=plate),
    )
    worst = 0.0
    for k in range(30):
        power = 20.0 if k % 7 < 4 else 3.0
        surface = ours.step(power, points[k : k + 2])
        reference = theirs.step(power, *points[k + 1])
        worst = max(worst, float(np.abs(surface.temperature - reference).max()))
    return worst


def test_t_max_ripples_between_766_8_and_782_1_k_along_a_grid_line() -> None:
    low, high = settled_range()
    assert low == pytest.approx(766.8, abs=0.06)
    assert high == pytest.approx(782.1, abs=0.06)


def test_an_independent_scipy_implementation_agrees_to_a_millikelvin() -> None:
    assert largest_difference() < 1e-3
