"""SQP with any predictor: plans as good as IPOPT's, in the light and around dark ticks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from laserloop.control.controller import Status
from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem, Question
from laserloop.control.sqp import FloatArray, SqpSolver
from laserloop.predict.model import find_model
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

MODEL = find_model("paper-corner-bilinear")  # whose previews are as smooth as WARM
FOLDER = Folding(MODEL, smoothing=SMOOTHING)
PROBLEM = MpcProblem(margin_above=13.0)
WARM = np.array([780.0, 640.0, 550.0, 470.0, 410.0, 365.0])  # K


def ask(**changes: Any) -> Question:
    """A beam on its way along x."""
    x, rest = 0.304 * 1.25e-4 * np.arange(5), np.zeros(5)
    forecast = WindowForecast(
        kinematics=np.stack((x, rest, rest + 0.304, rest), axis=1),
        temps=changes.pop("temps", WARM),
        location=np.zeros(2),
        previous=changes.pop("previous", 12.0),
        committed=changes.pop("committed", np.empty(0)),
        model=MODEL,
        folder=FOLDER,
    )
    question = Question(forecast=forecast, start=np.full(5, 14.0), lit=np.ones(5, np.bool_))
    return replace(question, **changes)


QUESTIONS = {
    "usual": ask(),
    "cooler": ask(temps=WARM - 15.0, previous=8.0),
    "late": ask(committed=np.array([9.0, 10.5])),
    "dark": ask(lit=np.array([True, True, False, False, True])),
    "resumed": ask(lit=np.array([True, True, True, False, False]), previous=0.0, resumes=True),
}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("change", [{}, {"tracking_cost": 5.0}], ids=str)
def test_its_plan_is_as_good_as_that_of_ipopt(name: str, change: dict[str, Any]) -> None:
    problem = replace(PROBLEM, **change)
    question = QUESTIONS[name]
    ours = SqpSolver(problem).solve(question)
    want = IpoptSolver(MODEL, problem, tolerance=1e-10).solve(question)
    assert ours.status is want.status is Status.SOLVED
    costs = [
        problem.cost(each.plan, each.predicted, question.previous, counts=question.free, moves=question.moves)
        for each in (ours, want)
    ]
    assert costs[0] <= 1.0002 * costs[1]  # two valleys of one depth may lie 0.2 W apart
    assert ours.predicted[question.free].max() <= problem.ceiling
    assert not ours.plan[~question.lit].any()
    np.testing.assert_array_equal(ours.plan[: len(question.committed)], question.committed)


def test_a_plate_above_the_bound_gets_the_least_power_and_is_told_of() -> None:
    solution = SqpSolver(PROBLEM).solve(ask(temps=WARM + 250.0, committed=np.array([7.0])))
    assert solution.status is Status.INFEASIBLE
    np.testing.assert_array_equal(solution.plan, [7.0, 0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("heat", [np.nan, np.inf, 1e308])
def test_a_question_that_is_no_number_gets_no_answer(heat: float) -> None:
    solution = SqpSolver(PROBLEM).solve(ask(temps=np.full(6, heat)))
    assert solution.status is Status.NO_PREDICTION
    assert not solution.plan.any()


class Step:
    """T̂ = 780 + 60 arctan(P − 10): whole steps swing between no power and all of it."""

    committed, previous = np.empty(0), 10.0

    def predict(self, plan: FloatArray) -> FloatArray:
        return 780.0 + 60.0 * np.arctan(plan - 10.0)

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.predict(plan), np.diag(60.0 / (1.0 + (plan - 10.0) ** 2))


def test_steps_that_overshoot_are_shortened() -> None:
    question = Question(forecast=Step(), start=np.full(5, 15.0), lit=np.ones(5, np.bool_))
    problem = MpcProblem()
    solution = SqpSolver(problem).solve(question)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.predicted, 760.0, rtol=0, atol=0.1)
    assert SqpSolver(problem, halvings=0).solve(question).status is Status.STOPPED


def test_a_search_cut_short_says_so() -> None:
    solution = SqpSolver(PROBLEM, max_iterations=1).solve(QUESTIONS["cooler"])
    assert (solution.status, solution.iterations) == (Status.STOPPED, 1)
