"""The nested plant against exact solutions of moving beams, and where there is none, against itself."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from tests.validation.exact import find_pool

from laserloop.bench.plant import SCALES, Scale, drive_peaks, make_serpentine, solve_peaks
from laserloop.plant import make_plant
from laserloop.process import Beam, Laser, Material, Process, find_material
from laserloop.process.material import Melting

FloatArray = NDArray[np.float64]
HEAT, BED = SCALES["heat_treatment"], SCALES["powder_bed"]
EVERY = 3  # ticks between two that are compared


def errors_of(scale: Scale, positions: FloatArray, powers: FloatArray, refine: float) -> FloatArray:
    """Of the peak, as shares of the mean rise, from the first tick on."""
    found = drive_peaks(scale, positions, powers, refine=refine)[0][::EVERY]
    exact = solve_peaks(scale, positions, powers, range(1, len(positions), EVERY))
    return np.asarray((found - exact) / exact.mean())


def rms(errors: FloatArray) -> float:
    return float(np.sqrt((errors**2).mean()))


@pytest.mark.parametrize("name", SCALES)
def test_along_a_serpentine_the_peak_is_that_of_the_exact_integral_and_the_order_is_two(name: str) -> None:
    scale = SCALES[name]
    positions = make_serpentine(scale.speed * scale.tick, lines=2, length=1e-3)
    powers = np.full(len(positions) - 1, scale.power)
    usual, fine = (errors_of(scale, positions, powers, refine) for refine in (1.0, 2.0))
    assert rms(usual) < 1.5e-3
    assert np.abs(usual).max() < 6e-3
    assert rms(fine) < rms(usual) / 3.0


@pytest.mark.parametrize("name", SCALES)
def test_a_jump_of_power_is_followed_and_refined_with_the_rest(name: str) -> None:
    scale = SCALES[name]
    positions = make_serpentine(scale.speed * scale.tick, lines=2, length=5e-4)
    ticks = len(positions) - 1
    powers = scale.power * np.where(np.arange(ticks) // 6 % 2 == 0, 0.14, 1.4)
    usual, fine = (errors_of(scale, positions, powers, refine) for refine in (1.0, 2.0))
    assert np.abs(usual).max() < 1.1e-2
    assert rms(fine) < rms(usual) / 3.0


@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("angle", [0.0, 30.0, 45.0])
def test_along_a_straight_line_the_peak_has_no_ripple(name: str, angle: float) -> None:
    scale, ticks = SCALES[name], 70
    heading = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    positions = scale.speed * scale.tick * (np.arange(ticks + 1)[:, np.newaxis] - ticks / 2) * heading
    powers = np.full(ticks, scale.power)
    found, _ = drive_peaks(scale, positions, powers)
    exact = solve_peaks(scale, positions, powers, range(41, ticks + 1))
    assert np.ptp(found[40:] / exact) < 5e-4


def images_of(positions: FloatArray, plate: tuple[float, float, float]) -> list[FloatArray]:
    """The way and its mirror images beyond the plate's edges and corners."""
    ways = [positions]
    for axis in (0, 1):
        mirrored = []
        for way in ways:
            for edge in (-0.5 * plate[axis], 0.5 * plate[axis]):
                image = way.copy()
                image[:, axis] = 2.0 * edge - way[:, axis]
                mirrored.append(image)
        ways += mirrored
    return ways


def test_beside_the_plates_edges_the_whole_surface_is_that_of_the_mirrored_beams() -> None:
    """The beam keeps four of its widths away from the edges, where none of it is lost; its heat does not."""
    scale = replace(HEAT, speed=0.1)
    process = replace(scale.process, plate=(1.6e-3, 1.0e-3, 2e-3))
    ticks = 60
    positions = np.column_stack((-3e-4 + 1e-5 * np.arange(ticks + 1), np.full(ticks + 1, 1e-4)))
    powers = np.full(ticks, scale.power)
    errors = []
    for refine in (1.0, 2.0):
        plant = make_plant("graded", process, refine=refine)
        for spot in pairwise(positions):
            surface = plant.step(scale.power, np.array(spot))
        points = np.stack(np.meshgrid(surface.x, surface.y), axis=-1)
        ways = images_of(positions, process.plate)
        exact = np.sum([scale.solve(way, powers).rise(points) for way in ways], axis=0)
        error = surface.temperature - process.ambient - exact
        assert np.abs(error[-1]).max() < 0.01 * exact[-1].max()  # along the nearest edge
        errors.append(error / exact.max())
    assert np.abs(errors[0]).max() < 6e-3
    assert rms(errors[1]) < rms(errors[0]) / 2.0


