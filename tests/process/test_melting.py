"""Melting: what an alloy's file says, what it adds to the heat table, and what it leaves alone."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.process import Material, Process, find_material, find_process, shipped_materials
from laserloop.process.heat_table import CELLS, tabulate
from laserloop.process.material import describe_material, parse_material

ALLOYS = shipped_materials()


@pytest.mark.parametrize("name", ALLOYS)
def test_melting_takes_up_its_latent_heat_beside_what_warms(name: str) -> None:
    alloy = find_material(name)
    melting = alloy.melting
    assert melting is not None
    T = np.linspace(melting.solidus, melting.liquidus, 20001)
    warms = np.trapezoid(alloy.density(T) * alloy.heat_capacity(T), T)
    latent = np.trapezoid(alloy.density(T), T) / (melting.liquidus - melting.solidus) * melting.latent
    table = tabulate(alloy, 300.0)
    heat = np.diff(table.heat_of(table.theta_of(np.array([melting.solidus - 3.0, melting.liquidus + 3.0]))))[
        0
    ]
    beside = sum(3.0 * float(alloy.density(T) * alloy.heat_capacity(T)) for T in melting.knots()[:2])
    assert heat == pytest.approx(warms + latent + beside, rel=1e-3)


@pytest.mark.parametrize("name", ALLOYS)
def test_below_the_solidus_the_table_is_what_it_is_without_melting(name: str) -> None:
    alloy = find_material(name)
    melts, solid = tabulate(alloy, 300.0), tabulate(replace(alloy, melting=None), 300.0)
    for ours, theirs in ((melts.heat, solid.heat), (melts.temperature, solid.temperature)):
        np.testing.assert_array_equal(ours[: CELLS + 1], theirs[: CELLS + 1])
    assert (melts.low, melts.per_step, melts.stiffest) == (solid.low, solid.per_step, solid.stiffest)


def test_a_process_written_before_alloys_melted_is_the_same_process() -> None:
    old = find_process("304").to_json()
    del old["material"]["melting"]
    assert Process.from_json(old).hash == find_process("304").hash == "8a38454823c72d9e"
    assert Process.from_json(old).differences(find_process("304")) == []
    told = find_process("304").to_json()
    told["material"]["melting"]["latent_heat_kj_kg"] = 200.0
    assert Process.from_json(told).differences(find_process("304")) == ["material"]


@pytest.mark.parametrize("name", ALLOYS)
def test_a_material_comes_back_whole_from_its_description(name: str) -> None:
    alloy = find_material(name)
    back = parse_material(describe_material(alloy), "a test")
    T = np.linspace(300.0, 4000.0, 501)
    np.testing.assert_allclose(back.apparent_capacity(T), alloy.apparent_capacity(T), rtol=1e-11)
    np.testing.assert_allclose(back.conductivity(T), alloy.conductivity(T), rtol=1e-11)


def test_what_cannot_melt_so_is_refused_in_a_sentence() -> None:
    told = describe_material(find_material("304"))

    def change(**melting: object) -> Material:
        return parse_material(told | {"melting": told["melting"] | melting}, "mine.yaml")

    with pytest.raises(BadInput, match="solidus, liquidus and boiling point must rise"):
        change(liquidus_k=1670.0)
    with pytest.raises(BadInput, match="the latent heat must be positive"):
        change(latent_heat_kj_kg=0.0)
    with pytest.raises(BadInput, match="must be solid up to the end of its range"):
        change(solidus_k=1500.0)
    with pytest.raises(BadInput, match=r"must have the keys .* but liquid is missing"):
        parse_material(
            told | {"melting": {k: v for k, v in told["melting"].items() if k != "liquid"}}, "mine.yaml"
        )
    with pytest.raises(BadInput, match="must be positive, got -1"):
        change(liquid={**told["melting"]["liquid"], "k_w_mk": [-1.0, 1.0, 1.0, 1.0]})
