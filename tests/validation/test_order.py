"""Observed order of convergence on a manufactured nonlinear solution."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from laserloop.plant.conduction import BACKWARD_EULER, SDIRK2, Conduction, Scheme, Source
from laserloop.plant.exact import Manufactured
from laserloop.plant.grid import Grid
from laserloop.plant.moving_grid import DyadicAxis, centre
from laserloop.process.heat_table import tabulate
from laserloop.process.material_file import find_material

FloatArray = NDArray[np.float64]
SIZE = (1.2e-3, 0.8e-3, 0.6e-3)  # m
STEEL = find_material("304")
TABLE = tabulate(STEEL, 600.0)
assert isinstance(STEEL.k, Polynomial)
CHOSEN = Manufactured(
    conductivity=STEEL.k,
    capacity=lambda T: STEEL.density(T) * STEEL.heat_capacity(T),
    size=SIZE,
    ambient=600.0,
    amplitude=250.0,
    time_constant=2e-3,
    modes=(2, 1),
)


def uniform(n: int) -> Grid:
    x, y, z = (np.linspace(0.0, length, n + 1) for length in SIZE)
    return Grid(x=x - SIZE[0] / 2, y=y - SIZE[1] / 2, z=z)


def stretched(n: int) -> Grid:
    """A smooth map, three times finer at the surface than at the bottom and uneven along x."""
    s = np.linspace(0.0, 1.0, n + 1)
    x = SIZE[0] * (s + 0.08 * np.sin(2 * np.pi * s) - 0.5)
    z = SIZE[2] * (0.5 * s + 0.5 * s**2)
    return Grid(x=x, y=SIZE[1] * (s - 0.5), z=z)


def places(grid: Grid) -> tuple[FloatArray, FloatArray, FloatArray]:
    """x, y and height above the bottom, broadcasting to (z, y, x)."""
    return grid.x[None, None, :], grid.y[None, :, None], (SIZE[2] - grid.z)[:, None, None]


def wandering(parts: int, n: int, steps: int = 40) -> Grid:
    """Before step `n`: cells of two sizes along x, the fine ones on their way, all divided in `parts`."""
    start = int(14 * n / steps)
    coarse = DyadicAxis(SIZE[0] / 2, 24, 2).faces((start, start + 4))
    places = np.linspace(0, len(coarse) - 1, parts * (len(coarse) - 1) + 1)
    x = np.interp(places, np.arange(len(coarse)), coarse)
    y = np.linspace(-SIZE[1] / 2, SIZE[1] / 2, 8 * parts + 1)
    depths = np.linspace(0.0, SIZE[2], 8 * parts + 1)
    return Grid(x=centre(x), y=centre(y), z=depths, x_faces=x, y_faces=y)


def solve(
    grid: Grid, scheme: Scheme, steps: int, until: float = 2e-3, grids: Sequence[Grid] = ()
) -> FloatArray:
    """The temperature field at time `until`; `grids`: one for each step, if it moves."""
    plate = Conduction(grid, TABLE, scheme=scheme, tolerance=1e-8, edge=1e-8)
    plate.start(np.full(grid.shape, 600.0))
    step = until / steps
    for n in range(steps):
        if grids:
            plate.move(grids[n])
            grid = grids[n]
        x, y, z = places(grid)
        still = np.zeros(len(grid.x)), np.zeros(len(grid.y))
        sources = []
        for time, _ in scheme.stages:
            t = (n + time) * step
            volume = CHOSEN.volumetric_source(x, y, z, t)
            volume[0] += CHOSEN.surface_flux(x[0], y[0], t) / grid.widths[0][0]
            sources.append(Source(*still, volume))
        plate.advance(step, tuple(sources))
    return TABLE.temperature_of(plate.field())


def solve_wandering(parts: int) -> float:
    """The largest error on a grid that moves in every third step, K."""
    grids = [wandering(parts, n) for n in range(40)]
    exact = CHOSEN.temperature(*places(grids[-1]), 2e-3)
    return float(np.abs(solve(grids[0], SDIRK2, 40, grids=grids) - exact).max())


def order(errors: list[float]) -> float:
    """From the two finest of three, each twice as fine as the one before."""
    assert errors[0] > errors[1] > errors[2]
    return float(np.log2(errors[1] / errors[2]))


@pytest.mark.parametrize("make_grid", [uniform, stretched])
def test_the_error_in_space_falls_with_the_square_of_the_spacing(make_grid) -> None:  # type: ignore[no-untyped-def]
    errors = []
    for n in (6, 12, 24):
        grid = make_grid(n)
        exact = CHOSEN.temperature(*places(grid), 2e-3)
        errors.append(float(np.abs(solve(grid, SDIRK2, 40) - exact).max()))
    assert order(errors) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize(("scheme", "expected"), [(BACKWARD_EULER, 1.0), (SDIRK2, 2.0)])
def test_the_error_in_time_falls_with_the_order_of_the_scheme(scheme: Scheme, expected: float) -> None:
    grid = uniform(10)
    limit = solve(grid, SDIRK2, 320)
    errors = [float(np.abs(solve(grid, scheme, steps) - limit).max()) for steps in (5, 10, 20)]
    assert order(errors) == pytest.approx(expected, abs=0.15)


def test_the_error_falls_with_the_square_of_the_spacing_on_a_grid_that_moves() -> None:
    errors = [solve_wandering(parts) for parts in (1, 2, 4)]
    assert order(errors) == pytest.approx(2.0, abs=0.15)
