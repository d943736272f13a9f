"""The publication's solver: its grid, its beam, its books, and the smallest exact solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.validation.column import fill, make_heat
from tests.validation.exact import cosine_decay

from laserloop.bad_input import BadInput
from laserloop.plant.paper import Grid, PaperHeat, uniform_grid
from laserloop.process import Beam, Material, Process, find_material
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
TICK = 1.25e-4  # s
SMALL = (3e-3, 2e-3, 1e-3)  # m
PLATE = (6e-3, 5e-3, 2e-3)


def make(plate: tuple[float, float, float] = SMALL, tolerance: float = 1e-5) -> PaperHeat:
    return make_heat(Process(plate=plate), tolerance=tolerance)


def shine(heat: PaperHeat, power: float, x: float, y: float, tick: float = TICK) -> None:
    """A tick with a resting beam."""
    heat.advance(power, np.array([[x, y], [x, y]]), tick)


def temperature(heat: PaperHeat) -> FloatArray:
    return heat.cells()[3]


def imbalance(heat: PaperHeat) -> float:
    books = heat.energy()
    return abs(books["stored"] + books["lost"] - books["absorbed"]) / books["absorbed"]


# ---- the grid ----


def test_the_grid_has_151_by_101_by_21_nodes_whose_volumes_fill_the_plate() -> None:
    grid = uniform_grid()
    assert grid.shape == (21, 101, 151)
    assert np.diff(grid.x) == pytest.approx(100e-6)
    assert [widths.sum() for widths in grid.widths] == pytest.approx([2e-3, 10e-3, 15e-3])
    assert make_heat(Process()).describe() == (
        "151 × 101 × 21 nodes, 100 µm apart in the plane and 100 µm in depth"
    )


def test_a_plate_that_two_volumes_do_not_fit_into_is_refused() -> None:
    with pytest.raises(BadInput, match="too coarse for a plate"):
        uniform_grid((1e-2, 1e-2, 1e-4))


# ---- the beam ----


@settings(deadline=None, max_examples=30)
@given(st.floats(-7e-3, 7e-3), st.floats(-4e-3, 4e-3), st.floats(0.0, 500.0))
def test_the_nodes_receive_just_the_power_that_falls_on_the_plate(x: float, y: float, power: float) -> None:
    heat = make((15e-3, 10e-3, 2e-3))
    heat._shine(power, x, y)
    books = heat.energy()
    assert books["stored"] == pytest.approx(books["absorbed"], rel=1e-13)
    beyond = max(abs(x) - 7.5e-3, abs(y) - 5e-3)
    assert books["absorbed"] == pytest.approx(power, rel=1e-8 if beyond < -6e-4 else 1.0)


def test_a_beam_over_an_edge_brings_half_its_heat_and_over_a_corner_a_quarter() -> None:
    for place, share in (((1.5e-3, 0.0), 0.5), ((1.5e-3, -1e-3), 0.25)):
        heat = make()
        shine(heat, 8.0, *place)
        assert heat.energy()["absorbed"] == pytest.approx(share * 8.0 * TICK, rel=1e-12)


def test_the_flux_is_the_gaussian_of_the_paper() -> None:
    heat = make((15e-3, 10e-3, 2e-3))
    heat._shine(1.0, 3.3e-4, -1.2e-4)
    distance = (heat.grid.y[:, None] + 1.2e-4) ** 2 + (heat.grid.x - 3.3e-4) ** 2
    expected = np.exp(-distance / 2e-8) / (2 * np.pi * 1e-8) / 50e-6  # the first volumes are 50 µm deep
    assert heat._nodes(heat._heat)[0] == pytest.approx(expected, rel=1e-6, abs=1e-7 * expected.max())


def test_a_beam_that_falls_between_the_nodes_is_refused() -> None:
    with pytest.raises(BadInput, match="too narrow for a grid"):
        make_heat(Process(beam=Beam(sigma=1e-5)))


# ---- the heat ----


def test_a_plate_without_laser_stays_at_ambient() -> None:
    heat = make()
    shine(heat, 0.0, 0.0, 0.0)
    assert np.all(heat.surface(0.0).temperature == 300.0)
    assert heat.energy() == {"absorbed": 0.0, "lost": 0.0, "stored": 0.0}


def test_heat_is_stored_or_lost_to_round_off() -> None:
    heat = make()
    for _ in range(120):
        shine(heat, 10.0, 3e-4, -2e-4)
    books = heat.energy()
    assert books["lost"] > 5e-4 * books["absorbed"]  # the test reaches the bottom
    assert books["absorbed"] == pytest.approx(10.0 * 120 * TICK, rel=1e-8)
    assert imbalance(heat) < 1e-13


def test_the_heat_is_that_of_the_temperatures() -> None:
    """What is stored is a sum of its own; the temperatures must belong to it."""
    heat, table = make(tolerance=1e-7), tabulate(Process().material, 300.0)
    for n in range(30):
        shine(heat, 10.0, n * 2e-5, 0.0)
    wz, wy, wx = heat.grid.widths
    of_field = np.einsum("zyx,z,y,x->", table.heat_of(table.theta_of(temperature(heat))), wz, wy, wx)
    assert of_field == pytest.approx(heat.energy()["stored"], rel=1e-7)


def test_a_mirrored_beam_makes_a_mirrored_field() -> None:
    left, right = make(), make()
    for _ in range(5):
        shine(left, 12.0, -3.3e-4, 1.7e-4)
        shine(right, 12.0, 3.3e-4, -1.7e-4)
    assert temperature(right)[:, ::-1, ::-1] == pytest.approx(temperature(left), abs=1e-4)


def test_x_and_y_are_treated_alike() -> None:
    along_x, along_y = make((2e-3, 2e-3, 1e-3)), make((2e-3, 2e-3, 1e-3))
    for n in range(6):
        shine(along_x, 12.0, n * 4e-5, 1e-4)
        shine(along_y, 12.0, 1e-4, n * 4e-5)
    assert temperature(along_y).transpose(0, 2, 1) == pytest.approx(temperature(along_x), abs=1e-4)


def test_to_solve_only_where_heat_has_arrived_costs_less_than_a_tenth_of_a_millikelvin() -> None:
    part, whole = make(PLATE, 1e-4), make(PLATE, 1e-4)
    fill(whole, np.full(whole.grid.shape, 300.0))
    for n in range(60):
        for heat in (part, whole):
            shine(heat, 14.0, -1e-3 + n * 4e-5, 0.0)
    assert part.save()["fields"].size < 0.5 * whole.save()["fields"].size
    hottest = [heat.surface(0.0).node.temperature for heat in (part, whole)]
    assert hottest[0] == pytest.approx(hottest[1], abs=1e-4)
    assert np.abs(temperature(part) - temperature(whole)).max() < 1e-3


def test_heat_goes_down_through_thin_levels_as_far_as_it_would_on_a_plate_solved_whole() -> None:
    z = np.concatenate((np.arange(0, 5e-4, 5e-6), np.linspace(5e-4, 1e-3, 6)))
    grid = Grid(x=np.linspace(-1e-3, 1e-3, 21), y=np.linspace(-1e-3, 1e-3, 21), z=z)
    process = Process(beam=Beam(sigma=5e-5))
    part, whole = make_heat(process, grid=grid), make_heat(process, grid=grid)
    fill(whole, np.full(grid.shape, 300.0))
    for _ in range(25):
        for heat in (part, whole):
            shine(heat, 4.0, 0.0, 0.0)
    assert np.abs(temperature(part) - temperature(whole)).max() < 1e-2
    assert imbalance(part) < 1e-13


@pytest.mark.parametrize("tick", [1e-6, 1e-3, 0.1, 10.0])
def test_any_time_step_closes_its_heat_balance(tick: float) -> None:
    heat = make()
    for _ in range(4):
        shine(heat, 1.0, 2e-4, 0.0, tick)
    assert imbalance(heat) < 1e-12
    assert 300.0 < heat.surface(0.0).node.temperature < 700.0


def test_steps_of_different_lengths_may_follow_each_other() -> None:
    mixed, even = make(), make()
    for n in range(12):
        for _ in range(2 if n % 3 else 1):
            shine(mixed, 10.0, 0.0, 0.0, TICK / (2 if n % 3 else 1))
    for _ in range(12):
        shine(even, 10.0, 0.0, 0.0)
    assert mixed.energy()["absorbed"] == pytest.approx(even.energy()["absorbed"], rel=1e-12)
    assert mixed.surface(0.0).node.temperature == pytest.approx(even.surface(0.0).node.temperature, abs=5.0)


def test_a_cosine_in_depth_fades_at_its_own_rate() -> None:
    side, depth, amplitude = np.linspace(-1, 1, 3) * 1e-4, 1e-3, 50.0
    grid = Grid(x=side, y=side, z=np.linspace(0, depth, 41))
    process = Process(material=Material.constant(k=20.0, rho=8000.0, cp=500.0))
    heat = make_heat(process, grid=grid, tolerance=1e-9)

    def exact(t: float) -> FloatArray:
        fall = cosine_decay(grid.z, t, length=2 * depth, amplitude=amplitude, diffusivity=5e-6)
        return np.asarray(300.0 + fall)

    fill(heat, np.broadcast_to(exact(0.0)[:, None, None], grid.shape))
    steps, time = 400, 0.04
    for _ in range(steps):
        shine(heat, 0.0, 0.0, 0.0, time / steps)
    assert exact(time)[0] < 335.0
    assert temperature(heat)[:, 1, 1] == pytest.approx(exact(time), abs=2e-2)


def test_a_lost_solution_is_reported_and_not_passed_on() -> None:
    heat = make()
    with pytest.raises(BadInput, match="did not close"):
        shine(heat, float("inf"), 0.0, 0.0)
    heat.reset()
    shine(heat, 10.0, 0.0, 0.0)
    assert 300.0 < heat.surface(0.0).node.temperature < 700.0


# ---- its state ----


def test_going_on_from_a_saved_state_repeats_every_bit() -> None:
    heat = make(PLATE)
    empty = heat.save()
    for n in range(10):
        shine(heat, 14.0, n * 4e-5, 0.0)
    state = heat.save()

    def go_on(plate: PaperHeat) -> FloatArray:
        for n in range(10, 40):
            shine(plate, 9.0, n * 4e-5, (n - 10) * 4e-5)
        return temperature(plate)

    first, books = go_on(heat), heat.energy()
    for plate in (heat, make(PLATE)):
        plate.load(state)
        assert np.array_equal(go_on(plate), first)
        assert plate.energy() == books
    heat.load(empty)
    assert np.all(temperature(heat) == 300.0)
    for n in range(10):
        shine(heat, 14.0, n * 4e-5, 0.0)
    assert np.array_equal(go_on(heat), first)


def test_a_saved_state_is_a_copy() -> None:
    heat = make()
    shine(heat, 14.0, 0.0, 0.0)
    state = heat.save()
    before = {name: part.copy() for name, part in state.items()}
    shine(heat, 14.0, 0.0, 0.0)
    assert all(np.array_equal(state[name], before[name]) for name in state)


def test_its_identity_is_that_of_grid_material_and_ambient() -> None:
    names = [
        make_heat(process).identity
        for process in (
            Process(),
            Process(tick=1e-4),
            Process(plate=SMALL),
            Process(ambient=310.0),
            Process(material=find_material("316")),
        )
    ]
    assert names[0] == names[1]
    assert len(set(names)) == 4


def test_what_the_publication_does_not_know_is_refused() -> None:
    heat = make()
    with pytest.raises(BadInput, match="the publication's plate has no layers: take graded"):
        heat.raise_surface(5e-5)
    with pytest.raises(BadInput, match="the publication's plate knows no pauses"):
        heat.rest(1.0)
