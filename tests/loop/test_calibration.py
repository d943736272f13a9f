"""Calibration by closed-loop runs: what is drawn, how a run is scored, what is promised."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.loop.record import Run
from laserloop.loop.tune import Draws, calibrate_margins, find_margins_of, score_run
from laserloop.predict.twin import Counted
from laserloop.process import Process

HEATING = [500.0] * 10  # before the settled ticks


def make_run(t_max: list[float], predicted: list[float]) -> Run:
    n = len(t_max)
    lit = np.ones(n, np.bool_)
    return Run(
        path="line",
        controller="twin",
        plant="graded",
        process=Process(),
        subgrid=True,
        t=np.arange(n, dtype=np.float64),
        positions=np.zeros((n, 2)),
        lit=lit,
        counted=Counted(lit, lit),
        power=np.ones(n),
        t_node=np.zeros(n),
        t_peak=np.array(t_max),
        measured=np.full(len(predicted), np.nan),
        predicted=np.array(predicted),
        statuses=(Status.SOLVED,) * n,
        iterations=np.ones(n, np.intp),
        solve_s=np.zeros(n),
        wall_s=np.zeros(n),
    )


def test_a_run_is_scored_by_its_worst_settled_ticks_on_either_side() -> None:
    run = make_run([*HEATING, 783.0, 776.0, 780.0], [*[700.0] * 10, 780.0, 781.0, np.nan])
    assert score_run(run) == (3.0, 5.0)


def test_runs_that_say_nothing_are_refused() -> None:
    silent = make_run([780.0, 780.0], [np.nan, np.nan])
    with pytest.raises(BadInput, match="made none"):
        score_run(silent)
    with pytest.raises(BadInput, match="must be whole"):
        score_run(replace(silent, ending="the plant stopped at tick 3"))


def test_draws_are_the_same_for_a_number_and_differ_between_numbers() -> None:
    draws = Draws(process=Process(), spread=(("absorptivity", 0.1), ("conductivity", 0.05)))
    cases = [draws.draw(number) for number in range(40)]
    assert cases == [draws.draw(number) for number in range(40)]
    assert len({case.path for case in cases}) == 40
    assert len({case.path_name.partition(":")[0] for case in cases}) > 5
    off = np.array([[dict(case.mismatch)[name] for name, _ in draws.spread] for case in cases])
    assert (abs(off - 1.0) <= (0.1, 0.05)).all()
    assert (abs(off - 1.0).max(axis=0) > (0.07, 0.035)).all()
    assert len({case.process.camera.seed for case in cases}) == 40
    assert cases != [replace(draws, seed=1).draw(number) for number in range(40)]


def test_too_few_runs_promise_nothing() -> None:
    with pytest.raises(BadInput, match="needs 19 of them, got 18"):
        find_margins_of([(1.0, 1.0)] * 18, 0.95)
    assert find_margins_of([(k, -k) for k in range(19)], 0.95).above == 18.0
    assert find_margins_of([(k, -k) for k in range(19)], 0.95).below == 0.0


def test_a_calibration_closes_real_loops_and_counts_them() -> None:
    told: list[tuple[int, int]] = []
    page = calibrate_margins(
        Draws(process=Process(), ticks=24),
        runs=2,
        level=0.5,
        progress=lambda done, of: told.append((done, of)),
    )
    assert told == [(1, 2), (2, 2)]
    above = sorted(score["above_k"] for score in page["scores"])
    assert page["margins"]["above_k"] == max(0.0, above[1])  # the second of two, by ⌈3 · 0.5⌉
    assert page["margins"]["runs"] == 2