PAPER = Process()
HOP = PAPER.speed * PAPER.tick
CORNER = np.array([7.2e-3, 4.7e-3]) + np.concatenate(
    (
        np.arange(9)[:, np.newaxis] * np.array([HOP, HOP]) / np.sqrt(2.0),
        np.array([8 * HOP, 8 * HOP]) / np.sqrt(2.0) - np.arange(1, 11)[:, np.newaxis] * np.array([0.0, HOP]),
    )
)
WAYS: dict[str, tuple[Process, FloatArray, float]] = {
    "304": (PAPER, make_serpentine(HOP, lines=2, length=6e-4), 14.0),
    "to a corner and along the edge": (PAPER, CORNER, 14.0),
    "a plate smaller than the box": (
        replace(PAPER, plate=(1e-3, 0.8e-3, 0.5e-3)),
        make_serpentine(HOP, lines=2, length=4e-4),
        8.0,
    ),
    "a thin plate": (
        replace(PAPER, plate=(15e-3, 10e-3, 0.25e-3)),
        make_serpentine(HOP, lines=2, length=4e-4),
        8.0,
    ),
}


def drive(
    process: Process, positions: FloatArray, power: float, refine: float, *, pools_from: int = 0
) -> tuple[FloatArray, FloatArray]:
    """T_max, K, after every tick, and from some tick on the pool's length, width and depth, m."""
    plant = make_plant("graded", process, refine=refine)
    peaks, pools = [], []
    for tick, spot in enumerate(pairwise(positions)):
        surface = plant.step(power, np.array(spot))
        peaks.append(surface.peak.temperature)
        if tick < pools_from:
            continue
        pool = plant.melt_pool(surface)
        pools.append((0.0, 0.0, 0.0) if pool is None else (pool.length, pool.width, pool.depth))
    return np.array(peaks), np.array(pools)


@pytest.mark.validation
@pytest.mark.parametrize("name", WAYS)
def test_with_properties_that_depend_on_temperature_it_is_as_exact(name: str) -> None:
    process, positions, power = WAYS[name]
    never = len(positions)
    usual, fine, truth = (
        drive(process, positions, power, refine, pools_from=never)[0] for refine in (1.0, 2.0, 4.0)
    )
    rise = truth.mean() - process.ambient
    usual, fine = (usual - truth) / rise, (fine - truth) / rise
    assert rms(usual) < 2e-3
    assert np.abs(usual).max() < 6e-3
    assert rms(fine) < rms(usual) / 3.0


TRACK = 105.0  # W, of a melting track
IN625 = replace(
    PAPER,
    material=find_material("in625"),
    beam=Beam(sigma=42.5e-6, absorptivity=0.35),
    laser=Laser(power=(0.0, 300.0)),
    tick=2e-5,
    speed=0.8,
    window=(1700.0, 2500.0),
)


@pytest.mark.validation
@pytest.mark.filterwarnings("ignore:temperatures of")
def test_a_melting_track_is_that_of_a_finer_plant() -> None:
    """But for a ripple: the front of the melt takes cell after cell."""
    positions = make_serpentine(IN625.speed * IN625.tick, lines=1, length=5e-4)
    truth, pool = drive(IN625, positions, TRACK, 3.0)
    usual, measured = drive(IN625, positions, TRACK, 1.0)
    settled = slice(8, None)  # before, the melt is thinner than a cell
    error = (usual - truth)[settled] / (truth.mean() - IN625.ambient)
    assert rms(error) < 6e-3
    assert np.abs(error).max() < 1.2e-2
    assert (np.abs(measured[20:].mean(axis=0) / pool[20:].mean(axis=0) - 1.0) < (0.05, 0.02, 0.02)).all()


def nearly_constant(k: float, rho: float, cp: float) -> Material:
    """IN625's melting points and no latent heat to speak of, so that there is an exact pool."""
    melting = Melting(
        source="a test",
        solidus=1563.0,
        liquidus=1623.0,
        latent=1e-3,
        boiling=9e3,
        T=np.array([1623.0]),
        k=np.array([k]),
        rho=np.array([rho]),
        cp=np.array([cp]),
    )
    curves: dict[str, Any] = {
        name: Polynomial([value]) for name, value in (("k", k), ("rho", rho), ("cp", cp))
    }
    return Material(name="test", source="a test", valid=(290.0, 1563.0), melting=melting, **curves)


def pool_and_exact() -> tuple[FloatArray, FloatArray]:
    """Of AMB2018-02 B, 179.2 W at 0.8 m/s, with IN625's properties at 1255 K: the last 24 pools of a line."""
    k, rho, cp = 25.2, 8440.0, 645.0
    process = replace(IN625, material=nearly_constant(k, rho, cp), beam=Beam(sigma=42.5e-6, absorptivity=0.4))
    ticks, hop = 160, process.speed * process.tick
    positions = np.column_stack((hop * (np.arange(ticks + 1) - ticks / 2), np.zeros(ticks + 1)))
    pools = drive(process, positions, 179.2, 1.0, pools_from=ticks - 24)[1]
    exact = find_pool(
        power=0.4 * 179.2, speed=0.8, sigma=42.5e-6, k=k, alpha=k / (rho * cp), rise=1623.0 - process.ambient
    )
    return pools, exact


@pytest.mark.filterwarnings("ignore:temperatures of")
def test_with_constant_properties_the_melt_pool_is_the_exact_one() -> None:
    pools, exact = pool_and_exact()
    assert (np.abs(pools / exact - 1.0) < (0.015, 0.01, 0.01)).all()
