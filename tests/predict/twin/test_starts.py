"""Starts: a tick may lie below the floor only while full power could not have reached it."""

import numpy as np
import pytest

from laserloop.paths import ScanPath, find_path
from laserloop.paths.path import SETTLING_TICKS
from laserloop.plant import make_plant
from laserloop.predict.twin.starts import GRACE, find_counted, find_excused, score_starts
from laserloop.process import Process, find_process

TICKS = 60
POWER = np.full(TICKS, 10.0)


def make_path(dark: range = range(0), ticks: int = TICKS, process: Process | None = None) -> ScanPath:
    """A polyline with some dark ticks."""
    process = process or Process()
    path = find_path("polyline:5", process, ticks=ticks)
    return ScanPath(
        name=path.name,
        positions=path.positions,
        lit=~np.isin(np.arange(ticks), np.array(dark, dtype=int)),
        tick=path.tick,
    )


def drive_full_power(process: Process, path: ScanPath, start: int) -> int:
    """How many ticks of full power the plant needs from `start` on until it reaches the floor."""
    plant = make_plant("graded", process)
    plant.reset()
    for k in range(start):
        plant.step(POWER[k] if path.lit[k] else 0.0, path.spot(k))
    for k in range(start, len(path)):
        surface = plant.step(process.laser.power[1], path.spot(k))
        if plant.t_max(surface).temperature >= process.window[0]:
            return k - start + 1
    raise AssertionError("the plant did not reach the floor")


@pytest.mark.parametrize("name", ["304", "316", "in625"])
def test_from_rest_the_plant_reaches_the_floor_when_the_twin_says(name: str) -> None:
    process = find_process(name)
    path = make_path(process=process)
    needed = drive_full_power(process, path, 0)
    assert np.flatnonzero(find_excused(process, path, POWER)).tolist() == list(range(needed - 1 + GRACE))


@pytest.mark.parametrize(("dark", "watts"), [(2, 14.0), (5, 20.0), (20, 16.0), (20, 20.0)])
def test_the_heat_that_is_left_shortens_the_excuse(dark: int, watts: float) -> None:
    process = Process().change(**{"laser.power_w": (0.0, watts)})
    path = make_path(range(30, 30 + dark))
    needed = drive_full_power(process, path, 30 + dark)
    excused = find_excused(process, path, POWER)
    assert np.flatnonzero(excused[30:]).tolist() == list(range(dark, dark + needed - 1 + GRACE))


def test_light_that_comes_back_within_a_tick_starts_anew() -> None:
    """The beam jumps to a cold place in the dark 40 % of a tick; full power needs its time there, too."""
    process, hop = Process(), 38e-6
    x = np.arange(61) * hop
    y = np.where(np.arange(61) > 30, 1e-3, 0.0)
    shares = np.where(np.arange(60) == 30, 0.6, 1.0)
    jumping, straight = (
        ScanPath(name="jump", positions=np.stack((x, way), axis=1), lit=np.ones(60, bool), shares=part)
        for way, part in ((y, shares), (0.0 * y, None))
    )
    excused = find_excused(process, jumping, POWER)
    assert excused[30:33].all()
    assert not excused[34:].any()
    assert not find_excused(process, straight, POWER)[10:].any()


def test_only_lit_ticks_are_excused_and_short_stretches_whole() -> None:
    path = make_path(range(1, 40, 2))
    excused = find_excused(Process(), path, POWER)
    assert not (excused & ~path.lit).any()
    assert excused[0:40:2].all()
    assert not excused[40 + GRACE :].any()


def test_what_was_not_driven_is_not_judged_and_a_dark_path_has_no_start() -> None:
    assert find_excused(Process(), make_path(), POWER[:7]).tolist() == [True] * 3 + [False] * 4
    assert not find_excused(Process(), make_path(range(TICKS)), POWER).any()
    assert not len(find_excused(Process(), make_path(), []))


