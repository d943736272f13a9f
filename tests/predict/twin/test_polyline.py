"""The exact temperature under a beam that turns and changes its power."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.predict.twin.exact import moving_gaussian, polyline_gaussian, quasi_steady_peak

FloatArray = NDArray[np.float64]
BODY: dict[str, Any] = {"sigma": 1e-4, "conductivity": 20.0, "diffusivity": 4.5e-6}


def line(ticks: int, hop: float, angle: float = 0.6) -> FloatArray:
    return np.outer(hop * np.arange(ticks + 1), (np.cos(angle), np.sin(angle)))


@pytest.mark.parametrize(
    ("tick", "speed"), [(1e-4, 0.3), (2e-5, 1.0), (1.25e-4, 3.0), (5e-3, 1e-3), (1e-4, 0.0)]
)
def test_on_a_straight_line_it_is_the_moving_gaussian(tick: float, speed: float) -> None:
    way = line(60, speed * tick)
    velocity = tuple((way[1] / tick).tolist())
    points = way[-1] + 1e-4 * np.random.default_rng(1).normal(size=(40, 2))
    found = polyline_gaussian(way, np.full(60, 14.0), tick, **BODY).rise(points)
    flat = np.column_stack((points, np.zeros(40)))
    exact = moving_gaussian(flat, 60 * tick, power=14.0, velocity=velocity, **BODY)
    np.testing.assert_allclose(found, exact, atol=1e-9 * exact.max())


def test_its_peak_is_that_of_the_quasi_steady_beam_long_after_the_start() -> None:
    way = line(400, 3e-5)
    rise, place = polyline_gaussian(way, np.full(400, 14.0), 1e-4, **BODY).peak()
    exact = quasi_steady_peak(power=14.0, speed=0.3, **BODY)
    assert rise == pytest.approx(exact.rise, rel=2e-4)
    assert np.hypot(*(way[-1] - place)) == pytest.approx(exact.behind, rel=1e-3)


@pytest.mark.parametrize("ticks", [41, 45, 55, 70])
def test_where_the_power_has_fallen_the_peak_may_lie_far_behind_the_beam(ticks: int) -> None:
    way = line(ticks, 3e-5, angle=0.0)
    powers = np.where(np.arange(ticks) < 40, 20.0, 1.0)
    pulses = polyline_gaussian(way, powers, 1e-4, **BODY)
    rise, place = pulses.peak()
    everywhere = np.stack(np.meshgrid(np.arange(-1e-4, 2.5e-3, 5e-6), [-1e-5, 0.0, 1e-5]), axis=-1)
    highest = float(pulses.rise(everywhere).max())
    assert highest <= rise < highest * 1.001
    assert place[0] < way[40, 0]


def test_beside_a_hot_line_the_peak_is_the_highest_of_two() -> None:
    """The beam comes back at little power beside what it has just heated."""
    out = line(30, 3e-5, angle=0.0)
    back = out[::-1] + np.array([0.0, 4e-4])
    way, powers = np.concatenate((out, back)), np.concatenate((np.full(31, 20.0), np.full(30, 4.0)))
    for ticks in (33, 40, 48, 60):
        pulses = polyline_gaussian(way[: ticks + 1], powers[:ticks], 1e-4, **BODY)
        x, y = np.arange(-3e-4, 1.2e-3, 1e-5), np.arange(-1e-4, 5e-4, 1e-5)
        highest = float(pulses.rise(np.stack(np.meshgrid(x, y), axis=-1)).max())
        assert highest <= pulses.peak()[0] < highest * 1.005
