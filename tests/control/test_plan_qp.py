"""The plan as a QP, and the oracle that plans on a plant by it."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import NonlinearConstraint, minimize

from laserloop.control.oracle import OracleController
from laserloop.control.plan_qp import PlanQp
from laserloop.control.problem import MpcProblem
from laserloop.paths.preview import Preview

FloatArray = NDArray[np.float64]

SLOPES = np.tril(np.full((5, 5), 2.0)) + 3.0 * np.eye(5)


def price(problem: MpcProblem, plan: FloatArray, base: FloatArray, previous: float) -> float:
    return problem.cost(plan, base + SLOPES @ plan, previous)


@pytest.mark.parametrize("level", [690.0, 705.0, 715.0])
def test_no_nearby_plan_is_cheaper(level: float) -> None:
    problem, base = MpcProblem(), np.full(5, level)
    plan = PlanQp(problem).solve(np.zeros(5), base, SLOPES, 8.0)
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
    plan = PlanQp(problem).solve(np.zeros(5), base, SLOPES, 8.0)

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
    plan = PlanQp(MpcProblem()).solve(np.full(5, 10.0), np.full(5, 900.0), SLOPES, 10.0)
    assert plan[0] == pytest.approx(0.0, abs=1e-6)


def test_the_oracle_keeps_a_plant_in_its_window() -> None:
    """A plant of one state: T ← T + 0.2 (300 + 35 P − T), gently curved."""
    state = [300.0]

    def move(temperature: float, power: float) -> float:
        return temperature + 0.2 * (300.0 + 35.0 * power + 0.1 * power**2 - temperature)

    def rehearse(powers: FloatArray, positions: FloatArray) -> FloatArray:
        temperatures, now = [], state[0]
        for power in powers:
            now = move(now, float(power))
            temperatures.append(now)
        return np.array(temperatures)

    oracle = OracleController(rehearse, MpcProblem())
    way, powers, seen = np.zeros((6, 2)), [], []
    for k in range(40):
        preview = Preview(time=k * 1e-4, tick=1e-4, positions=way, powers=np.empty(0))
        action = oracle.act(None, preview)
        powers.append(action.power)
        state[0] = move(state[0], action.power)
        seen.append(state[0])
        assert action.predicted[0] == pytest.approx(state[0])
    assert 760.0 <= min(seen[15:]) <= max(seen[15:]) <= 800.0
