"""Slopes by rollouts of the plant are kept while they help; a beam that is not the hottest place is found."""

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.oracle import PlantRollout, PlantRolloutForecast

FloatArray = NDArray[np.float64]
WAY = np.zeros((4, 2))


class Plate:
    """The beam's own place beside one that it has left."""

    left, asked = 300.0, 0

    def roll(self, plan: FloatArray, way: FloatArray) -> FloatArray:
        self.asked += 1
        return np.maximum(self.left, 300.0 + 40.0 * plan)


def test_slopes_of_one_tick_do_for_the_next() -> None:
    plate = Plate()
    oracle = PlantRollout(plate.roll, 3, 20.0)
    for power in (5.0, 6.0):
        slopes = PlantRolloutForecast(oracle, WAY, 0.0).linearise(np.full(3, power))[1]
        assert np.allclose(slopes, 40.0 * np.eye(3))
    assert plate.asked == 1 + 3 + 1


def test_a_beam_outshone_by_the_place_it_left_is_found_by_a_larger_change() -> None:
    plate = Plate()
    plate.left = 700.0  # a plan of 5 W reaches 500 K
    oracle = PlantRollout(plate.roll, 3, 20.0)
    slopes = PlantRolloutForecast(oracle, WAY, 0.0).linearise(np.full(3, 5.0))[1]
    assert np.allclose(slopes, (300.0 + 40.0 * 20.0 - 700.0) / 15.0 * np.eye(3))


def test_slopes_of_nothing_are_not_kept() -> None:
    plate = Plate()
    plate.left = 1200.0  # hotter than the beam can make it
    oracle = PlantRollout(plate.roll, 3, 20.0)
    assert not PlantRolloutForecast(oracle, WAY, 0.0).linearise(np.full(3, 5.0))[1].any()
    plate.left = 400.0  # cooled down
    slopes = PlantRolloutForecast(oracle, WAY, 0.0).linearise(np.full(3, 5.0))[1]
    assert np.allclose(slopes, 40.0 * np.eye(3))
