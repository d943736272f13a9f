"""The plant: two solvers behind one interface, checked at the door."""

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import find_path
from laserloop.plant import PLANTS, Plant, PlantSettings, Snapshot, make_plant
from laserloop.process import Beam, Laser, Process, find_material

FloatArray = NDArray[np.float64]
SMALL = (6e-3, 5e-3, 2e-3)  # m


def small(name: str, **changes: Any) -> Plant:
    return make_plant(name, Process(plate=SMALL, **changes))


@pytest.fixture(params=PLANTS)
def plant(request: pytest.FixtureRequest) -> Plant:
    return small(request.param)


def spot(k: int, speed: float = 0.304) -> FloatArray:
    x = -5e-4 + speed * 1.25e-4 * np.array([k, k + 1])
    return np.stack((x, np.zeros(2)), axis=1)


def test_a_plant_at_rest_is_at_ambient(plant: Plant) -> None:
    surface = plant.reset()
    assert surface.time == 0.0
    assert surface.node.temperature == 300.0
    assert surface.peak.temperature == pytest.approx(300.0, abs=1e-9)


def test_the_peak_is_at_least_the_hottest_node_and_near_the_beam(plant: Plant) -> None:
    for k in range(12):
        surface = plant.step(14.0, spot(k))
        assert surface.peak.temperature >= surface.node.temperature
    beam = spot(11)[1]
    assert np.hypot(surface.peak.x - beam[0], surface.peak.y - beam[1]) < 1.5e-4
    assert surface.peak.x < beam[0]  # it trails the beam
    assert surface.time == pytest.approx(12 * 1.25e-4)


def test_t_max_is_nodal_on_the_papers_plant_and_between_the_nodes_on_the_graded_one() -> None:
    for name in ("paper", "graded"):
        plant = small(name)
        for k in range(3):
            surface = plant.step(14.0, spot(k))
        assert plant.t_max(surface) == (surface.node if name == "paper" else surface.peak)
        assert surface.node.temperature != surface.peak.temperature


def test_the_papers_plant_ignores_where_the_tick_began_and_the_graded_one_does_not() -> None:
    for name, same in (("paper", True), ("graded", False)):
        from_left, from_right = small(name), small(name)
        end, hop = np.array([1e-4, 0.0]), np.array([4e-5, 0.0])
        left = from_left.step(14.0, np.array([end - hop, end]))
        right = from_right.step(14.0, np.array([end + hop, end]))
        difference = np.abs(left.temperature - right.temperature).max()
        assert difference < 1e-4 if same else difference > 10.0


def test_more_power_is_hotter_everywhere(plant: Plant) -> None:
    cool = plant.step(10.0, spot(0)).temperature
    plant.reset()
    hot = plant.step(12.0, spot(0)).temperature
    assert np.all(hot >= cool - 1e-6)
    assert hot.max() > cool.max() + 1.0


def test_planning_on_a_copy_leaves_the_plant_as_it_was(plant: Plant) -> None:
    for k in range(5):
        plant.step(14.0, spot(k))
    before = plant.snapshot()
    alone = [plant.step(14.0, spot(k)).peak.temperature for k in range(5, 9)]
    plant.restore(before)
    for k in range(5, 9):
        plant.step(20.0, spot(k))
    restored = plant.restore(before)
    assert restored.time == pytest.approx(5 * 1.25e-4)
    again = [plant.step(14.0, spot(k)).peak.temperature for k in range(5, 9)]
    assert again == alone


def test_absorptivity_scales_power() -> None:
    half = small("paper", beam=Beam(absorptivity=0.5))
    full = small("paper")
    assert np.array_equal(half.step(20.0, spot(0)).temperature, full.step(10.0, spot(0)).temperature)


def test_a_beam_half_off_the_plate_brings_half_its_heat() -> None:
    plant = small("paper")
    plant.step(10.0, np.array([[3e-3, 0.0], [3e-3, 0.0]]))
    assert plant.books["absorbed"] == pytest.approx(5.0 * 1.25e-4, rel=1e-6)


