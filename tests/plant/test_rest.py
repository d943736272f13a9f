"""Pauses and layers: a plate that cools in large steps, and grows."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant import Plant, Snapshot, graded_settings, moving_settings, rest
from laserloop.plant.conduction import Source, State

FloatArray = NDArray[np.float64]
SMALL = (5e-3, 4e-3, 1e-3)  # m
HOP = 0.304 * 1.25e-4  # m, of a tick
AWAY = np.zeros((2, 2))


def spot(k: int) -> FloatArray:
    return np.array([[-3e-4 + k * HOP, 0.0], [-3e-4 + (k + 1) * HOP, 0.0]])


def heated(ticks: int = 12) -> Plant:
    plant = Plant(moving_settings(plate=SMALL))
    for k in range(ticks):
        plant.step(14.0, spot(k))
    return plant


def out_of_balance(plant: Plant) -> float:
    books = plant.books
    return abs(books["stored"] + books["lost"] - books["absorbed"]) / books["absorbed"]


def test_a_pause_ends_where_its_ticks_one_by_one_would_and_takes_few_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant, ticks = heated(), 160
    start = plant.snapshot()
    for _ in range(ticks):
        one_by_one = plant.step(0.0, AWAY).temperature
    plant.restore(start)
    steps: list[float] = []
    advance = plant._conduction.advance

    def counted(step: float, sources: tuple[Source, ...]) -> None:
        steps.append(step)
        advance(step, sources)

    monkeypatch.setattr(plant._conduction, "advance", counted)
    surface = plant.rest(ticks * 1.25e-4)
    assert len(steps) < 0.6 * ticks
    np.testing.assert_allclose(surface.temperature, one_by_one, atol=0.1)
    assert plant.time == pytest.approx((12 + ticks) * 1.25e-4)
    assert out_of_balance(plant) < 1e-4  # the temperature field is right to 1e-4 K
    plant.step(14.0, spot(0))
    assert out_of_balance(plant) < 1e-6  # and the heat itself to round-off


def test_a_looser_tolerance_takes_fewer_steps_and_errs_more() -> None:
    errors = []
    for tolerance in (1.0, 0.02):
        plant = heated()
        start = plant.snapshot()
        for _ in range(80):
            one_by_one = plant.step(0.0, AWAY).temperature
        plant.restore(start)
        found = plant.rest(80 * 1.25e-4, tolerance=tolerance).temperature
        errors.append(float(np.abs(found - one_by_one).max()))
    assert errors[1] < 0.5 * errors[0] < 1.0


def test_a_step_that_errs_too_much_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    plant = heated(2)
    errors = iter([0.0, 1e3, *(0.0 for _ in range(20))])
    monkeypatch.setattr(rest, "_differ", lambda *_: next(errors))
    loads: list[State] = []
    load = plant._conduction.load

    def counted(state: State) -> None:
        loads.append(state)
        load(state)

    monkeypatch.setattr(plant._conduction, "load", counted)
    taken = rest.cool_down(plant._conduction, 1e-2, shortest=1e-4, tolerance=0.1)
    assert len(loads) == taken + 2  # once in each attempt, and once more for the one that failed


def test_after_a_long_pause_all_heat_has_left_through_the_bottom() -> None:
    plant = heated()
    surface = plant.rest(20.0)
    assert surface.peak.temperature == pytest.approx(300.0, abs=0.01)
    assert plant.books["lost"] == pytest.approx(plant.books["absorbed"], rel=1e-2)


def test_a_layer_raises_the_surface_and_keeps_the_heat() -> None:
    plant = heated()
    plant.rest(0.1)  # until heat has come to the bottom
    before = plant.books
    surface = plant.add_layer(50e-6)
    assert plant.grid.plate == pytest.approx((5e-3, 4e-3, 1.05e-3))
    assert surface.node.temperature < 305.0  # fresh metal
    heat = _heat(plant)
    assert heat + plant.books["lost"] == pytest.approx(before["absorbed"], rel=1e-9)
    for k in range(4):
        surface = plant.step(14.0, spot(k))
    assert out_of_balance(plant) < 1e-6
    assert plant.reset().node.temperature == 300.0
    assert plant.grid.plate[2] == SMALL[2]


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
    plant.step(14.0, spot(30))
    plant.restore(start)
    assert [plant.step(14.0, spot(k)).peak.temperature for k in range(12, 16)] == once


def test_a_fixed_grid_rests_and_grows_too() -> None:
    plant = Plant(graded_settings(plate=SMALL, region=(-5e-4, 5e-4, -1e-4, 1e-4)))
    for k in range(3):
        plant.step(14.0, spot(k))
    plant.rest(2e-3)
    plant.add_layer(5e-5)
    plant.step(14.0, spot(0))
    assert out_of_balance(plant) < 1e-6


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_pauses_and_layers_are_refused(value: float) -> None:
    plant = Plant(moving_settings(plate=SMALL))
    with pytest.raises(BadInput, match="pause of a plate at rest must be a positive number"):
        plant.rest(value)
    with pytest.raises(BadInput, match="layer's thickness must be a positive length"):
        plant.add_layer(value)


def _heat(plant: Plant) -> float:
    """The heat of the state itself, J."""
    conduction = plant._conduction
    return conduction._integrate(conduction.board.unpack(conduction.heat))
