"""Conduction: storage, books, window, state, and the smallest exact solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant.checkerboard import Checkerboard
from laserloop.plant.conduction import BACKWARD_EULER, SDIRK2, Conduction, Scheme, Source
from laserloop.plant.exact import cosine_decay
from laserloop.plant.flux import find_flux
from laserloop.plant.grid import Grid, graded_grid, uniform_grid
from laserloop.process import Beam
from laserloop.process.heat_table import tabulate
from laserloop.process.material import Material
from laserloop.process.material_file import find_material

SCHEMES = [BACKWARD_EULER, SDIRK2]
FloatArray = NDArray[np.float64]


def make(grid: Grid, scheme: Scheme = BACKWARD_EULER, tolerance: float = 1e-5) -> Conduction:
    table = tabulate(find_material("304"), 300.0)
    return Conduction(grid, table, scheme=scheme, tolerance=tolerance, edge=tolerance)


def small_grid() -> Grid:
    return uniform_grid((3e-3, 2e-3, 1e-3))


def heat(conduction: Conduction, power: float, x: float, y: float) -> None:
    """One tick of 125 µs with a resting beam."""
    conduction.widen(x - 6e-4, x + 6e-4, y - 6e-4, y + 6e-4, 3e-4)
    flux = find_flux(Beam(), conduction.grid, power, x, y)
    conduction.advance(1.25e-4, (flux,) * len(conduction.scheme.stages))


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 9), st.integers(3, 9), st.integers(3, 12), st.integers(0, 2**31))
def test_packing_and_unpacking_a_field_changes_nothing(nz: int, ny: int, nx: int, seed: int) -> None:
    board = Checkerboard(nz, ny, nx)
    values = np.random.default_rng(seed).standard_normal((nz, ny, nx))
    packed = board.pack(values)
    assert np.array_equal(board.unpack(packed), values)
    node = packed.reshape(board.shape)[ny, (nx - 1) % 2, nz - 1, (nx - 1) // 2 + 1]
    assert node == values[-1, -1, -1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_plate_without_laser_stays_at_ambient(scheme: Scheme) -> None:
    plate = make(small_grid(), scheme)
    heat(plate, 0.0, 0.0, 0.0)
    assert np.all(plate.surface_temperature() == 300.0)
    assert plate.stored() == 0.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_heat_is_stored_or_lost_but_never_created(scheme: Scheme) -> None:
    plate = make(small_grid(), scheme)
    for _ in range(120):
        heat(plate, 10.0, 3e-4, -2e-4)
    assert plate.lost > 5e-4 * plate.absorbed  # the test reaches the bottom
    assert plate.absorbed == pytest.approx(10.0 * 120 * 1.25e-4, rel=1e-8)
    assert plate.stored() + plate.lost == pytest.approx(plate.absorbed, rel=1e-7)


def test_a_mirrored_beam_makes_a_mirrored_field() -> None:
    left, right = make(small_grid()), make(small_grid())
    for _ in range(5):
        heat(left, 12.0, -3.3e-4, 1.7e-4)
        heat(right, 12.0, 3.3e-4, -1.7e-4)
    k = 13.0  # W/mK: θ in kelvin
    assert right.field()[:, ::-1, ::-1] / k == pytest.approx(left.field() / k, abs=1e-4)


def test_x_and_y_are_treated_alike() -> None:
    grid = uniform_grid((2e-3, 2e-3, 1e-3))
    along_x, along_y = make(grid), make(grid)
    for n in range(6):
        heat(along_x, 12.0, n * 4e-5, 1e-4)
        heat(along_y, 12.0, 1e-4, n * 4e-5)
    assert along_y.field().transpose(0, 2, 1) / 13.0 == pytest.approx(along_x.field() / 13.0, abs=1e-4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_growing_window_costs_less_than_a_tenth_of_a_millikelvin(scheme: Scheme) -> None:
    grid = uniform_grid((6e-3, 5e-3, 2e-3))
    windowed, whole = make(grid, scheme, 1e-4), make(grid, scheme, 1e-4)
    whole.start(np.full(grid.shape, 300.0))
    for n in range(60):
        for plate in (windowed, whole):
            heat(plate, 14.0, -1e-3 + n * 4e-5, 0.0)
    assert windowed.window != whole.window
    hottest = [plate.surface_temperature().max() for plate in (windowed, whole)]
    assert hottest[0] == pytest.approx(hottest[1], abs=1e-4)
    assert np.abs(windowed.surface_temperature() - whole.surface_temperature()).max() < 1e-3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_going_on_from_a_saved_state_repeats_every_bit(scheme: Scheme) -> None:
    plate = make(uniform_grid((6e-3, 5e-3, 2e-3)), scheme)
    for n in range(10):
        heat(plate, 14.0, n * 4e-5, 0.0)
    state = plate.save()

    def go_on() -> FloatArray:
        for n in range(10, 40):
            heat(plate, 9.0, n * 4e-5, (n - 10) * 4e-5)
        return plate.field()

    first = go_on()
    assert plate.window != state.window
    plate.load(state)
    assert np.array_equal(go_on(), first)
    plate.load(state)
    assert plate.absorbed == state.absorbed


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_cosine_in_depth_fades_at_its_own_rate(scheme: Scheme) -> None:
    material = Material.constant(k=20.0, rho=8000.0, cp=500.0)
    diffusivity, depth, amplitude = 5e-6, 1e-3, 50.0
    grid = Grid(x=np.linspace(-1, 1, 3) * 1e-4, y=np.linspace(-1, 1, 3) * 1e-4, z=np.linspace(0, depth, 41))
    plate = Conduction(grid, tabulate(material, 300.0), scheme=scheme, tolerance=1e-9, edge=1e-9)

    def exact(t: float) -> FloatArray:
        fall = cosine_decay(grid.z, t, length=2 * depth, amplitude=amplitude, diffusivity=diffusivity)
        return np.asarray(300.0 + fall)

    start = exact(0.0)
    plate.start(np.broadcast_to(start[:, None, None], grid.shape).copy())
    steps, time = 400, 0.04
    nothing = Source(np.zeros(3), np.zeros(3))
    for _ in range(steps):
        plate.advance(time / steps, (nothing,) * len(scheme.stages))
    expected = exact(time)
    found = plate.table.temperature_of(plate.field())[:, 1, 1]
    assert expected[0] < 335.0
    assert found == pytest.approx(expected, abs=2e-2)


def test_a_graded_grid_balances_its_books_too() -> None:
    grid = graded_grid((6e-3, 5e-3, 2e-3), (-8e-4, 8e-4, -8e-4, 8e-4), fine=5e-5, first_depth=8e-6)
    plate = make(grid, SDIRK2, 1e-4)
    for n in range(30):
        heat(plate, 14.0, -5e-4 + n * 3e-5, 2e-4)
    assert plate.stored() + plate.lost == pytest.approx(plate.absorbed, rel=1e-6)


def test_a_lost_solution_is_reported_and_not_passed_on() -> None:
    plate = make(small_grid())
    with pytest.raises(BadInput, match="did not close"):
        heat(plate, float("nan"), 0.0, 0.0)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("tick", [1e-6, 1e-3, 0.1, 10.0])
def test_any_time_step_closes_its_heat_balance(scheme: Scheme, tick: float) -> None:
    plate = make(small_grid(), scheme)
    flux = find_flux(Beam(), plate.grid, 1.0, 2e-4, 0.0)
    for _ in range(4):
        plate.widen(-1e-3, 1e-3, -1e-3, 1e-3, 3e-4)
        plate.advance(tick, (flux,) * len(scheme.stages))
    assert plate.stored() + plate.lost == pytest.approx(plate.absorbed, rel=1e-5)
    assert 300.0 < plate.surface_temperature().max() < 700.0


def test_a_window_on_a_grid_of_thin_layers_does_not_lose_heat_below() -> None:
    z = np.concatenate((np.arange(0, 5e-4, 5e-6), np.linspace(5e-4, 1e-3, 6)))
    grid = Grid(x=np.linspace(-1e-3, 1e-3, 21), y=np.linspace(-1e-3, 1e-3, 21), z=z)
    windowed, whole = make(grid, SDIRK2, 1e-4), make(grid, SDIRK2, 1e-4)
    whole.start(np.full(grid.shape, 300.0))
    flux = find_flux(Beam(sigma=5e-5), grid, 4.0, 0.0, 0.0)
    for _ in range(25):
        for plate in (windowed, whole):
            plate.widen(-3e-4, 3e-4, -3e-4, 3e-4, 6e-5)
            plate.advance(1.25e-4, (flux, flux))
    difference = windowed.table.temperature_of(windowed.field()) - whole.table.temperature_of(whole.field())
    assert np.abs(difference).max() < 1e-2


def test_a_plate_must_start_with_a_cold_bottom() -> None:
    plate = make(small_grid())
    with pytest.raises(BadInput, match="deepest level"):
        plate.start(np.full(plate.grid.shape, 400.0))
