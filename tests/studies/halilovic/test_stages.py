"""Stages at their smallest: what they list, what they leave, what they conclude."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from laserloop.bad_input import BadInput
from laserloop.predict.training import FitSettings
from laserloop.studies.halilovic import stages
from laserloop.studies.halilovic.cases import (
    GRADED,
    PAPER,
    QUICK,
    Line,
    list_lines,
    list_table_2,
    list_table_3,
)
from laserloop.studies.halilovic.measures import judge_plants, run_line
from laserloop.studies.halilovic.stages import Folder

ONE = FitSettings(max_epochs=1, halve_after=1, patience=1)
TINY = replace(QUICK, runs=2, protocol=ONE, short=ONE, realisations=1, ticks=12, seeds=(), corners=())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Both ensembles and the two deployed models, made by the tasks themselves."""
    made = Folder(root=tmp_path_factory.mktemp("reproduction"), size=TINY)
    for task in stages.list_ensembles_tasks(made):
        task.function(*task.arguments)
    for task in stages.list_trainings_tasks(made):
        if task.arguments[0].name.startswith("paper-"):
            task.function(*task.arguments)
    return made


def test_ensembles_are_made_once(folder: Folder) -> None:
    assert all(task.done for task in stages.list_ensembles_tasks(folder))
    found = stages.conclude_ensembles(folder)["ensembles"]
    assert set(found) == {"base-fixed", "corner-fixed"}
    assert {store["episodes"] for store in found.values()} == {2}
    assert {store["windows"] for store in found.values()} == {2 * 395}
    assert found["base-fixed"]["data_hash"] != found["corner-fixed"]["data_hash"]


def test_trainings_are_those_of_the_recipes_and_are_seen_while_they_run(folder: Folder) -> None:
    tasks = stages.list_trainings_tasks(folder)
    assert {task.arguments[0].name for task in tasks if task.done} == {"paper-base", "paper-corner"}
    dearer = sum(cost - 1.0 for cost in stages.COSTS.values())
    assert stages.measure_progress(folder) == pytest.approx(2 / (len(tasks) + dearer))
    assert {*stages.COSTS, *stages.USUAL_EPOCHS} <= {task.arguments[0].name for task in tasks}


def test_a_margin_is_calibrated_on_what_was_held_out(folder: Folder) -> None:
    for task in stages.list_calibration_tasks(folder):
        assert not task.done
        task.function(*task.arguments)
    assert all(task.done for task in stages.list_calibration_tasks(folder))
    for name, content in stages.conclude_calibration(folder).items():
        folder.save(name, content)
    margin = stages.find_margin(folder)
    assert margin == round(margin, 1)
    assert folder.read("calibration")["paper-corner"]["windows"] == 158


def test_table_1_has_a_row_for_each_path_and_model(folder: Folder) -> None:
    tasks = stages.list_offline_tasks(folder)
    assert len(tasks) == 4 * 3
    tasks[0].function(*tasks[0].arguments)
    assert stages.list_offline_tasks(folder)[0].done


def test_the_same_run_in_two_tables_is_done_once() -> None:
    entries = [entry.case for entry in list_table_2(models=("a", "b"), ticks=12)]
    entries += [entry.case for entry in list_table_3({"N_h = 5": "b"}, ticks=12)]
    assert len(set(entries)) == len(entries) - 2  # the corner model without a margin on two paths


def test_no_clock_is_left_in_a_record() -> None:
    record = {
        "label": "corner",
        "path": "diagonal",
        "controller": "ipopt",
        "n_over": 2,
        "solve_ms": {"mean": 1.0},
        "tick_ms": {"mean": 2.0},
        "series": {"power_w": [1.0], "solve_ms": [1.0], "tick_ms": [2.0]},
    }
    kept = stages.drop_clock(record, series=True)
    assert "_ms" not in json.dumps(kept)
    assert kept["series"] == {"power_w": [1.0]}
    assert "series" not in stages.drop_clock(record, series=False)
    (row,) = stages.list_clocks({"table_2": [record]})
    assert row["series_tick_ms"] == [2.0]
    assert row["tick_ms"] == {"mean": 2.0}


def test_models_of_other_data_are_refused(folder: Folder) -> None:
    other = Folder(root=folder.root, size=replace(TINY, short=ONE, protocol=replace(ONE, seed=3)))
    with pytest.raises(BadInput, match="must hold the model of the recipe paper-base"):
        stages.conclude_trainings(other)


def test_lines_of_the_plants_are_listed_longest_first_and_kept(tmp_path: Path) -> None:
    lines = list_lines((1, 2), ())
    assert (lines[0].plant, lines[0].parts) == (GRADED, 2)
    assert lines[-1].plant == PAPER
    assert len(stages.list_plant_tasks(Folder(root=tmp_path, size=TINY))) == len(lines)
    found = run_line(Line(plant=PAPER, angle=0), tmp_path)
    assert max(found["node"]) == pytest.approx(782.1, abs=0.1)  # as in FACTS: 766.8…782.1 K
    assert run_line(Line(plant=PAPER, angle=0), tmp_path) == found


def test_bias_and_ripple_are_taken_against_the_extrapolated_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drive(line: Line) -> dict[str, list[float]]:
        peak = 900.0 - 8.0 / line.parts**2 if line.plant == GRADED else 780.0  # an error of order 2
        return {"node": [peak - 20.0, peak - 10.0], "peak": [peak - 1.0, peak + 1.0]}

    monkeypatch.setattr("laserloop.studies.halilovic.measures._drive_line", drive)
    found = judge_plants(tmp_path, (1, 2, 4), ())
    assert found["reference"]["30"]["limit_k"] == pytest.approx(900.0)
    assert found["reference"]["30"]["order"] == pytest.approx(2.0)
    assert found["plants"][PAPER]["45"]["peak_bias_k"] == pytest.approx(-120.0)
    assert found["plants"][PAPER]["45"]["node_ripple_k"] == pytest.approx(10.0)
    assert len(found["distance_mm"]) == 24
