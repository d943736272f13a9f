"""The front of melting and of freezing against Neumann's exact solution, one and two phases."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from tests.validation.column import fill, heights, look_up, make_heat, make_root, places, shine, temperatures
from tests.validation.stefan import Stefan

from laserloop.plant import PLANTS
from laserloop.plant.nested import NestedHeat
from laserloop.plant.paper import Grid, PaperHeat
from laserloop.process import Process
from laserloop.process.material import Material, Melting

FloatArray = NDArray[np.float64]

SOLID, LIQUID = 25.0, 18.0  # W/mK
DENSITY, CAPACITY, LATENT = 7500.0, 700.0, 270e3  # kg/m³, J/kgK, J/kg
MELTS = 1700.0  # K
RANGE = 4.0  # K, between solidus and liquidus, six pieces of the table; in the exact solution there is none
DEPTH, LEVELS = 1e-3, 201


def make_material(ambient: float) -> Material:
    melting = Melting(
        source="a test",
        solidus=MELTS - RANGE / 2,
        liquidus=MELTS + RANGE / 2,
        latent=LATENT,
        boiling=3000.0,
        T=np.array([MELTS + RANGE / 2]),
        k=np.array([LIQUID]),
        rho=np.array([DENSITY]),
        cp=np.array([CAPACITY]),
    )
    curves = {name: Polynomial([v]) for name, v in (("k", SOLID), ("rho", DENSITY), ("cp", CAPACITY))}
    return Material(
        name="test", source="a test", valid=(min(ambient, 300.0), MELTS - RANGE), melting=melting, **curves
    )


def make_column(plant: str, ambient: float) -> PaperHeat | NestedHeat:
    """A column whose lower face is at ambient; nothing passes through the others but what is given."""
    process = Process(material=make_material(ambient), ambient=ambient, plate=(2e-4, 2e-4, DEPTH))
    if plant == "graded":
        return make_root(process, (1e-4, 1e-4, DEPTH / (LEVELS - 1)))
    side = np.linspace(-1.0, 1.0, 3) * 1e-4
    return make_heat(process, grid=Grid(x=side, y=side, z=np.linspace(0.0, DEPTH, LEVELS)))


def liquid_depth(column: PaperHeat | NestedHeat) -> float:
    """How deep the liquid would be if it lay together, m."""
    melting = make_material(300.0).melting
    assert melting is not None
    if isinstance(column, NestedHeat):
        look_up(column)  # θ of the mean heat, which says how much of a cell is liquid
    return float(melting.fraction(temperatures(column)[:, 1, 1]) @ heights(column))


def freeze(plant: str, superheat: float) -> tuple[float, float]:
    """How deep a melt has frozen from its cold face, and the exact depth, m."""
    exact = Stefan(
        face=1200.0,
        melting=MELTS,
        body=MELTS + superheat,
        conductivity=(SOLID, LIQUID),
        capacity=DENSITY * CAPACITY,
        latent=DENSITY * LATENT,
    )
    column = make_column(plant, 1200.0)
    x, y, z = places(column)
    fill(column, np.full((z.size, y.size, x.size), MELTS + max(superheat, RANGE)))
    step, steps = 1e-4, 150
    for _ in range(steps):
        shine(column, 0.0, step)
    return DEPTH - liquid_depth(column), float(exact.front(step * steps))


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("superheat", [0.0, 150.0], ids=["one phase", "two phases"])
def test_a_melt_freezes_from_its_cold_face_as_neumann_says(superheat: float, plant: str) -> None:
    depth, front = freeze(plant, superheat)
    assert 0.15 < front / DEPTH < 0.4  # long enough to see, short enough to be a half-space
    assert depth == pytest.approx(front, rel=0.01)


def melt(plant: str, body: float) -> tuple[float, float]:
    """How deep a body of that temperature has melted from its hot face, and the exact depth, m.

    The face is not held but given the flux that holds it, from the moment at which 50 µm are molten.
    """
    exact = Stefan(
        face=2200.0,
        melting=MELTS - RANGE / 2,  # so that all below the front is solid to begin with
        body=body,
        conductivity=(LIQUID, SOLID),
        capacity=DENSITY * CAPACITY,
        latent=DENSITY * LATENT,
    )
    began = (50e-6 / float(exact.front(1.0))) ** 2
    column = make_column(plant, body)
    x, y, z = places(column)
    fill(column, np.broadcast_to(exact.temperature(z, began), (z.size, y.size, x.size)))
    steps, step = 400, 2.5e-5
    late = 1.0 if plant == "paper" else 0.5
    for n in range(steps):
        shine(column, exact.flux(began + (n + late) * step), step)
    return liquid_depth(column), float(exact.front(began + steps * step))


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("body", [MELTS - RANGE, 1450.0], ids=["one phase", "two phases"])
def test_a_hot_face_melts_its_way_down_as_neumann_says(body: float, plant: str) -> None:
    depth, front = melt(plant, body)
    assert 0.15 < front / DEPTH < 0.4
    assert depth == pytest.approx(front, rel=0.01)


def test_neumanns_front_takes_up_just_the_latent_heat() -> None:
    exact = Stefan(
        face=2200.0,
        melting=MELTS,
        body=1450.0,
        conductivity=(LIQUID, SOLID),
        capacity=DENSITY * CAPACITY,
        latent=DENSITY * LATENT,
    )
    t, width = 1e-2, 1e-9
    s = float(exact.front(t))
    near = (exact.temperature(s - width, t) - exact.temperature(s - 2 * width, t)) / width
    far = (exact.temperature(s + 2 * width, t) - exact.temperature(s + width, t)) / width
    speed = s / (2 * t)
    assert SOLID * far - LIQUID * near == pytest.approx(DENSITY * LATENT * speed, rel=1e-4)
    stored = np.linspace(0.0, 2e-2, 400001)
    rise = np.trapezoid(exact.temperature(stored, t) - 1450.0, stored) * DENSITY * CAPACITY
    given = 2 * t * exact.flux(t)  # ∫ flux dt, which goes as 1/√t
    assert rise + DENSITY * LATENT * s == pytest.approx(given, rel=1e-5)
