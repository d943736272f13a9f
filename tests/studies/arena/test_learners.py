"""Those who learn: what was trained is what acts, and a training says what it cost."""

from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.paths.shapes import FAMILIES
from laserloop.predict.predictor import Predictor
from laserloop.predict.twin import TwinPredictor
from laserloop.process import find_process
from laserloop.studies.arena.entrant import OUT, Cost, TaskContext
from laserloop.studies.arena.entrants import CALM, ENTRANTS, LEARNERS, find_entrant
from laserloop.studies.arena.tasks import SPLITS
from laserloop.studies.arena.train import train_one
from laserloop.studies.arena.training_set import (
    EPISODES,
    SHAKES,
    Lesson,
    count_lessons,
    draw_factors,
    make_lessons,
    name_episode,
    read_lessons,
)

ON_TWINS = ("distilled", "rl")  # policies, whose lessons are loops of twins
TRAINED = [entrant for entrant in ENTRANTS if entrant in LEARNERS]


def seat(process: str = "304", **changes: float) -> TaskContext:
    told = find_process(process).change(**changes)
    problem = make_twin_problem(MpcProblem(window=told.window, power=told.laser.power))
    return TaskContext(problem=problem, process=told, fastest=1.2 * told.speed)


def predictor_of(name: str, place: TaskContext) -> Predictor:
    make = find_entrant(name).make
    assert make is not None
    controller = make(place)
    assert isinstance(controller, MpcController)
    return controller.predictor


def test_the_corrected_twin_is_corrected_where_it_learned_and_bare_elsewhere() -> None:
    at_home = predictor_of("twin-corrected", seat())
    assert isinstance(at_home, TwinPredictor)
    assert at_home.correction is not None
    noisy = predictor_of("twin-corrected", seat(noise_k=5.0, delay_ticks=1))
    assert isinstance(noisy, TwinPredictor)
    assert noisy.correction is not None
    assert noisy.filter_settings == CALM
    abroad = predictor_of("twin-corrected", seat("in625"))
    assert isinstance(abroad, TwinPredictor)
    assert abroad.correction is None


@pytest.mark.parametrize("entrant", TRAINED, ids=lambda entrant: entrant.name)
def test_a_shipped_learner_is_small_acts_and_says_what_it_cost(entrant: object) -> None:
    assert entrant in LEARNERS
    learner = find_entrant(entrant.name)
    assert learner.model is not None
    assert sum(file.stat().st_size for file in learner.model.iterdir()) < 500_000
    assert 0 < learner.cost.plant_steps <= 320 * EPISODES or learner.name in ON_TWINS
    assert 0.0 < learner.cost.core_minutes < 10.0
    assert learner.make is not None
    controller = learner.make(seat())
    assert controller.horizon >= 5
    controller.reset()


def test_lessons_are_of_public_paths_and_half_of_them_near_the_window() -> None:
    lessons = [Lesson(k) for k in range(EPISODES)]
    assert all(lesson.seed in SPLITS["public"] for lesson in lessons)
    assert {lesson.family for lesson in lessons} == set(FAMILIES)
    assert sum(lesson.shake == "near" for lesson in lessons) == EPISODES // 2
    assert {lesson.shake for lesson in lessons} == set(SHAKES)
    process = find_process("304")
    drawn = Lesson(35).draw_power(process, Lesson(35).find_path(process))
    np.testing.assert_array_equal(drawn, Lesson(35).draw_power(process, Lesson(35).find_path(process)))
    assert drawn.max() <= process.laser.power[1]


def test_shaken_powers_stay_within_what_is_said() -> None:
    factors = draw_factors(320, np.random.default_rng(0))
    assert 0.69 < factors.min() < factors.max() < 1.31
    assert len(np.unique(np.round(factors, 6))) > 300


def test_lessons_that_are_not_there_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="are none that are complete"):
        count_lessons(tmp_path)


def test_a_training_from_lessons_writes_model_and_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lessons = OUT / "lessons"
    make_lessons(lessons, 1)
    before = name_episode(lessons, 0).read_bytes()
    name_episode(lessons, 0).unlink()
    with pytest.raises(BadInput):
        list(read_lessons(lessons))
    make_lessons(lessons, 1)
    assert name_episode(lessons, 0).read_bytes() == before
    cost = train_one("koopman", 1, lessons)
    assert cost.plant_steps == 320
    assert Cost.read(OUT / "models" / "koopman-1") == cost
    entrant = find_entrant("koopman@1")
    assert entrant.make is not None
    assert entrant.make(seat()).name == "koopman"


@pytest.mark.parametrize("name", ["koopman", "affine-history", "distilled"])
def test_another_training_is_the_same_entrant_with_another_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = find_entrant(name)
    assert first.model is not None
    folder = tmp_path / "out" / "arena" / "models" / f"{name}-1"
    copytree(first.model, folder)
    second = find_entrant(f"{name}@1")
    assert second.model is not None
    assert (second.name, second.model.resolve()) == (f"{name}@1", folder)
    assert second.make is not None
    second.make(seat())
    for file in folder.glob("*.safetensors"):
        file.unlink()
    assert find_entrant(name).make is not None
    with pytest.raises((BadInput, FileNotFoundError)):  # its own model, not that of seed 0
        second.make(seat())


@pytest.mark.parametrize("name", ["pi@1", "koopman@0", "koopman@", "koopman@x", "koopman@7"])
def test_a_training_that_is_not_there_is_refused_with_what_to_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"correct it|with python -m laserloop.studies.arena.train koopman"):
        find_entrant(name)
