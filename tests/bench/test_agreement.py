"""Agreement with IPOPT: plans that are other minima are told from plans that are none."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.bench.mpc import FAR, collect_questions, compare
from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem, Question, Solution
from laserloop.predict.model import Model, find_model

PROBLEM = MpcProblem()


@pytest.fixture(scope="module")
def model() -> Model:
    return find_model("paper-corner")


@pytest.fixture(scope="module")
def question() -> Question:
    return collect_questions("paper-corner", ("vertical",), 40, controller="realtime")[-1]


@pytest.fixture(scope="module")
def best(model: Model, question: Question) -> Solution:
    return IpoptSolver(model, PROBLEM, tolerance=1e-10).solve(question)


def _count(model: Model, question: Question, ours: Solution, theirs: Solution) -> dict[str, float]:
    neighbour = IpoptSolver(model, PROBLEM, tolerance=1e-10, reach=FAR)
    others: dict[str, float] = compare(model, PROBLEM, [question], [ours], [[theirs]], neighbour)[
        "other_first_moves"
    ]
    return others


def _warmer(solution: Solution) -> Solution:
    return replace(solution, plan=solution.plan + np.array([0.4, 0, 0, 0, 0]))


def test_a_plan_that_is_no_minimum_is_told_as_such(model: Model, question: Question, best: Solution) -> None:
    others = _count(model, question, _warmer(best), best)
    assert (others["problems"], others["local_minima"], others["not_dearer_than_ipopt"]) == (1, 0, 0)
    assert others["largest_extra_cost"] > 1e-4


def test_a_minimum_stays_one_when_the_judge_is_elsewhere(
    model: Model, question: Question, best: Solution
) -> None:
    others = _count(model, question, best, _warmer(best))
    assert (others["problems"], others["local_minima"], others["not_dearer_than_ipopt"]) == (1, 1, 1)


def test_the_same_plan_needs_no_excuse(model: Model, question: Question, best: Solution) -> None:
    assert _count(model, question, best, best)["problems"] == 0