def test_a_laser_that_is_too_weak_is_excused_for_the_spots_diffusion_time() -> None:
    weak = Process().change(**{"laser.power_w": (0.0, 5.0)})
    excused = find_excused(weak, make_path(), POWER)
    assert np.flatnonzero(excused).tolist() == list(range(22))  # σ²/α = 2.7 ms
    slow = weak.change(tick_us=1000)
    assert find_excused(slow, make_path(process=slow), POWER).sum() == SETTLING_TICKS


def test_a_wide_spot_may_take_hundreds_of_ticks() -> None:
    process = Process().change(**{"beam.sigma_um": 1000, "laser.power_w": (0.0, 160.0), "speed_mm_s": 20})
    path = make_path(ticks=800, process=process)
    found = find_excused(process, path, np.zeros(800))
    needed = int(found.sum()) - GRACE
    assert found[: needed + GRACE].all()
    assert SETTLING_TICKS < needed < 800 - GRACE
    rows = [find_excused(process, path.truncated(n), np.zeros(n)).sum() for n in (needed, needed + GRACE + 5)]
    assert rows == [needed, needed + GRACE]  # where the path ends changes nothing before


def test_a_floor_of_its_own_for_each_tick() -> None:
    floor = np.where(np.arange(TICKS) < 30, 1100.0, 500.0)
    excused = find_excused(Process(), make_path(range(28, 30)), POWER, floor)
    assert excused[:28].sum() > 5
    assert np.flatnonzero(excused[30:]).tolist() == list(range(GRACE))


def test_a_lag_of_the_laser_lengthens_the_excuse() -> None:
    counts = [find_excused(Process().change(lag_us=lag), make_path(), POWER).sum() for lag in (0, 300)]
    assert counts[0] < counts[1]


def test_summed_up_old_heat_excuses_as_if_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = 1500
    lit = np.arange(ticks) % 60 >= 6
    path = ScanPath(name="hatch", positions=find_path("vertical", ticks=ticks).positions, lit=lit)
    process = Process().change(**{"laser.power_w": (0.0, 13.0)})
    found = find_excused(process, path, np.full(ticks, 9.0))
    monkeypatch.setattr("laserloop.predict.twin.starts.OLDER", {})
    np.testing.assert_array_equal(found, find_excused(process, path, np.full(ticks, 9.0)))


def test_a_path_of_which_every_lit_tick_is_excused_is_judged_whole() -> None:
    path = make_path(range(1, TICKS, 2))
    counted = find_counted(Process(), path, POWER)
    np.testing.assert_array_equal(counted.above, path.lit)
    np.testing.assert_array_equal(counted.below, path.lit)
    long = find_counted(Process(), make_path(), POWER)
    assert long.above.all()
    assert np.flatnonzero(~long.below).tolist() == [0, 1, 2]


def test_starts_are_told_by_their_worst() -> None:
    lit = np.array([True] * 14 + [False] + [True] * 3)
    below = lit & ~np.isin(np.arange(18), [0, 1, 15, 16])
    low, high = np.full(18, 760.0), np.full(18, 800.0)
    T = np.full(18, 780.0)
    T[[0, 11, 15]] = 700.0, 900.0, 650.0
    assert score_starts(T, lit, below, low, high) == {"over_k": 0.0, "ticks_to_floor": 2}
    T[[9, 14, 16]] = 803.0, 999.0, 801.0  # what the dark tick ends at is nobody's
    assert score_starts(T, lit, below, low, high) == {"over_k": 3.0, "ticks_to_floor": 2}
    T[15:] = 700.0
    assert score_starts(T, lit, below, low, high)["ticks_to_floor"] is None
    below[15:] = False  # too short to be judged
    assert score_starts(T, lit, below, low, high)["ticks_to_floor"] == 2
    dark = np.zeros(18, np.bool_)
    assert score_starts(T, dark, dark, low, high) == {"over_k": 0.0, "ticks_to_floor": None}
