"""Families of paths: where they stay, what they have in common, and that a seed names one path for good."""

from itertools import pairwise

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import Placement, find_path
from laserloop.paths.shapes import FAMILIES, HALF_WIDTH, draw_family, hatch_lines
from laserloop.paths.track import Move

SPEED = 0.3  # m/s
JUMPING = {"island", "stroke"}
EVERY = pytest.mark.parametrize("name", FAMILIES)
# Seed 7, 30 mm: moves, points, the sum of the points in mm and of the speeds in m/s.
PINNED: dict[str, tuple[int, int, complex, float]] = {
    "raster": (3, 42, 0j, 0.9),
    "island": (3, 66, 8.0935 - 11.3780j, 0.9),
    "hairpin": (5, 60, 19.4444 - 5.5036j, 1.5),
    "spiral": (1, 12688, 287.5174 + 135.4364j, 0.3),
    "star": (3, 26, 4.4104 + 1.0337j, 0.9),
    "zigzag": (95, 266, 328.9202 + 352.0473j, 28.5),
    "arc": (35, 1563, 816.2495 - 405.5348j, 10.5),
    "polyline": (1, 170, -34.6974 + 163.4065j, 0.3),
    "stroke": (17, 87, 14.6982 - 0.6963j, 5.1),
    "speed": (49, 127, 134.3972 + 23.2809j, 16.1385),
}


def join(moves: list[Move]) -> list[complex]:
    return [point for move in moves for point in move.points]


def measure(moves: list[Move]) -> float:
    """The lit length, m."""
    return sum(abs(b - a) for move in moves for a, b in pairwise(move.points))


@EVERY
@pytest.mark.parametrize("seed", range(6))
def test_a_path_of_a_family_is_as_long_as_asked_for_and_stays_in_the_scan_area(name: str, seed: int) -> None:
    moves = draw_family(name, seed, 0.05, SPEED)
    assert measure(moves) > 0.05
    assert measure(moves[:-1]) <= 0.05
    assert max(max(abs(z.real), abs(z.imag)) for z in join(moves)) <= HALF_WIDTH * (1 + 1e-12)
    assert [move.line for move in moves] == list(range(1, len(moves) + 1))
    assert all(move.lit for move in moves)


@EVERY
def test_a_longer_path_of_the_same_seed_begins_with_the_shorter_one(name: str) -> None:
    short, long = (find_path(f"{name}:3", ticks=ticks) for ticks in (100, 200))
    np.testing.assert_allclose(long.positions[:101], short.positions, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(long.lit[:100], short.lit)


@EVERY
def test_a_seed_names_one_path_for_good(name: str) -> None:
    moves = draw_family(name, 7, 0.03, SPEED)
    points = join(moves)
    count, corners, centre, speeds = PINNED[name]
    assert (len(moves), len(points)) == (count, corners)
    assert 1e3 * sum(points) == pytest.approx(centre, abs=1e-3)
    assert sum(move.speed for move in moves) == pytest.approx(speeds, abs=1e-4)


@EVERY
def test_only_islands_and_strokes_jump(name: str) -> None:
    jumps = [b.points[0] - a.points[-1] for a, b in pairwise(draw_family(name, 5, 0.05, SPEED))]
    assert any(abs(jump) > 1e-9 for jump in jumps) == (name in JUMPING)


@EVERY
def test_only_one_family_changes_its_speed(name: str) -> None:
    paces = np.array([move.speed / SPEED for move in draw_family(name, 5, 0.2, SPEED)])
    if name == "speed":
        assert 0.6 <= paces.min() < 0.65
        assert 1.45 < paces.max() <= 1.5
    else:
        np.testing.assert_allclose(paces, 1.0)


def test_arcs_follow_each_other_without_a_corner_but_for_straight_lines_to_the_centre() -> None:
    legs = np.diff(join(draw_family("arc", 4, 0.05, SPEED)))
    legs = legs[np.abs(legs) > 1e-9]
    turns = np.abs(np.angle(legs[1:] / legs[:-1]))
    curved = np.abs(legs) <= 2e-5 * (1 + 1e-9)
    assert turns[curved[1:] & curved[:-1]].max() < 2e-5 / 0.12e-3 * 1.01  # of a chord on the smallest radius
    assert 0.9 < curved.mean() < 1.0


def test_a_raster_runs_back_over_its_lines() -> None:
    there, back, *_ = draw_family("raster", 2, 0.1, SPEED)
    assert list(back.points) == list(there.points)[::-1]


def test_hatch_lines_run_to_and_fro_about_the_centre() -> None:
    lines = np.array(hatch_lines(2e-3, 1e-3, 0.24e-3))
    assert lines.shape == (5, 2)
    np.testing.assert_allclose(np.diff(lines.imag[:, 0]), 0.25e-3)
    np.testing.assert_allclose(lines.sum(), 0.0, atol=1e-12)
    np.testing.assert_allclose((lines[:, 1] - lines[:, 0]).real, [2e-3, -2e-3, 2e-3, -2e-3, 2e-3])
    assert len(hatch_lines(1e-3, 1e-4, 1e-3)) == 2


def test_another_family_is_refused() -> None:
    with pytest.raises(BadInput, match=r"a family must be one of raster, .*, speed, but got 'knot'"):
        draw_family("knot", 0, 0.01, SPEED)


@pytest.mark.parametrize("name", ["island", "zigzag", "speed"])
def test_a_family_and_a_seed_name_a_path(name: str) -> None:
    path = find_path(f"{name}:7", ticks=400)
    assert len(path) == 400
    assert path.lit.all() == (name != "island")
    assert np.abs(path.positions).max() <= HALF_WIDTH * (1 + 1e-12)


def test_the_jumps_of_a_family_take_the_time_that_their_speed_gives_them() -> None:
    slow, usual = (
        find_path("island:1", ticks=400, placement=Placement(jump_speed=speed)) for speed in (0.1, 1.0)
    )
    assert np.count_nonzero(~slow.lit) > 3 * np.count_nonzero(~usual.lit) > 0
    assert np.hypot(*slow.velocities[:-1][~slow.lit].T).max() < 0.2
