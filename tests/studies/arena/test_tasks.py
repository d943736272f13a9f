"""Tasks: a name says everything, and splits never meet."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths.shapes import FAMILIES
from laserloop.studies.arena.tasks import (
    HARD,
    LEVELS,
    MACHINE,
    NOMINAL,
    OFF,
    PROCESSES,
    SPLITS,
    Task,
    find_task,
    list_tasks,
)


def test_a_task_is_found_again_by_its_name() -> None:
    for task in (
        Task(family="hairpin", process="ti64", level="hard", seed=30_007),
        Task(family="arc", seed=10_000, ticks=80),
    ):
        assert find_task(task.name) == task


@pytest.mark.parametrize(
    "name",
    [
        "hairpin",
        "hairpin-304-off-v1",
        "hairpin-304-off-v2:30000",
        "hairpin-304-off-v1:3",
        "loop-304-off-v1:30000",
        "hairpin-copper-off-v1:30000",
        "hairpin-304-wild-v1:30000",
        "hairpin-304-off-v1:30000@x",
        "hairpin-304-off-v1:30000@0",
    ],
)
def test_a_name_that_means_nothing_is_refused(name: str) -> None:
    with pytest.raises(BadInput):
        find_task(name)


def test_no_seed_is_in_two_splits_nor_among_those_used_before() -> None:
    seeds = [set(some) for some in SPLITS.values()]
    assert not set.intersection(*seeds)
    assert sum(map(len, seeds)) == len(set.union(*seeds))
    assert min(map(min, seeds)) >= 10_000


def test_a_longer_list_begins_with_the_shorter_and_takes_the_families_in_turn() -> None:
    short, long = list(list_tasks(paths=10)), list(list_tasks(paths=25))
    assert long[: len(short)] == short
    assert {task.family for task in short} == set(FAMILIES)
    assert {task.split for task in long} == {"held-out"}
    assert [task.seed for task in long[:: len(LEVELS)]] == [40_000] * 10 + [40_001] * 10 + [40_002] * 5
    assert len(short) == 10 * len(LEVELS)


def test_all_levels_of_a_path_run_along_the_same_way() -> None:
    paths = {task.make_case().path for task in list_tasks(paths=1, processes=PROCESSES)}
    assert paths == {"raster:40000"}


def test_the_level_off_changes_nothing() -> None:
    case = Task(family="star", seed=30_000).make_case()
    assert case.mismatch == ()
    assert case.faults == ()
    assert case.process.camera.noise == 0.0


def test_a_level_draws_the_same_for_the_same_task_and_another_for_another() -> None:
    def draw(seed: int, level: str) -> object:
        return Task(family="star", level=level, seed=seed).make_case()

    assert draw(30_000, "hard") == draw(30_000, "hard")
    assert draw(30_000, "hard") != draw(30_001, "hard")
    assert draw(30_000, "hard") != draw(30_000, "nominal")


@pytest.mark.parametrize("level", [NOMINAL, HARD, MACHINE])
def test_draws_stay_within_their_level_and_use_its_width(level: object) -> None:
    assert isinstance(level, type(OFF))
    cases = [Task(family="arc", level=level.name, seed=seed).make_case() for seed in range(30_000, 30_100)]
    drawn = {name: np.array([dict(case.mismatch)[name] for case in cases]) for name, _ in cases[0].mismatch}
    for name, share in (("absorptivity", level.absorptivity), ("heat-capacity", level.heat_capacity)):
        off = drawn[name] - 1.0
        assert np.abs(off).max() <= share
        assert off.max() > 0.9 * share
        assert off.min() < -0.9 * share
    low, high = level.lag_us
    assert low <= drawn["laser-lag-us"].min() < drawn["laser-lag-us"].max() <= high
    assert len({case.process.camera.seed for case in cases}) == len(cases)
    outages = {fault.first for case in cases for fault in case.faults if fault.ticks == level.outage_ticks}
    assert len(outages) > 30 if level.outage_ticks else not outages


def test_a_machine_is_off_by_no_more_than_its_level_says_and_by_as_much() -> None:
    errors = [Task(family="arc", level="machine", seed=seed).misplace() for seed in range(40_000, 40_200)]
    known = [error for error in errors if error is not None]
    far = np.array([np.hypot(*error.image) for error in known])
    late = np.array([error.scanner for error in known])
    assert len(known) == 200
    assert 48e-6 < far.max() <= 50e-6
    assert 0.0 <= late.min() < 5e-6
    assert 120e-6 < late.max() <= 125e-6
    assert {error.stamp for error in known} == {-1, 0, 1}
    assert Task(family="arc", level="hard", seed=40_000).misplace() is None


def test_tasks_of_before_are_still_found_but_are_not_held_out() -> None:
    assert find_task("arc-304-hard-v1:30001").split == "former"
    assert find_task("arc-304-hard-v1:40001").split == "held-out"
