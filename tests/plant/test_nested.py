"""The nested plant: boxes that follow the beam, what crosses their faces, and what it costs."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.plant import Plant, make_plant
from laserloop.plant.boxes import Box
from laserloop.plant.nested import HALF, NestedHeat, find_stages
from laserloop.process import Beam, Material, Process, find_material
from laserloop.process.heat_table import tabulate

PROCESS = Process()
WIDE = Process(plate=(60e-3, 40e-3, 10e-3))
SMALL = Process(plate=(1.0e-3, 0.8e-3, 0.5e-3))
THIN = Process(plate=(15e-3, 10e-3, 0.25e-3))
MELTING = Process(material=find_material("in625"), beam=Beam(sigma=60e-6), tick=2e-5, speed=0.8)
POOL = replace(MELTING, beam=Beam(sigma=42.5e-6), window=(1700.0, 2000.0))


def boxes_of(plate: tuple[float, float, float], sigma: float) -> list[Box]:
    process = Process(plate=plate, beam=Beam(sigma=sigma))
    return NestedHeat(process, tabulate(process.material, process.ambient)).boxes


def make_heat(process: Process = PROCESS, refine: float = 1.0) -> NestedHeat:
    return NestedHeat(process, tabulate(process.material, process.ambient), refine=refine)


def drive(plant: Plant, way: list[tuple[float, float]], power: float = 14.0) -> list[float]:
    """The peaks on a way told in mm, one tick per leg."""
    points = 1e-3 * np.array(way)
    return [plant.step(power, points[k : k + 2]).peak.temperature for k in range(len(way) - 1)]


def line(start: tuple[float, float], end: tuple[float, float], ticks: int) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.linspace(start, end, ticks + 1)]


def imbalance(plant: Plant) -> float:
    b = plant.books
    return abs(b["absorbed"] - b["stored"] - b["lost"]) / b["absorbed"]


@pytest.mark.filterwarnings("ignore:temperatures of")
@pytest.mark.parametrize(
    "process", [PROCESS, WIDE, SMALL, THIN, MELTING], ids=["paper", "wide", "small", "thin", "melting"]
)
def test_heat_is_kept_while_boxes_move_rest_and_are_covered(process: Process) -> None:
    plant = make_plant("graded", process)
    half = 450 * min(1e-3, process.plate[1])
    power = 50.0 if process is MELTING else 5.0
    hop = 1e3 * process.speed * process.tick
    drive(plant, line((-half, -half), (half, half), round(2.8 * half / hop)), power)
    drive(plant, line((half, half), (-half, half), round(2 * half / hop)), power)  # turn
    drive(plant, line((-half, -half), (0, -half), round(half / hop)), power)  # jump
    plant.step(0.0, np.zeros((2, 2)))
    plant.rest(0.03)
    plant.add_layer(30e-6)
    drive(plant, line((0, 0), (half, 0), round(half / hop)), power)
    assert plant.books["lost"] > 0.0 or process is WIDE
    assert imbalance(plant) < 1e-12


def test_along_the_edge_only_what_falls_on_the_plate_is_absorbed() -> None:
    plant = make_plant("graded", PROCESS)
    drive(plant, line((-0.5, 5.0), (0.5, 5.0), 20), 10.0)
    assert plant.books["absorbed"] == pytest.approx(0.5 * 10.0 * 20 * PROCESS.tick, rel=1e-9)
    drive(plant, line((7.5, 5.0), (7.5, 5.0), 1), 10.0)
    assert plant.books["absorbed"] == pytest.approx((10.0 + 0.25) * 10.0 * PROCESS.tick, rel=1e-9)
    assert imbalance(plant) < 1e-12


@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_a_restored_plant_goes_on_bit_for_bit(pause: float) -> None:
    plant, other = make_plant("graded", PROCESS), make_plant("graded", PROCESS)
    drive(plant, line((0, 0), (1, 0.5), 25))
    if pause:
        plant.rest(pause)
        plant.add_layer(40e-6)
    snapshot = plant.snapshot()

    def go_on(again: Plant) -> tuple[list[float], dict[str, float], NDArray[np.float64]]:
        peaks = drive(again, line((1, 0.5), (0.8, -0.5), 25), 11.0)
        again.rest(1e-3)
        return peaks, again.books, again.surface().temperature

    first = go_on(plant)
    plant.restore(snapshot)
    second = go_on(plant)
    other.restore(type(snapshot).from_arrays(snapshot.to_arrays()))
    for found in (second, go_on(other)):
        assert found[:2] == first[:2]
        assert (found[2] == first[2]).all()


@pytest.mark.filterwarnings("ignore:temperatures of")
def test_while_metal_melts_a_restored_plant_goes_on_bit_for_bit_and_keeps_its_heat() -> None:
    plant = make_plant("graded", POOL)
    drive(plant, line((-0.5, 0), (0.5, 0), 62), 37.0)
    snapshot = plant.snapshot()
    first = drive(plant, line((0.5, 0), (0.6, 0), 6), 37.0)
    plant.restore(snapshot)
    assert drive(plant, line((0.5, 0), (0.6, 0), 6), 37.0) == first
    assert imbalance(plant) < 1e-12


@pytest.mark.filterwarnings("ignore:temperatures of")
def test_a_pool_that_reaches_beyond_the_finest_box_is_that_of_a_finer_plant() -> None:
    """Its end lies in cells three times as wide, through each of which the front passes evenly."""
    sizes = []
    for refine in (1.0, 2.0):
        plant, pools = make_plant("graded", POOL, refine=refine), []
        way = line((-0.4, 0), (0.24, 0), 40)
        drive(plant, way[:33], 37.0)
        for n in range(32, 40):
            drive(plant, way[n : n + 2], 37.0)
            pool = plant.melt_pool(plant.surface())
            assert pool is not None
            pools.append((pool.length, pool.width, pool.depth))
        sizes.append(np.array(pools))
    usual, fine = sizes
    assert fine[:, 0].min() > (HALF + 0.5) * POOL.beam.sigma
    assert np.abs(usual / fine - 1.0).max() < 0.05


@pytest.mark.filterwarnings("ignore:temperatures of")
def test_after_a_pause_the_finest_box_is_around_the_beam_again() -> None:
    """Else its power would fall into the outermost cells."""
    process = replace(MELTING, beam=Beam(sigma=20e-6), material=never_boiling())
    plant, fresh = make_plant("graded", process), make_plant("graded", process)
    drive(plant, line((-0.5, 0), (0.5, 0), 62), 60.0)
    plant.rest(1.0)
    way = line((0.3, 1.0), (0.4, 1.0), 6)
    assert drive(plant, way, 5.0) == pytest.approx(drive(fresh, way, 5.0), abs=2.0)


def never_boiling() -> Material:
    metal = find_material("in625")
    assert metal.melting is not None
    return replace(metal, melting=replace(metal.melting, boiling=2e4))


def test_looking_changes_nothing() -> None:
    seen, unseen = make_plant("graded", PROCESS), make_plant("graded", PROCESS)
    for k in range(30):
        spot = 1e-3 * np.array([(0.04 * k, 0), (0.04 * k + 0.04, 0)])
        surface = seen.step(12.0, spot)
        _ = surface.temperature, seen.books, seen.cells()
        last = unseen.step(12.0, spot)
    assert (last.temperature == surface.temperature).all()


def test_after_a_reset_a_plant_is_as_new() -> None:
    plant = make_plant("graded", PROCESS)
    way = line((0, 0), (0.5, 0.5), 15)
    first = drive(plant, way)
    plant.rest(0.01)
    plant.add_layer(1e-4)
    plant.reset()
    assert drive(plant, way) == first


def test_the_finest_box_holds_the_beam_in_its_middle_or_ends_at_the_edge() -> None:
    heat = make_heat()
    rng = np.random.default_rng(0)
    for _ in range(40):
        beam = rng.uniform(-0.5, 0.5, 2) * PROCESS.plate[:2]
        heat._follow(beam)
        for box in heat.boxes[1:]:
            for axis, at in ((1, beam[0]), (0, beam[1])):
                edges, half = box.edges(axis), 0.5 * PROCESS.plate[1 - axis]
                reach = 0.5 * HALF * PROCESS.beam.sigma * box.spacing[0] / heat.boxes[-1].spacing[0]
                assert at - edges[0] > reach or edges[0] == pytest.approx(-half)
                assert edges[-1] - at > reach or edges[-1] == pytest.approx(half)


def test_boxes_lie_inside_each_other_with_a_cell_of_the_parent_around() -> None:
    heat = make_heat(WIDE)
    for beam in np.random.default_rng(1).uniform(-0.5, 0.5, (40, 2)) * WIDE.plate[:2]:
        heat._follow(beam)
        for box in heat.boxes[1:]:
            assert box.parent is not None
            (_, rows, columns), (_, south, west) = box.under, (0, *box.in_parent)
            assert min(south, west) >= 0
            assert rows.stop - 1 <= box.parent.shape[1]
            assert columns.stop - 1 <= box.parent.shape[2]


def test_the_work_of_a_tick_does_not_grow_with_the_plate() -> None:
    def near(boxes: list[Box]) -> int:
        return sum(prod(box.shape) for box in boxes[-2:])

    sizes = [(0.02, 0.02, 0.005), (0.1, 0.1, 0.02), (0.3, 0.3, 0.001), (0.3, 0.2, 0.05)]
    cells = [near(boxes_of(plate, 42.5e-6)) for plate in sizes]
    assert max(cells) < 2.0 * min(cells)
    assert all(prod(boxes_of(plate, 42.5e-6)[0].shape) <= 1_000_000 for plate in sizes)


def test_a_plate_smaller_than_the_box_is_one_box() -> None:
    assert len(boxes_of((0.4e-3, 0.4e-3, 0.2e-3), 100e-6)) == 1


def test_a_box_that_moves_gets_the_heat_that_the_parent_has_there() -> None:
    heat = make_heat()
    spot = np.array([(0.0, 0.0), (3e-5, 0.0)])
    for k in range(30):
        heat.advance(14.0, spot + np.array((3e-5 * k, 0.0)), 1e-4)
    for place in ((-2e-4, 1e-4), (5e-3, 4e-3), (0.0, 0.0)):
        before = heat.energy()["stored"]
        heat._follow(np.array(place))
        assert heat.energy()["stored"] == pytest.approx(before, rel=1e-14)


def test_a_beam_that_comes_back_finds_its_old_heat() -> None:
    """The track of before, which only coarse boxes have kept, against a plant twice as fine."""
    way = [*line((-1, 0), (1, 0), 66), *line((-1, 0.1), (0, 0.1), 33)]
    coarse, fine = (drive(make_plant("graded", PROCESS, refine=n), way, 8.0) for n in (1.0, 1.5))
    rise = np.array(fine[68:]) - 300.0
    assert np.abs(np.array(coarse[68:]) - fine[68:]).max() < 0.01 * rise.max()


def test_what_a_beam_left_behind_is_found_outside_the_finest_box() -> None:
    plant = make_plant("graded", PROCESS)
    drive(plant, line((-1, 0), (0, 0), 30), 14.0)
    points = 1e-3 * np.array(line((0, 0), (0.6, 0), 16))
    for k in range(16):
        surface = plant.step(0.2, points[k : k + 2])
    assert surface.peak.x < 0.0  # behind the beam by more than the box reaches
    assert surface.peak.temperature == pytest.approx(surface.temperature.max(), rel=0.01)


def test_a_long_pause_cools_to_ambient_and_closes_the_fine_boxes() -> None:
    heat = make_heat()
    heat.advance(14.0, np.array([(0.0, 0.0), (4e-5, 0.0)]), 1.25e-4)
    absorbed = heat.energy()["absorbed"]
    heat.rest(20.0)
    assert [box.open for box in heat.boxes] == [True, False, False]
    assert heat.energy()["lost"] == pytest.approx(absorbed, rel=1e-12)


@pytest.mark.parametrize("plate", [(5e-3, 0.2e-3, 10e-3), (0.25e-3, 10e-3, 0.2e-3), (0.2e-3, 0.2e-3, 0.2e-3)])
def test_walls_and_crumbs_are_plates_too(plate: tuple[float, float, float]) -> None:
    plant = make_plant("graded", replace(PROCESS, plate=plate))
    peaks = drive(plant, [(0, 0), (0.02, 0), (0.04, 0.02), (0.04, 0.05)], 2.0)
    assert 350 < peaks[0] < peaks[1] < peaks[2] < 600
    surface, (_, _, _, T) = plant.surface(), plant.cells()
    assert surface.temperature.max() == pytest.approx(surface.peak.temperature, rel=0.01)
    assert T.max() == pytest.approx(surface.peak.temperature, rel=0.01)
    plant.rest(0.01)
    assert imbalance(plant) < 1e-12


def test_a_plate_that_was_never_lit_stays_cold_for_ever() -> None:
    plant = make_plant("graded", PROCESS)
    plant.step(0.0, np.zeros((2, 2)))
    assert plant.rest(1e9).node.temperature == 300.0
    drive(plant, line((0, 0), (0.1, 0), 3))
    assert plant.rest(1e9).node.temperature == 300.0
    assert plant.books["lost"] == pytest.approx(plant.books["absorbed"], rel=1e-14)


def test_a_pause_is_the_same_in_one_piece_and_in_many() -> None:
    whole, pieces = make_plant("graded", PROCESS), make_plant("graded", PROCESS)
    for plant in (whole, pieces):
        drive(plant, line((-0.5, 0), (0.5, 0), 27), 14.0)
    whole.rest(0.04)
    for _ in range(20):
        pieces.rest(0.002)
    hot = whole.surface().node.temperature
    assert hot > 302.0
    assert pieces.surface().node.temperature == pytest.approx(hot, abs=0.01 * (hot - 300.0))


@pytest.mark.parametrize(("tick", "count"), [(1e-5, 200), (5e-2, 1)])
def test_any_tick_will_do(tick: float, count: int) -> None:
    """A beam of 1 mm/s, however its way is cut into ticks."""
    peaks = []
    for pieces in (count, round(count * tick / 5e-4)):
        plant = make_plant("graded", replace(PROCESS, tick=count * tick / pieces))
        points = np.linspace((0.0, 0.0), (1e-3 * count * tick, 0.0), pieces + 1)
        peaks.append([plant.step(2.0, points[k : k + 2]).peak.temperature for k in range(pieces)][-1])
    assert peaks[0] == pytest.approx(peaks[1], abs=0.01 * (peaks[1] - 300.0))


def test_a_new_layer_is_cold_and_the_heat_below_stays() -> None:
    plant = make_plant("graded", PROCESS)
    drive(plant, line((-0.5, 0), (0.5, 0), 27), 14.0)
    before = plant.books
    top = plant.add_layer(2e-4)
    assert plant.books["stored"] == pytest.approx(before["stored"], rel=1e-12)
    assert top.node.temperature == pytest.approx(300.0, abs=0.5)
    _, _, z, T = plant.cells()
    assert z[-1] == pytest.approx(2.2e-3)
    assert T.max() > 600.0
    assert z[np.unravel_index(T.argmax(), T.shape)[0]] == pytest.approx(2e-4, abs=4e-5)


@pytest.mark.parametrize("ratio", [0.0, 0.9, 1.0, 2.4, 7.3, 500.0])
def test_a_step_is_stable(ratio: float) -> None:
    stages = find_stages(ratio)
    assert (stages * stages + stages - 2.0) / 4.0 >= ratio
    assert stages == 2 or ((stages - 1) ** 2 + stages - 3.0) / 4.0 < ratio
