"""Standings: gaps, intervals and order, from rows alone."""

from typing import Any

import numpy as np
import pytest

from laserloop.loop.record import COMPLETED
from laserloop.studies.arena.leaderboard import draw_standings
from laserloop.studies.arena.ranking import add_gaps, draw_interval, rank, time_all
from laserloop.studies.arena.scores import Row, clock_record, score_record
from laserloop.studies.arena.tasks import Task


def row(entrant: str, seed: int, rms: float, level: str = "off", **other: Any) -> Row:
    task = Task(family="arc", level=level, seed=seed)
    named = {"family": "arc", "seed": seed, "level": level, "task": task.name, "entrant": entrant}
    counts = {"outside": 1, "ticks": 10, "clipped": 0, "refused": 0, "completed": True}
    means = {"outside_fraction": 0.1, "below_fraction": 0.0, "step_mean_w": 0.2, "energy_mj": 5.0}
    scores = {"rms_k": rms, "charged_rms_k": rms, "above_k": rms, "below_k": 0.0, "excursion_k": rms}
    return named | counts | means | scores | other


def test_the_gap_is_the_distance_to_the_informed_twin_on_the_same_task() -> None:
    rows = add_gaps(
        [
            *(row("twin-informed", 30_000, 1.0), row("pi", 30_000, 5.0), row("twin", 30_000, 2.0)),
            row("pi", 30_001, 9.0),
        ]
    )
    assert [r["gap_k"] for r in rows] == [0.0, 4.0, 1.0, None]
    assert [r["to_twin_k"] for r in rows] == [-1.0, 3.0, 0.0, None]


def test_who_does_better_than_the_informed_twin_has_a_gap_below_zero() -> None:
    rows = add_gaps([row("twin-informed", 30_000, 2.0), row("ilc", 30_000, 0.5), row("twin", 30_000, 3.0)])
    assert [r["gap_k"] for r in rows] == [0.0, -1.5, 1.0]


def test_ranks_are_of_runs_with_the_time_of_decisions_charged() -> None:
    quick, slow = row("pi", 30_000, 5.0), row("slow", 30_000, 2.0, charged_rms_k=200.0)
    standings = rank([slow, quick])
    assert list(standings) == ["pi", "slow"]
    assert (standings["slow"]["all"]["rms_k"], standings["slow"]["all"]["rms_mean_k"]) == (2.0, 200.0)


def test_the_nearest_to_the_informed_twin_comes_first_and_who_has_no_gap_last() -> None:
    rows = [
        *(row("pi", 30_000 + k, 5.0 + k) for k in range(3)),
        *(row("twin", 30_000 + k, 2.0) for k in range(3)),
        *(row("twin-informed", 30_000 + k, 1.0) for k in range(3)),
        row("lonely", 30_007, 0.5),
    ]
    standings = rank(rows)
    assert list(standings) == ["twin-informed", "twin", "pi", "lonely"]
    pi = standings["pi"]["all"]
    assert pi["gap_mean_k"] == pytest.approx(5.0)
    assert pi["gap_worst_k"] == pytest.approx(6.0)
    assert pi["gap_worst_task"] == "arc-304-off-v1:30002"
    assert pi["gap_low_k"] is None
    assert standings["lonely"]["all"]["gap_mean_k"] is None


def test_without_the_bound_the_picture_shows_rms_with_its_interval() -> None:
    standings = rank([row("pi", 30_000 + k, 5.0 + k) for k in range(6)])
    pi = standings["pi"]["off"]
    assert (
        pi["rms_low_k"]
        < pi["rms_mean_k"]
        == pi["rms_k"]
        == 7.5
        < pi["rms_high_k"]
        < pi["rms_worst_k"]
        == 10.0
    )
    (axes,) = draw_standings(standings).axes
    assert axes.get_xlabel() == "RMS from the middle, K"
    drawn = [tuple(np.atleast_1d(line.get_xdata())) for line in axes.lines]
    assert (pi["rms_low_k"], pi["rms_high_k"]) in drawn


def test_levels_are_told_apart() -> None:
    rows = [row("pi", 30_000, 5.0), row("pi", 30_000, 7.0, "hard")]
    standings = rank(rows)["pi"]
    assert (standings["off"]["rms_k"], standings["hard"]["rms_k"]) == (5.0, 7.0)
    assert standings["all"]["rms_k"] == 6.0
    assert standings["all"]["paths"] == 1


