"""The heat table against the integrals it stands for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

from laserloop.bad_input import BadInput
from laserloop.process.heat_table import tabulate
from laserloop.process.material import Material, find_material, shipped_materials


def test_the_table_of_304_steel_is_its_integrals_to_a_microkelvin() -> None:
    steel = find_material("304")
    assert isinstance(steel.k, Polynomial)
    table = tabulate(steel, 300.0)
    T = np.linspace(300.0, 1670.0, 20001)
    theta = steel.k.integ(lbnd=300.0)(T)
    heat = (steel.rho * steel.cp).integ(lbnd=300.0)(T)  # type: ignore[operator]
    capacity = steel.density(T) * steel.heat_capacity(T)
    assert np.abs(table.temperature_of(theta) - T).max() < 1e-6
    assert np.abs((table.heat_of(theta) - heat) / capacity).max() < 1e-6


def test_beyond_the_range_heat_grows_as_with_held_properties() -> None:
    steel = replace(find_material("304"), melting=None)
    table = tabulate(steel, 300.0)
    theta = table.theta_of(np.array([1670.0, 1770.0, 1870.0]))
    k, capacity = steel.conductivity(1670.0), steel.density(1670.0) * steel.heat_capacity(1670.0)
    assert np.diff(theta) == pytest.approx(100.0 * float(k), rel=1e-9)
    assert np.diff(table.heat_of(theta)) == pytest.approx(100.0 * float(capacity), rel=1e-9)


@pytest.mark.parametrize("name", ["304", "316", "ti64", "in625"])
def test_every_alloy_warms_when_it_takes_up_heat(name: str) -> None:
    table = tabulate(find_material(name), 300.0)
    theta = np.linspace(-2000.0, 60000.0, 50001)
    assert np.all(np.diff(table.heat_of(theta)) > 0)
    assert np.all(np.diff(table.temperature_of(theta)) > 0)
    assert table.temperature_of(np.zeros(1))[0] == pytest.approx(300.0, abs=1e-9)
    assert table.heat_of(np.zeros(1))[0] == pytest.approx(0.0, abs=1e-3)


@settings(deadline=None, max_examples=30)
@given(st.floats(1.0, 400.0), st.floats(500.0, 9000.0), st.floats(100.0, 3000.0), st.floats(200.0, 900.0))
def test_constant_properties_give_straight_lines(k: float, rho: float, cp: float, ambient: float) -> None:
    table = tabulate(Material.constant(k=k, rho=rho, cp=cp), ambient)
    theta = k * np.linspace(-100.0, 2000.0, 7)
    assert table.temperature_of(theta) == pytest.approx(ambient + theta / k, rel=1e-9)
    assert table.heat_of(theta) == pytest.approx(rho * cp * theta / k, rel=1e-9, abs=1e-3)


def test_there_is_no_plate_at_minus_five_kelvin() -> None:
    with pytest.raises(BadInput, match="ambient temperature must be positive"):
        tabulate(find_material("304"), -5.0)


def test_heat_rises_with_theta_even_for_a_latent_heat_spread_over_ten_kelvin() -> None:
    spike = Material.from_table(
        T=[300.0, 995.0, 1000.0, 1005.0, 1400.0],
        k=[15.0, 25.0, 25.0, 25.0, 30.0],
        rho=[7900.0] * 5,
        cp=[500.0, 600.0, 50000.0, 600.0, 650.0],
        name="spike",
        source="a test",
    )
    table = tabulate(spike, 300.0)
    theta = np.linspace(0.0, table.theta_of(np.array([1400.0]))[0], 400_001)
    assert np.all(np.diff(table.heat_of(theta)) > 0)


@pytest.mark.parametrize("name", shipped_materials())
def test_the_way_back_from_heat_to_theta_is_right_to_a_tenth_of_a_microkelvin_in_the_solid(name: str) -> None:
    alloy = find_material(name)
    table = tabulate(alloy, 300.0)
    pieces, low, per_step = table.by_heat()
    T = np.linspace(300.0, alloy.valid[1] - 1.0, 20001)
    theta = table.theta_of(T)
    place = (table.heat_of(theta) - low) * per_step
    piece = np.floor(place).astype(int)
    part = place - piece
    found = pieces[0, piece + 1] + part * (pieces[1, piece + 1] + part * pieces[2, piece + 1])
    assert np.abs(table.temperature_of(found) - T).max() < 1e-5
