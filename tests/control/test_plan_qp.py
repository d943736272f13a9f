"""The plan as a QP, and the oracle that plans on a plant by it."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import NonlinearConstraint, minimize

from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, Question
from laserloop.control.sqp import PlanQp, SqpSolver
from laserloop.paths.path import Preview
from laserloop.predict.oracle import AGREED, PlantRollout
from laserloop.predict.predictor import AffineForecast

FloatArray = NDArray[np.float64]

SLOPES = np.tril(np.full((5, 5), 2.0)) + 3.0 * np.eye(5)


def ask(base: FloatArray, previous: float, *, lit: list[bool] | None = None) -> Question:
    forecast = AffineForecast(base=base, slopes=SLOPES, previous=previous, committed=np.empty(0))
    return Question(forecast=forecast, start=np.zeros(5), lit=np.array(lit or [True] * 5))


def price(problem: MpcProblem, plan: FloatArray, base: FloatArray, previous: float) -> float:
    return problem.cost(plan, base + SLOPES @ plan, previous)


@pytest.mark.parametrize("level", [690.0, 705.0, 715.0])
def test_no_nearby_plan_is_cheaper(level: float) -> None:
    problem, base = MpcProblem(), np.full(5, level)
    plan = PlanQp(problem).solve(ask(base, 8.0), np.zeros(5), base, SLOPES)
    assert (base + SLOPES @ plan).max() <= problem.ceiling + 1e-6
    best = price(problem, plan, base, 8.0)
    rng = np.random.default_rng(0)
    for _ in range(300):
        other = np.clip(plan + rng.normal(0.0, 0.1, 5), 0.0, 20.0)
        if (base + SLOPES @ other).max() <= problem.ceiling:
            assert price(problem, other, base, 8.0) >= best - 1e-6


def test_it_agrees_with_a_general_solver_on_the_tracking_problem() -> None:
    problem = MpcProblem(slack_cost=0.0, tracking_cost=2.0)
    base = np.full(5, 720.0)
    plan = PlanQp(problem).solve(ask(base, 8.0), np.zeros(5), base, SLOPES)

    def objective(p: FloatArray) -> float:
        return price(problem, p, base, 8.0)

    below = NonlinearConstraint(lambda p: base + SLOPES @ p, -np.inf, problem.ceiling)
    found = minimize(
        objective,
        np.linspace(5.0, 5.0, 5),
        method="SLSQP",
        bounds=[(0.0, 20.0)] * 5,
        constraints=below,
        tol=1e-12,
    )
    assert np.allclose(plan, found.x, atol=1e-3)


def test_where_nothing_keeps_the_ceiling_it_gives_the_least_power() -> None:
    base = np.full(5, 900.0)
    plan = PlanQp(MpcProblem()).solve(ask(base, 10.0), np.full(5, 10.0), base, SLOPES)
    assert plan[0] == pytest.approx(0.0, abs=1e-6)


def test_dark_ticks_get_nothing_and_no_plan_of_the_others_is_cheaper() -> None:
    problem, base = MpcProblem(), np.full(5, 705.0)
    question = ask(base, 8.0, lit=[True, False, False, True, True])
    plan = PlanQp(problem).solve(question, np.zeros(5), base, SLOPES)
    assert (plan[1:3] == 0.0).all()

    def cost(plan: FloatArray) -> float:
        predicted = base + SLOPES @ plan
        return problem.cost(plan, predicted, 8.0, counts=question.free, moves=question.moves)

    rng = np.random.default_rng(0)
    for _ in range(300):
        other = np.clip(plan + question.lit * rng.normal(0.0, 0.1, 5), 0.0, 20.0)
        if (base + SLOPES @ other)[question.free].max() <= problem.ceiling:
            assert cost(other) >= cost(plan) - 1e-6


def test_the_heat_of_dark_ticks_does_not_count() -> None:
    problem, base = MpcProblem(), np.full(5, 705.0)
    hot = np.array([705.0, 900.0, 900.0, 705.0, 705.0])
    question = ask(base, 8.0, lit=[True, False, False, True, True])
    plans = [PlanQp(problem).solve(question, np.zeros(5), level, SLOPES) for level in (base, hot)]
    np.testing.assert_allclose(plans[1], plans[0], rtol=0, atol=1e-9)
    assert plans[0][0] > 1.0


def test_a_rollout_of_the_plant_finds_the_slopes_of_its_plant() -> None:
    seen = PlantRollout(lambda powers, _: 300.0 + SLOPES @ powers, 5, 20.0)
    way = np.zeros((6, 2))
    for level in (10.0, 20.0):  # a nudge upwards, one downwards
        plan = np.full(5, level)
        found = seen.find_slopes(plan, 300.0 + SLOPES @ plan, way)
        np.testing.assert_allclose(found, SLOPES, rtol=0, atol=1e-9)


def test_the_oracle_keeps_a_plant_in_its_window() -> None:
    """A plant of one state: T ← T + 0.2 (300 + 35 P − T), gently curved."""
    state = [300.0]

    def move(temperature: float, power: float) -> float:
        return temperature + 0.2 * (300.0 + 35.0 * power + 0.1 * power**2 - temperature)

    def roll(powers: FloatArray, positions: FloatArray) -> FloatArray:
        temperatures, now = [], state[0]
        for power in powers:
            now = move(now, float(power))
            temperatures.append(now)
        return np.array(temperatures)

    problem = MpcProblem()
    oracle = MpcController(
        PlantRollout(roll, 5, 20.0),
        SqpSolver(problem, agreed=AGREED, halvings=0),
        problem,
        resume=True,
    )
    power, seen = np.empty(0), []
    for k in range(40):
        way = np.zeros((6 + len(power), 2))
        action = oracle.act(None, Preview(time=k * 1e-4, tick=1e-4, positions=way, powers=power))
        power = np.array([action.power])
        state[0] = move(state[0], action.power)
        seen.append(state[0])
        assert action.predicted[0] == pytest.approx(state[0])
    assert 760.0 <= min(seen[15:]) <= max(seen[15:]) <= 800.0
