"""The melt pool: its extents between the nodes, in the plant and in its record."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.episode import simulate
from laserloop.paths import find_path
from laserloop.plant import Plant, PlantSettings, make_plant
from laserloop.plant.melt_pool import Patch, measure_pool
from laserloop.process import find_process, shipped_materials

FloatArray = NDArray[np.float64]


def ellipsoid(heading: float, half: tuple[float, float, float], spacing: float = 25e-6) -> Patch:
    """A field that is positive just inside an ellipsoid with its centre on the surface, away from nodes."""
    x, y = spacing * np.arange(-20.0, 21.0), spacing * np.arange(-17.0, 18.0)
    z: FloatArray = 0.4 * spacing * np.arange(12.0)
    px, py = x[None, None, :] - 7e-6, y[None, :, None] + 4e-6
    along = px * np.cos(heading) + py * np.sin(heading)
    across = py * np.cos(heading) - px * np.sin(heading)
    depth = z[:, None, None]
    excess = 1.0 - (along / half[0]) ** 2 - (across / half[1]) ** 2 - (depth / half[2]) ** 2
    return Patch(x, y, z, 1e3 * excess)


@pytest.mark.parametrize("heading", [0.0, 0.5, np.pi / 2, 2.5])
def test_an_ellipsoid_is_measured_to_a_percent(heading: float) -> None:
    pool = measure_pool(ellipsoid(heading, (220e-6, 140e-6, 80e-6)), heading)
    assert pool is not None
    assert pool.length == pytest.approx(440e-6, rel=0.01)
    assert pool.width == pytest.approx(280e-6, rel=0.01)
    assert pool.depth == pytest.approx(80e-6, rel=0.01)


def test_a_pool_between_the_nodes_is_seen_and_a_solid_has_none() -> None:
    patch = ellipsoid(0.0, (12e-6, 12e-6, 12e-6), spacing=20e-6)
    pool = measure_pool(patch, 0.0)
    assert pool is not None
    assert pool.length == pytest.approx(24e-6, rel=0.1)
    assert measure_pool(patch._replace(excess=patch.excess - 2e3), 0.0) is None


def go(plant: Plant, power: float, ticks: int) -> FloatArray:
    """Length, width and depth after each tick of a straight line at 304 mm/s."""
    hop, extents = np.array([38e-6, 0.0]), []
    for k in range(ticks):
        surface = plant.step(power, np.array([hop * (k - 10), hop * (k - 9)]))
        pool = plant.melt_pool(surface)
        extents.append((0.0, 0.0, 0.0) if pool is None else (pool.length, pool.width, pool.depth))
    return np.array(extents)


@pytest.mark.filterwarnings("ignore:temperatures of")
@pytest.mark.parametrize("name", shipped_materials())
def test_a_track_melts_and_freezes_without_a_failed_tick(name: str) -> None:
    plant = make_plant("graded", find_process(name))
    pools = go(plant, 55.0, 12)
    assert (pools[6:] > 0).all()
    assert np.ptp(pools[-3:, 1]) < 10e-6  # a track of steady width,
    assert pools[-1, 0] > pools[-1, 1] > pools[-1, 2] > 0  # longer than wide, wider than deep
    assert not go(plant, 0.0, 12)[-1].any()
    books = plant.books
    assert books["stored"] + books["lost"] == pytest.approx(books["absorbed"], rel=1e-6)


@pytest.mark.filterwarnings("ignore:temperatures of")
@pytest.mark.parametrize("name", shipped_materials())
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
def test_a_spot_melts_and_freezes_on_the_papers_plant_without_a_failed_tick(
    name: str, tolerance: float
) -> None:
    plant = Plant(PlantSettings(name="paper", process=find_process(name), tolerance=tolerance))
    assert go(plant, 80.0, 12)[-1, 2] > 0
    assert not go(plant, 0.0, 12)[-1].any()
    books = plant.books
    assert books["stored"] + books["lost"] == pytest.approx(books["absorbed"], rel=1e-12)


@pytest.mark.filterwarnings("ignore:temperatures of")
@pytest.mark.parametrize(("name", "watts"), [("paper", 80.0), ("graded", 60.0)])
def test_going_on_from_a_snapshot_of_a_melt_repeats_every_bit(name: str, watts: float) -> None:
    plant = make_plant(name, find_process("304"))
    go(plant, watts, 4)
    snapshot = plant.snapshot()
    first = go(plant, watts, 4)
    plant.restore(snapshot)
    np.testing.assert_array_equal(go(plant, watts, 4), first)
    plant.restore(snapshot)
    assert plant.melt_pool(plant.surface()) is not None


def test_beyond_the_boiling_point_a_run_ends_with_a_sentence() -> None:
    plant = make_plant("paper", find_process("in625"))
    with pytest.warns(UserWarning, match="evaporation and flow"), pytest.raises(BadInput) as found:
        go(plant, 200.0, 30)
    assert "above the boiling point of material in625 (3186 K)" in str(found.value)


@pytest.mark.filterwarnings("ignore:temperatures of")
def test_an_episode_tells_of_its_melt_pool_only_if_there_is_one() -> None:
    path = find_path("diagonal", ticks=4)
    process = find_process("304")
    told = [simulate(make_plant("paper", process), path, np.full(4, w)).to_json() for w in (14.0, 120.0)]
    names = ("melt_length_um", "melt_width_um", "melt_depth_um")
    assert not any(name in told[0] for name in names)
    assert all(len(told[1][name]) == 4 and told[1][name][-1] > 0 for name in names)
