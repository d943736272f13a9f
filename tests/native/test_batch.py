"""Many questions at once: the same answers as one by one, whoever works them out."""

from collections.abc import Callable

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution
from laserloop.native.batch import solve_batch
from laserloop.native.realtime import RealtimeSolver
from laserloop.predict.networks import Model


@pytest.fixture(scope="module")
def questions(model: Model, pose: Callable[..., list[Question]]) -> list[Question]:
    return pose(model, MpcProblem(), 30)


def one_by_one(model: Model, questions: list[Question]) -> list[Solution]:
    solver = RealtimeSolver(model, MpcProblem())
    solutions = []
    for question in questions:
        solver.reset()
        solutions.append(solver.solve(question))
    return solutions


@pytest.mark.parametrize("workers", [1, 2])
def test_a_batch_is_answered_in_order_and_to_the_last_bit_as_one_by_one(
    workers: int, model: Model, questions: list[Question]
) -> None:
    expected = one_by_one(model, questions)
    solutions = solve_batch(model, MpcProblem(), questions, workers=workers)
    assert len(solutions) == len(questions)
    for solution, alone in zip(solutions, expected, strict=True):
        assert np.array_equal(solution.plan, alone.plan)
        assert np.array_equal(solution.predicted, alone.predicted, equal_nan=True)
        assert (solution.status, solution.iterations) == (alone.status, alone.iterations)


def test_an_answer_does_not_depend_on_the_questions_before_it(
    model: Model, questions: list[Question]
) -> None:
    forwards = solve_batch(model, MpcProblem(), questions, workers=1)
    backwards = solve_batch(model, MpcProblem(), questions[::-1], workers=1)[::-1]
    assert all(np.array_equal(a.plan, b.plan) for a, b in zip(forwards, backwards, strict=True))


def test_no_questions_have_no_answers(model: Model) -> None:
    assert solve_batch(model, MpcProblem(), [], workers=2) == []


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_impossible_numbers_of_workers_are_refused(workers: int, model: Model) -> None:
    with pytest.raises(BadInput, match="workers"):
        solve_batch(model, MpcProblem(), [], workers=workers)


def test_a_model_of_another_horizon_is_refused_before_any_thread_starts(
    model: Model, questions: list[Question]
) -> None:
    with pytest.raises(BadInput, match="horizon"):
        solve_batch(model, MpcProblem(horizon=3), questions, workers=2)
