"""Observed order of convergence on a manufactured nonlinear solution."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from tests.validation.column import bring, fill, heights, make_heat, make_root, places, temperatures
from tests.validation.exact import Manufactured

from laserloop.plant.nested import NestedHeat
from laserloop.plant.paper import Grid, PaperHeat
from laserloop.process import Process, find_material

FloatArray = NDArray[np.float64]
SIZE = (1.2e-3, 0.8e-3, 0.6e-3)  # m
STEEL = find_material("304")
assert isinstance(STEEL.k, Polynomial)
CHOSEN = {
    solver: Manufactured(
        conductivity=STEEL.k,
        capacity=lambda T: STEEL.density(T) * STEEL.heat_capacity(T),
        size=SIZE,
        ambient=600.0,
        amplitude=250.0,
        time_constant=2e-3,
        modes=(2, 1),
        rise=rise,  # cells take no flux but a beam's
    )
    for solver, rise in ((PaperHeat, 1 / 3), (NestedHeat, 1 / 2))
}


def uniform(n: int) -> Grid:
    x, y, z = (np.linspace(0.0, length, n + 1) for length in SIZE)
    return Grid(x=x - SIZE[0] / 2, y=y - SIZE[1] / 2, z=z)


def stretched(n: int) -> Grid:
    """A smooth map, three times finer at the surface than at the bottom and uneven along x."""
    s = np.linspace(0.0, 1.0, n + 1)
    x = SIZE[0] * (s + 0.08 * np.sin(2 * np.pi * s) - 0.5)
    z = SIZE[2] * (0.5 * s + 0.5 * s**2)
    return Grid(x=x, y=SIZE[1] * (s - 0.5), z=z)


def cubes(n: int) -> NestedHeat:
    """Cells, for the nested plant, of n along each axis."""
    x, y, z = (length / n for length in SIZE)
    return make_root(Process(ambient=600.0, plate=SIZE), (x, y, z))


def nodes(grid: Grid) -> PaperHeat:
    return make_heat(Process(ambient=600.0), grid=grid, tolerance=1e-8)


def exact_at(heat: PaperHeat | NestedHeat, until: float) -> FloatArray:
    x, y, depth = places(heat)
    return CHOSEN[type(heat)].temperature(x, y, SIZE[2] - depth, until)


def solve(heat: PaperHeat | NestedHeat, steps: int, until: float = 2e-3) -> FloatArray:
    """The temperature field at time `until`."""
    chosen, (x, y, depth) = CHOSEN[type(heat)], places(heat)
    fill(heat, np.full(np.broadcast_shapes(x.shape, y.shape, depth.shape), 600.0))
    late = 1.0 if isinstance(heat, PaperHeat) else 0.5  # when in a step the source is taken
    for n in range(steps):
        t = (n + late) * until / steps
        source = chosen.volumetric_source(x, y, SIZE[2] - depth, t)
        source[0] += chosen.surface_flux(x[0], y[0], t) / heights(heat)[0]
        bring(heat, source, until / steps)
    return temperatures(heat)


def order(errors: list[float]) -> float:
    """From the two finest of three, each twice as fine as the one before."""
    assert errors[0] > errors[1] > errors[2]
    return float(np.log2(errors[1] / errors[2]))


@pytest.mark.parametrize("make_grid", [uniform, stretched])
def test_the_error_in_space_falls_with_the_square_of_the_spacing(make_grid) -> None:  # type: ignore[no-untyped-def]
    """In time it falls with the step, which is removed by Richardson."""
    errors = []
    for n in (6, 12, 24):
        heat = nodes(make_grid(n))
        errors.append(float(np.abs(2.0 * solve(heat, 160) - solve(heat, 80) - exact_at(heat, 2e-3)).max()))
    assert order(errors) == pytest.approx(2.0, abs=0.15)


def test_the_error_in_time_falls_with_the_step() -> None:
    heat = nodes(uniform(10))
    limit = 2.0 * solve(heat, 640) - solve(heat, 320)
    errors = [float(np.abs(solve(heat, steps) - limit).max()) for steps in (5, 10, 20)]
    assert order(errors) == pytest.approx(1.0, abs=0.15)


def test_in_cells_the_error_falls_with_the_square_of_the_spacing() -> None:
    errors = []
    for n in (6, 12, 24):
        heat = cubes(n)
        errors.append(float(np.abs(solve(heat, 40) - exact_at(heat, 2e-3)).max()))
    assert order(errors) == pytest.approx(2.0, abs=0.15)


def test_in_cells_the_error_falls_with_the_square_of_the_step() -> None:
    heat = cubes(10)
    limit = solve(heat, 320)
    errors = [float(np.abs(solve(heat, steps) - limit).max()) for steps in (20, 40, 80)]
    assert order(errors) == pytest.approx(2.0, abs=0.15)
