"""Scenarios: what is charged is late, and what is known is compensated."""

from pathlib import Path

from laserloop.papers.halilovic.study.scenarios import Scenario, list_scenarios, run_scenario


def test_an_answer_that_takes_three_ticks_is_late_twice_of_three_times(tmp_path: Path) -> None:
    found = run_scenario(
        Scenario(label="slow", controller="ipopt", solve_s=(3 * 125e-6,), ticks=30), tmp_path
    )
    assert found["statuses"] == {"deadline passed: previous plan shifted by one tick": 30}


def test_powers_of_a_plan_are_followed_between_questions(tmp_path: Path) -> None:
    found = run_scenario(Scenario(label="blocks", controller="ipopt", apply=3, ticks=30), tmp_path)
    assert found["statuses"]["solved"] == 10
    assert found["statuses"]["no new plan was due: the last one followed"] == 20


def test_a_late_image_hurts_less_when_its_age_is_known(tmp_path: Path) -> None:
    runs = [
        run_scenario(
            Scenario(label="late", controller="ipopt", delay=2, compensate=aware, ticks=30), tmp_path
        )
        for aware in (True, False)
    ]
    assert runs[0]["residual_rms_k"] < runs[1]["residual_rms_k"]


def test_every_scenario_has_a_name_of_its_own() -> None:
    labels = [scenario.label for scenario in list_scenarios((1e-2,), (1e-5,))]
    assert len(set(labels)) == len(labels) == 14