@pytest.mark.parametrize("power", [float("nan"), float("inf"), -1.0])
def test_impossible_power_is_refused_in_one_sentence(plant: Plant, power: float) -> None:
    with pytest.raises(BadInput, match=r"laser power must be a finite number ≥ 0 W, got"):
        plant.step(power, spot(0))


@pytest.mark.parametrize(
    "places", [[[0.0, 0.0], [4e-3, 0.0]], [[0.0, float("nan")], [0.0, 0.0]], [[0.0, 0.0, 0.0]]]
)
def test_a_beam_off_the_plate_is_refused(plant: Plant, places: list[list[float]]) -> None:
    with pytest.raises(BadInput, match=r"plate|two finite points"):
        plant.step(10.0, np.array(places))


def test_leaving_the_range_of_the_material_is_told_once_with_its_size() -> None:
    plant = small("paper", material=find_material("ti64"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(20):
            plant.step(60.0, spot(k, speed=0.05))
    assert len(caught) == 1
    assert "above the range of material ti64 (298–1268 K)" in str(caught[0].message)


def test_fast_beams_are_followed_in_substeps() -> None:
    coarse, fine = small("graded", speed=2.0), small("graded", speed=2.0, tick=1.25e-5)
    ends = np.array([[-5e-4, 0.0], [-2.5e-4, 0.0], [0.0, 0.0]])
    for n in range(2):
        one = coarse.step(30.0, ends[n : n + 2])
        for m in range(10):
            share = np.array([[m / 10], [(m + 1) / 10]])
            many = fine.step(30.0, ends[n] + share * (ends[n + 1] - ends[n]))
    assert one.peak.temperature > 600.0
    assert one.peak.temperature == pytest.approx(many.peak.temperature, abs=3.0)


def test_the_same_run_twice_gives_the_same_bits(plant: Plant) -> None:
    path = find_path("polyline:3", ticks=10)
    runs = []
    for _ in range(2):
        plant.reset()
        runs.append([plant.step(13.0, 0.3 * path.spot(k)).peak for k in range(10)])
    assert runs[0] == runs[1]


def test_a_beam_that_falls_between_the_nodes_of_the_papers_plant_is_refused() -> None:
    with pytest.raises(BadInput, match=r"too narrow for a grid of 0.0001 m: .* or the graded plant"):
        small("paper", beam=Beam(sigma=1e-5))


def test_switching_power_is_resolved_to_2_k() -> None:
    ticks, finer = 24, 16
    plant, truth = small("graded"), small("graded", tick=1.25e-4 / finer)
    worst = 0.0
    for k in range(ticks):
        power = 20.0 if (k // 3) % 2 == 0 else 2.0
        start, end = spot(k)
        peak = plant.step(power, spot(k)).peak.temperature
        for n in range(finer):
            part = start + np.array([[n / finer], [(n + 1) / finer]]) * (end - start)
            exact = truth.step(power, part).peak.temperature
        worst = max(worst, abs(peak - exact))
    assert worst < 2.0


def test_a_snapshot_of_another_plant_is_refused_and_nothing_changes() -> None:
    paper, other = small("paper"), small("paper", material=find_material("316"))
    paper.step(14.0, spot(0))
    other.step(10.0, spot(0))
    before = other.surface().temperature
    with pytest.raises(BadInput, match="same grid, material and ambient"):
        other.restore(paper.snapshot())
    assert np.array_equal(other.surface().temperature, before)
    twin = small("paper")
    assert np.array_equal(twin.restore(paper.snapshot()).temperature, paper.surface().temperature)


def test_a_failed_tick_must_be_left_by_reset_or_restore() -> None:
    plant = small("paper")
    start = plant.snapshot()
    with pytest.raises(BadInput, match="did not close"):
        plant.step(1e300, spot(0))
    with pytest.raises(BadInput, match="reset the plant or restore"):
        plant.step(10.0, spot(0))
    plant.restore(start)
    fresh = small("paper")
    again = plant.step(10.0, spot(0)).temperature
    assert np.array_equal(again, fresh.step(10.0, spot(0)).temperature)


def test_a_plant_used_again_after_reset_warns_again() -> None:
    plant = small("paper", ambient=280.0)
    for _ in range(2):
        plant.reset()
        with pytest.warns(UserWarning, match="20 K below the range"):
            plant.step(1.0, spot(0))


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.parametrize("change", [{"refine": -1.0}, {"refine": 0.0}, {"absorbed": float("nan")}])
def test_impossible_settings_are_refused_at_once(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="must be a positive number"):
        make_plant(name, **change)


def test_settings_are_compared_by_their_numbers() -> None:
    one, same, other = (PlantSettings(name="paper", process=Process(), refine=r) for r in (1.0, 1.0, 2.0))
    assert one == same != other
    assert len({one, same, other}) == 2


def test_a_snapshot_read_back_from_its_arrays_goes_on_bit_for_bit(plant: Plant) -> None:
    for k in range(5):
        plant.step(14.0, spot(k))
    arrays = {name: part.copy() for name, part in plant.snapshot().to_arrays().items()}
    whole = [plant.step(9.0, spot(k)).temperature for k in range(5, 9)]
    other = Plant(plant.settings)
    other.restore(Snapshot.from_arrays(arrays | {"something": np.zeros(1)}))
    for k, before in zip(range(5, 9), whole, strict=True):
        np.testing.assert_array_equal(other.step(9.0, spot(k)).temperature, before)
    assert (other.time, other.books) == (plant.time, plant.books)


def test_the_cells_of_a_plant_are_a_tensor_grid_down_from_the_surface(plant: Plant) -> None:
    surface = plant.step(14.0, spot(0))
    x, y, z, temperature = plant.cells()
    assert temperature.shape == (len(z), len(y), len(x))
    assert z[-1] == pytest.approx(SMALL[2])
    assert temperature[-1] == pytest.approx(300.0)
    assert temperature.max() == pytest.approx(surface.node.temperature, rel=0.1)


@pytest.mark.parametrize("lag", [0.0, 5e-5])
@pytest.mark.parametrize("name", PLANTS)
def test_a_beam_that_is_off_may_go_anywhere_and_heats_nothing_there(name: str, lag: float) -> None:
    here, away = spot(0), np.array([[0.0, 0.3], [0.5, -0.2]])  # m
    resting, roaming = (small(name, laser=Laser(lag=lag)) for _ in range(2))
    for plant, place in ((resting, here), (roaming, away)):
        plant.step(10.0, here)
        for _ in range(3):
            plant.step(0.0, place)
    absorbed = [plant.books["absorbed"] for plant in (resting, roaming)]
    if lag == 0.0:
        np.testing.assert_allclose(
            resting.surface().temperature, roaming.surface().temperature, rtol=0, atol=1e-3
        )
        assert absorbed[0] == absorbed[1] == pytest.approx(10.0 * 1.25e-4)
    else:  # what a lagging laser still gives falls beside the plate
        assert absorbed[1] < 0.9 * absorbed[0]
    with pytest.raises(BadInput, match="the beam must stay on the plate"):
        roaming.step(1e-3, away)


@pytest.mark.parametrize("name", PLANTS)
def test_who_compiles_the_kernels_gets_the_same_bytes_as_who_loads_them(name: str, tmp_path: Path) -> None:
    script = (
        "import hashlib; from laserloop.plant import make_plant; from laserloop.paths import find_path\n"
        f"path = find_path('diagonal', ticks=3); plant = make_plant({name!r})\n"
        "seen = [plant.step(14.0, path.spot(k)).temperature.tobytes() for k in range(3)]\n"
        "print(hashlib.sha256(b''.join(seen)).hexdigest())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiled, loaded = (
        subprocess.check_output([sys.executable, "-c", script], env=environment, text=True) for _ in range(2)
    )
    assert any(tmp_path.rglob("*.nbi"))
    assert compiled == loaded
