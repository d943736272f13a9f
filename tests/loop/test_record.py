"""Scores: each is the number its name promises, over the ticks that count on its side."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.control.controller import Status
from laserloop.loop.record import Run, score, series_of, spread
from laserloop.paths import ScanPath
from laserloop.predict.twin import Counted
from laserloop.process import Process

WINDOW = (760.0, 800.0)


def make(
    t_max: list[float],
    predicted: list[float] | None = None,
    power: list[float] | None = None,
    *,
    lit: list[bool] | None = None,
    counted: Counted | None = None,
    subgrid: bool = False,
) -> Run:
    n = len(t_max)
    truth = np.array(t_max)
    path = ScanPath(name="p", positions=np.zeros((n + 1, 2)), lit=np.array(lit or [True] * n))
    return Run(
        path="p",
        controller="c",
        plant="paper",
        process=Process(),
        subgrid=subgrid,
        lit=path.lit,
        counted=counted or Counted(path.counted, path.counted),
        t=np.linspace(1.25e-4, n * 1.25e-4, n),
        positions=np.stack((1e-3 * np.arange(n), np.zeros(n)), axis=1),
        power=np.array(power or [14.0] * n),
        t_node=truth - 10.0 * subgrid,
        t_peak=truth + 10.0 * (not subgrid),
        measured=truth,
        predicted=np.full(n, np.nan) if predicted is None else np.array(predicted),
        statuses=(Status.SOLVED,) * (n - 1) + (Status.BLIND,),
        iterations=np.arange(n),
        solve_s=np.full(n, 1e-3),
        wall_s=np.full(n, 2e-3),
    )


HEATING = [900.0] * 10  # before the settled ticks: must not count on the paper's plant


def test_on_the_papers_plant_only_settled_ticks_count() -> None:
    found = score(make([*HEATING, 780.0, 805.0, 802.0, 750.0]), WINDOW)
    assert found["settled_from"] == 10
    assert found["t_max_k"] == 805.0
    assert found["overshoot_k"] == 5.0
    assert found["n_over"] == 2
    assert found["over_ms"] == pytest.approx(0.25)
    assert found["below_fraction"] == 0.25
    assert found["deepest_below_k"] == 10.0


def test_the_peak_between_nodes_is_scored_beside_the_nodes() -> None:
    found = score(make([*HEATING, 780.0, 795.0]), WINDOW)
    assert found["n_over"] == 0
    assert found["peak"]["n_over"] == 1
    assert found["peak"]["t_max_k"] == 805.0


def test_on_a_plant_whose_own_reading_is_the_peak_that_is_what_counts() -> None:
    found = score(make([*HEATING, 780.0, 805.0], [0.0] * 10 + [781.0, 800.0], subgrid=True), WINDOW)
    assert found["residual_max_k"] == 5.0
    assert found["worst_residual"]["residual_k"] == -5.0
    assert (found["reading"], found["t_max_k"], found["n_over"]) == ("peak", 805.0, 1)
    assert found["peak"]["t_max_k"] == 805.0
    assert (found["node"]["t_max_k"], found["node"]["n_over"]) == (795.0, 0)
    assert series_of(make([700.0], subgrid=True))["t_true_k"] == [700.0]


def test_after_a_dark_stretch_settling_is_counted_anew() -> None:
    lit = [True] * 12 + [False] * 3 + [True] * 12
    truth = [900.0] * 10 + [790.0, 791.0] + [999.0] * 3 + [900.0] * 10 + [805.0, 780.0]
    found = score(make(truth, lit=lit), WINDOW)
    assert (found["n_over"], found["t_max_k"], found["settled_from"]) == (1, 805.0, 10)
    series = series_of(make(truth, lit=lit))
    assert series["counts_above"] == series["counts_below"] == [k in (10, 11, 25, 26) for k in range(27)]


def test_elsewhere_the_first_lit_tick_counts_above_and_below_what_could_have_been_reached() -> None:
    lit = np.array([True] * 3 + [False] + [True] * 3)
    below = np.array([False, True, True, False, False, False, True])
    truth = [700.0, 750.0, 780.0, 999.0, 810.0, 740.0, 790.0]
    predicted = [702.0, 750.0, 780.0, 0.0, 780.0, 740.0, 790.0]
    power = [20.0, 10.0, 10.0, 0.0, 20.0, 10.0, 10.0]
    run = make(truth, predicted, power, lit=lit.tolist(), counted=Counted(lit, below), subgrid=True)
    found = score(run, WINDOW)
    assert found["settled_from"] == 0
    assert (found["t_max_k"], found["n_over"], found["overshoot_k"]) == (810.0, 1, 10.0)
    assert (found["t_min_k"], found["deepest_below_k"]) == (750.0, 10.0)
    assert found["below_fraction"] == 1 / 3
    assert found["starts"] == found["peak"]["starts"] == {"over_k": 10.0, "ticks_to_floor": 3}
    assert found["node"]["starts"]["over_k"] == 0.0
    assert found["residual_max_k"] == 30.0  # a wrong prediction of the first lit tick is one
    assert found["worst_residual"]["residual_k"] == -30.0
    assert found["power_mean_w"] == pytest.approx(80 / 6)
    assert series_of(run)["counts_below"] == below.tolist()


def test_windows_that_changed_are_scored_as_they_were() -> None:
    lit = np.ones(3, np.bool_)
    run = replace(
        make([780.0, 780.0, 780.0], counted=Counted(lit, lit)),
        windows=np.array([[700.0, 740.0], [np.nan, np.nan], [790.0, 800.0]]),
    )
    found = score(run, WINDOW)
    assert (found["n_over"], found["overshoot_k"]) == (1, 40.0)
    assert (found["below_fraction"], found["deepest_below_k"]) == (1 / 3, 10.0)


def test_a_bound_that_is_kept_has_no_overshoot() -> None:
    found = score(make([*HEATING, 780.0, 790.0]), WINDOW)
    assert found["overshoot_k"] == 0.0
    assert found["deepest_below_k"] == 0.0


def test_the_residual_is_prediction_minus_truth_with_its_place() -> None:
    found = score(make([*HEATING, 780.0, 790.0], [0.0] * 10 + [783.0, 786.0]), WINDOW)
    assert found["residual_mean_k"] == pytest.approx(-0.5)
    assert found["residual_rms_k"] == pytest.approx(np.sqrt((9 + 16) / 2))
    assert found["residual_max_k"] == 4.0
    assert found["worst_residual"] == {
        "residual_k": -4.0,
        "t_ms": pytest.approx(1.5),
        "x_mm": pytest.approx(11.0),
        "y_mm": 0.0,
    }


def test_a_controller_that_predicts_nothing_has_no_residual() -> None:
    found = score(make([*HEATING, 780.0]), WINDOW)
    assert found["residual_rms_k"] is None
    assert found["worst_residual"] is None
    assert series_of(make([700.0]))["t_predicted_k"] == [None]


def test_power_steps_count_the_step_into_the_first_settled_tick() -> None:
    found = score(make([*HEATING, 780.0, 780.0], power=[10.0] * 10 + [12.0, 13.0]), WINDOW)
    assert found["power_mean_w"] == 12.5
    assert found["power_step_mean_w"] == 1.5


def test_statuses_are_counted_as_sentences() -> None:
    found = score(make([780.0, 780.0, 780.0]), WINDOW)
    assert found["statuses"] == {"solved": 2, str(Status.BLIND): 1}
    assert found["settled_from"] == 0
    assert found["solve_ms"]["median"] == pytest.approx(1.0)
    assert found["tick_ms"]["max"] == pytest.approx(2.0)


def test_times_are_told_by_their_median_mean_and_tail() -> None:
    values = np.append(np.arange(100.0), 200.0)
    assert spread(values) == {"median": 50.0, "mean": 5150 / 101, "p95": 95.0, "p99": 99.0, "max": 200.0}
    assert set(spread(np.empty(0)).items()) == {(name, 0.0) for name in spread(values)}
