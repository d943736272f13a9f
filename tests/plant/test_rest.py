"""Pauses and layers: a plate that cools in large steps, and grows."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant import Plant, Snapshot, make_plant
from laserloop.process import Laser, Process

FloatArray = NDArray[np.float64]
SMALL = (5e-3, 4e-3, 1e-3)  # m
HOP = 0.304 * 1.25e-4  # m, of a tick
AWAY = np.zeros((2, 2))


def spot(k: int) -> FloatArray:
    return np.array([[-3e-4 + k * HOP, 0.0], [-3e-4 + (k + 1) * HOP, 0.0]])


def heated(ticks: int = 12) -> Plant:
    plant = make_plant("graded", Process(plate=SMALL))
    for k in range(ticks):
        plant.step(14.0, spot(k))
    return plant


def out_of_balance(plant: Plant) -> float:
    books = plant.books
    return abs(books["stored"] + books["lost"] - books["absorbed"]) / books["absorbed"]


def test_a_pause_ends_where_its_ticks_one_by_one_would() -> None:
    plant, ticks = heated(), 160
    start = plant.snapshot()
    for _ in range(ticks):
        one_by_one = plant.step(0.0, AWAY)
    plant.restore(start)
    surface = plant.rest(ticks * 1.25e-4)
    assert surface.peak.temperature == pytest.approx(one_by_one.peak.temperature, abs=0.5)
    assert plant.time == pytest.approx((12 + ticks) * 1.25e-4)
    plant.step(14.0, spot(0))
    assert out_of_balance(plant) < 1e-9


def test_a_lagging_laser_is_dark_after_a_pause() -> None:
    plant = make_plant("graded", Process(plate=SMALL, laser=Laser(lag=5e-4)))
    plant.step(14.0, spot(0))
    plant.rest(0.1)
    before = plant.books["absorbed"]
    plant.step(0.0, spot(1))
    assert plant.books["absorbed"] == pytest.approx(before, rel=1e-9)


def test_after_a_long_pause_all_heat_has_left_through_the_bottom() -> None:
    plant = heated()
    surface = plant.rest(20.0)
    assert surface.peak.temperature == pytest.approx(300.0, abs=0.01)
    assert plant.books["lost"] == pytest.approx(plant.books["absorbed"], rel=1e-2)


def test_a_layer_raises_the_surface_and_keeps_the_heat() -> None:
    plant = heated()
    plant.rest(0.1)  # until heat has come to the bottom
    surface = plant.add_layer(50e-6)
    assert plant.cells()[2][-1] == pytest.approx(1.05e-3)
    assert surface.node.temperature < 305.0  # fresh metal
    assert out_of_balance(plant) < 1e-9
    for k in range(4):
        plant.step(14.0, spot(k))
    assert out_of_balance(plant) < 1e-9
    assert plant.reset().node.temperature == 300.0
    assert plant.cells()[2][-1] == pytest.approx(SMALL[2])


def test_heat_below_a_fresh_layer_comes_up_into_it_as_deep_heat_does() -> None:
    """50 µm of steel are warmed through within (50 µm)²/α ≈ 0.6 ms."""
    plant = heated()
    warm = plant.rest(2e-3).node.temperature
    plant.add_layer(50e-6)
    later = plant.rest(3e-3).node.temperature
    assert 320.0 < later < warm


def test_a_snapshot_from_before_a_layer_brings_the_thinner_plate_back() -> None:
    plant = heated()
    start: Snapshot = plant.snapshot()
    once = [plant.step(14.0, spot(k)).peak.temperature for k in range(12, 16)]
    plant.restore(start)
    plant.rest(1e-3)
    plant.add_layer(4e-5)
    plant.step(14.0, spot(15))
    plant.restore(start)
    assert [plant.step(14.0, spot(k)).peak.temperature for k in range(12, 16)] == once


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_pauses_and_layers_are_refused(value: float) -> None:
    plant = make_plant("graded", Process(plate=SMALL))
    with pytest.raises(BadInput, match="pause of a plate at rest must be a positive number"):
        plant.rest(value)
    with pytest.raises(BadInput, match="layer's thickness must be a positive length"):
        plant.add_layer(value)


def test_a_pause_that_is_refused_leaves_the_papers_plant_as_it_was() -> None:
    plant = make_plant("paper", Process(plate=SMALL))
    with pytest.raises(BadInput, match="knows no pauses"):
        plant.rest(1.0)
    plant.step(14.0, spot(0))
    with pytest.raises(BadInput, match="no layers: take graded"):
        plant.add_layer(5e-5)
    plant.step(14.0, spot(1))