def test_an_interval_covers_the_mean_of_new_paths_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        low, high = draw_interval(rng.normal(3.0, 1.0, 40).tolist(), [str(k) for k in range(40)])
        assert low is not None
        assert high is not None
        hits += low <= 3.0 <= high
    assert 0.88 <= hits / 200 <= 0.99


def test_a_few_paths_have_no_interval() -> None:
    assert draw_interval([1.0, 2.0, 3.0, 4.0], ["a", "b", "c", "d"]) == (None, None)
    low, high = draw_interval([1.0, 2.0, 3.0, 4.0, 5.0], ["a", "b", "c", "d", "e"])
    assert low is not None
    assert high is not None
    assert 1.0 < low < 3.0 < high < 5.0


def test_values_of_one_path_count_as_one() -> None:
    rng = np.random.default_rng(2)
    paths = rng.normal(0.0, 1.0, 20)
    apart = draw_interval(paths.tolist(), [str(k) for k in range(20)])
    thrice = draw_interval(np.repeat(paths, 3).tolist(), [str(k) for k in range(20) for _ in range(3)])
    assert thrice == pytest.approx(apart)


def test_the_same_rows_give_the_same_interval() -> None:
    values = np.random.default_rng(3).normal(size=15).tolist()
    groups = [str(k) for k in range(15)]
    assert draw_interval(values, groups) == draw_interval(values, groups)


def record(T: list[float], **other: Any) -> dict[str, Any]:
    n = len(T)
    return {
        "task": Task(family="arc", seed=30_000, ticks=14).name,
        "entrant": "pi",
        "window_k": [760.0, 800.0],
        "process": {"tick_us": 125.0, "camera": {"delay_ticks": 0}},
        "statuses": {},
        "residual_rms_k": None,
        "power_step_mean_w": 0.1,
        "clipped": 0,
        "ending": COMPLETED,
        "series": {
            "t_true_k": T,
            "t_predicted_k": [None] * n,
            "t_measured_k": T,
            "counts_above": [True] * n,
            "counts_below": [k >= 10 for k in range(n)],
            "lit": [True] * n,
            "power_w": [8.0] * n,
            "tick_ms": [0.1] * (n - 1) + [0.2],
        },
    } | other


def test_a_row_holds_what_the_ticks_were_that_count() -> None:
    found = score_record(record([0.0] * 10 + [780.0, 790.0, 810.0, 750.0]))
    old = record([900.0] * 10 + [780.0, 790.0, 810.0, 750.0])
    masks = ("counts_above", "counts_below")
    old["series"] = {name: column for name, column in old["series"].items() if name not in masks}
    old["series"]["settled"] = [k >= 10 for k in range(14)]
    assert score_record(old) == found | {"residual_rms_k": None}  # in an older run no start counts
    assert found["ticks"] == 4
    assert found["outside"] == 2
    assert found["above_k"] == 10.0
    assert found["below_k"] == 10.0
    assert found["below_fraction"] == 0.25
    assert found["excursion_k"] == 30.0
    assert found["rms_k"] == pytest.approx(np.sqrt((100 + 900 + 900) / 4))
    assert found["energy_mj"] == pytest.approx(14 * 8.0 * 0.125)


def test_a_start_that_is_too_hot_counts_in_everything() -> None:
    found = score_record(record([1384.0] + [0.0] * 9 + [780.0] * 4))
    assert (found["ticks"], found["outside"], found["outside_fraction"]) == (5, 1, 0.2)
    assert (found["above_k"], found["below_k"], found["below_fraction"]) == (584.0, 0.0, 0.0)
    assert found["excursion_k"] == 604.0
    assert found["rms_k"] == pytest.approx(604.0 / np.sqrt(5))


def test_ticks_that_were_not_done_count_as_a_cold_plate() -> None:
    found = score_record(record([780.0] * 12, ending="the plant stopped at tick 12: no idea"))
    assert found["ticks"] == 4
    assert found["outside"] == 2
    assert not found["completed"]
    assert found["excursion_k"] == 480.0


def test_a_decision_longer_than_the_tick_misses_its_deadline() -> None:
    clock = clock_record(record([780.0] * 20))
    assert clock["missed_fraction"] == pytest.approx(1 / 20)
    assert clock["decision_p50_us"] == pytest.approx(100.0)
    assert time_all([clock])["pi"]["missed_fraction"] == pytest.approx(1 / 20)
