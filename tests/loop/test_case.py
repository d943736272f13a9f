"""Cases of closed loops: kept, found again, and printed beside the paper's."""

import json
from pathlib import Path

import numpy as np
import pytest

from laserloop.control.problem import MpcProblem
from laserloop.loop.case import LoopCase, choose_camera, run_case, tune_for
from laserloop.loop.tuning import price_of
from laserloop.papers.halilovic.study.loop_tables import (
    list_table_2,
    list_table_3,
)
from laserloop.papers.halilovic.study.published import TABLE_2, TABLE_3
from laserloop.paths import find_path
from laserloop.plant import make_plant
from laserloop.predict.networks import find_model


def test_a_run_is_kept_and_not_run_again(tmp_path: Path) -> None:
    case = LoopCase(path="diagonal", controller="pi", ticks=12)
    first = run_case(case, tmp_path)
    (kept,) = tmp_path.glob("runs/*/result.json")
    kept.write_text(json.dumps({**first, "overshoot_k": 123.0}))
    assert run_case(case, tmp_path)["overshoot_k"] == 123.0


def test_a_case_is_named_by_what_its_model_learned_not_by_its_folder() -> None:
    named = LoopCase(path="spiral", controller="ipopt", model="paper-corner").settings()
    assert named["model"] == find_model("paper-corner").provenance["identity"]


def test_the_tables_hold_every_row_of_the_paper() -> None:
    assert {(row.label, row.case.path) for row in list_table_2()} >= set(TABLE_2)
    models = dict.fromkeys(("N_h = 3", "N_h = 5", "N_h = 7", "N_h = 10", "SS-AR"), "paper-corner")
    assert {(row.label, row.case.path) for row in list_table_3(models)} == set(TABLE_3)


def test_a_camera_reads_as_the_model_learned() -> None:
    plant = make_plant("paper", find_path("spiral", ticks=1))
    assert not choose_camera(plant, find_model("paper-corner")).subgrid
    assert not choose_camera(plant, None).subgrid
    graded = make_plant("graded", find_path("spiral", ticks=1))
    assert choose_camera(graded, None).subgrid


def test_the_price_of_a_run_is_highest_above_the_window() -> None:
    problem = MpcProblem()

    inside, above, below = (price_of(np.full(5, t), problem) for t in (780.0, 810.0, 750.0))
    assert inside == 0.0
    assert above == pytest.approx(3 * 10 + 0.2 * 30)
    assert below == pytest.approx(10 + 0.2 * 30)


def test_gains_are_tuned_for_a_laser_that_nobody_tuned_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laserloop.loop.tuning.EVALUATIONS", {"constant": 6, "pi": 5, "feedforward": 6})
    monkeypatch.setattr("laserloop.loop.case.TICKS", 20)
    problem = MpcProblem(window=(500.0, 540.0), power=(0.0, 12.0))
    gains = tune_for("paper", find_path("spiral", ticks=20), problem, material="ti64")
    assert 0.5 < gains.constant < 6.0
    assert 500.0 < gains.pi.setpoint < 540.0
