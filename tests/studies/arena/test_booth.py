"""Cheats: each is caught, or scored as it deserves."""

from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.loop.record import COMPLETED
from laserloop.studies.arena import sandbox
from laserloop.studies.arena.benchmark import Record, run_entrant
from laserloop.studies.arena.entrants import find_entrant
from laserloop.studies.arena.sandbox import enter_own, read_foresight
from laserloop.studies.arena.scores import clock_record, score_record
from laserloop.studies.arena.tasks import Task

TASK = Task(family="raster", seed=10_000, ticks=14)

HONEST = """
class Honest:
    def __init__(self, problem):
        self.power = 0.5 * problem.power[1]
    def act(self, image, preview):
        return self.power
"""
CHEATS = """
import gc, os, sys, time

class Peeker:
    def __init__(self, problem):
        pass
    def act(self, image, preview):
        frame, found = sys._getframe(), []
        while frame is not None:
            here = frame.f_locals.values()
            found += [v for v in here if type(v).__name__ in ("Plant", "Camera", "ClosedLoop")]
            frame = frame.f_back
        found += [o for o in gc.get_objects() if type(o).__name__ in ("Plant", "ClosedLoop", "Scenario")]
        return 20.0 if found else 10.0

class Greedy:
    def __init__(self, problem):
        self.answers = iter([float("nan"), 1e6, -5.0, None, "12", True] + 20 * [10.0])
    def act(self, image, preview):
        return next(self.answers)

class Vandal:
    def __init__(self, problem):
        self.power = 0.5 * problem.power[1]
    def act(self, image, preview):
        for holder, name in ((image, "temperature"), (image, "x"), (preview, "positions"), (preview, "lit")):
            array = getattr(holder, name)
            try:
                array.setflags(write=True)
                array[:] = 0
            except ValueError:
                object.__setattr__(holder, name, 0 * array)
        return self.power

class Raiser:
    def __init__(self, problem):
        pass
    def act(self, image, preview):
        raise ValueError("no idea")

class Sleeper:
    def __init__(self, problem):
        self.ticks = 0
    def act(self, image, preview):
        self.ticks += 1
        time.sleep(60.0 if self.ticks == 4 else 0.0)
        return 10.0

class Late:
    def __init__(self, problem):
        time.perf_counter = lambda: 0.0
    def act(self, image, preview):
        time.sleep(0.02)
        return 10.0

class Braker:
    # slows every answer before its first decision, such as an echo, so that decisions look quick
    def __init__(self, problem):
        import json
        self.acted, dumps = False, json.dumps
        def brake(*args, **options):
            time.sleep(0.0 if self.acted else 0.02)
            return dumps(*args, **options)
        json.dumps = brake
    def act(self, image, preview):
        self.acted = True
        time.sleep(0.01)
        return 10.0

class Quitter:
    def __init__(self, problem):
        pass
    def act(self, image, preview):
        os._exit(0)

class Babbler:
    def __init__(self, problem):
        pass
    def act(self, image, preview):
        print("nonsense", flush=True)
        os.write(1, b"more nonsense")
        return 10.0

class Asker:
    foresight = "none"
    horizon, memory = 3, 2
    def __init__(self, problem, process):
        self.process = process
    def act(self, image, preview):
        return 1e-3 * self.process.window[0] + len(preview.ahead) + len(preview.powers)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("own") / "cheats.py"
    found.write_text(HONEST + CHEATS)
    return found


def run(file: Path, name: str) -> Record:
    return run_entrant(TASK, enter_own(f"{file}:{name}"))


def test_who_looks_for_the_plant_finds_none(file: Path) -> None:
    assert set(run(file, "Peeker")["series"]["power_w"]) == {10.0}


def test_no_number_and_a_megawatt_are_not_given_but_counted(file: Path) -> None:
    record = run(file, "Greedy")
    assert record["series"]["power_w"][:6] == [0.0, 20.0, 0.0, 0.0, 0.0, 0.0]
    row = score_record(record)
    assert row["clipped"] == 2
    assert row["refused"] == 4
    assert record["statuses"][str(Status.NOT_FINITE)] == 1


def test_who_overwrites_what_it_is_shown_harms_only_itself(file: Path) -> None:
    honest, vandal = run(file, "Honest"), run(file, "Vandal")
    for name in ("t_true_k", "x_mm", "lit", "counts_below"):
        assert honest["series"][name] == vandal["series"][name]


def test_who_raises_gets_the_least_power_and_is_counted(file: Path) -> None:
    record = run(file, "Raiser")
    assert set(record["series"]["power_w"]) == {0.0}
    assert score_record(record)["refused"] == TASK.ticks
    assert any("no idea" in note for note in record["notes"])


def test_who_never_answers_is_given_up_and_the_run_goes_on(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "ANSWER_WITHIN", 1.0)
    record = run(file, "Sleeper")
    assert record["ending"] == COMPLETED
    assert record["statuses"][str(Status.GONE)] == TASK.ticks - 3
    assert set(record["series"]["power_w"][3:]) == {0.0}
    assert score_record(record)["outside_fraction"] == 1.0


def test_who_answers_late_misses_its_deadlines_whatever_its_own_clock_says(file: Path) -> None:
    row = clock_record(run(file, "Late"))
    assert row["missed_fraction"] == 1.0
    assert row["decision_p50_us"] > 10_000


def test_who_slows_the_echo_still_misses_its_deadlines(file: Path) -> None:
    row = clock_record(run(file, "Braker"))
    assert row["missed_fraction"] == 1.0
    assert row["decision_p50_us"] > 8_000


def test_who_ends_its_process_is_gone(file: Path) -> None:
    record = run(file, "Quitter")
    assert record["statuses"] == {str(Status.GONE): TASK.ticks}


def test_what_a_controller_prints_is_no_answer(file: Path) -> None:
    assert set(run(file, "Babbler")["series"]["power_w"]) == {10.0}


def test_an_own_controller_gets_the_process_and_the_preview_it_asks_for(file: Path) -> None:
    entrant = enter_own(f"{file}:Asker")
    assert entrant.foresight == "none"
    powers = run_entrant(TASK, entrant)["series"]["power_w"]
    np.testing.assert_allclose(powers[:4], [4.76, 5.76, 6.76, 6.76])


@pytest.mark.parametrize(
    ("body", "foresight"),
    [
        ("foresight: str = 'none'", "none"),
        ("foresight = 'none'", "none"),
        ("foresight: Literal['none', 'path'] = 'path'", "path"),
        ("other = foresight_of = 'none'", "path"),
    ],
)
def test_foresight_is_read_with_and_without_a_type(tmp_path: Path, body: str, foresight: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"class Mine:\n    {body}\n")
    assert read_foresight(file, "Mine") == foresight


@pytest.mark.parametrize(
    "body",
    [
        "foresight: str",
        "foresight = NONE",
        "foresight = 'path'\n    foresight = 'none'",
        "def __init__(self):\n        self.foresight = 'none'",
        "if True:\n        foresight = 'none'",
    ],
)
def test_a_foresight_that_is_not_plainly_said_is_refused(tmp_path: Path, body: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"class Mine:\n    {body}\n")
    with pytest.raises(BadInput, match="said once in the body of the class"):
        read_foresight(file, "Mine")


def test_the_booth_changes_nothing_for_an_honest_controller(file: Path) -> None:
    from laserloop.loop.scenario import Scenario, prepare

    there = run(file, "Honest")["series"]
    here = (
        prepare(Scenario(path=TASK.path, plant="graded", controller=f"{file}:Honest", ticks=TASK.ticks))
        .run()
        .to_json()["series"]
    )
    assert there["t_true_k"] == here["t_true_k"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "class Mine:\n    def __init__(self, problem):\n        raise ValueError('no')\n",
            "cannot be built",
        ),
        ("class Mine:\n    foresight = 'all'\n", "foresight of Mine must be one of none, path"),
        ("class Mine(\n", "cannot be read as Python"),
        ("import os\nos._exit(3)\nclass Mine: pass\n", "ended by itself"),
    ],
)
def test_a_file_that_cannot_take_part_is_refused_in_a_sentence(
    tmp_path: Path, text: str, complaint: str
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(BadInput, match=complaint):
        run_entrant(TASK, enter_own(f"{file}:Mine"))


def test_a_missing_file_and_a_taken_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"FILE\.py:NAME"):
        enter_own(f"{tmp_path}/nowhere.py:Mine")
    file = tmp_path / "mine.py"
    file.write_text("class pi: pass\n")
    with pytest.raises(BadInput, match="another name"):
        find_entrant(f"{file}:pi")
