"""IPOPT: the optimum where there is one, a safe plan and a status where there is none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem, Question, Solution
from laserloop.data.windows import Scaler
from laserloop.predict.model import Model, Scalers, find_model
from laserloop.predict.networks import FloatArray, Lstm, SsAr, WindowNetwork
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast, rectify

pytest.importorskip("casadi")

SPEED, TICK = 0.304, 1.25e-4  # m/s, s
WARM = np.array([780.0, 640.0, 550.0, 470.0, 410.0, 365.0])  # K, a beam in its window and the way ahead
PROBLEM = MpcProblem(margin_above=13.0)
NEAR = 1e-4  # K or W: at a bound
MODEL = find_model("paper-corner-bilinear")  # whose previews are as smooth as WARM


@pytest.fixture(scope="module")
def model() -> Model:
    return MODEL


@pytest.fixture(scope="module")
def solver(model: Model) -> IpoptSolver:
    return IpoptSolver(model, PROBLEM)


def ask(**changes: Any) -> Question:
    """A beam on its way along x; the search begins with the last power."""
    x = SPEED * TICK * np.arange(5)
    rest = np.zeros(5)
    forecast = WindowForecast(
        kinematics=np.stack((x, rest, rest + SPEED, rest), axis=1),
        temps=WARM,
        location=np.zeros(2),
        previous=14.0,
        committed=np.empty(0),
        model=MODEL,
    )
    asked = {name: changes.pop(name) for name in ("start", "lit", "resumes") if name in changes}
    question = Question(
        forecast=replace(forecast, **changes), start=np.full(5, 14.0), lit=np.ones(5, np.bool_)
    )
    return replace(question, **asked)


def make_predict(model: Model, question: Question) -> Any:
    """T̂ of a plan in NumPy, with the rectifier of the graph."""
    known = question.network(5)
    net = Folding(model, smoothing=SMOOTHING).fold(known.kinematics, known.temps, known.location)
    return lambda P: net.C @ rectify(net.W @ rectify(net.A @ P + net.a, SMOOTHING) + net.b, SMOOTHING) + net.c


def assert_in_bounds(solution: Solution, problem: MpcProblem) -> None:
    assert solution.plan.shape == solution.predicted.shape == (problem.horizon,)
    assert (solution.plan >= problem.power[0]).all()
    assert (solution.plan <= problem.power[1]).all()


def imbalance(model: Model, problem: MpcProblem, question: Question, plan: FloatArray) -> float:
    """How far a plan is from the conditions of an optimum, written again: the part of the cost's gradient,
    1/W, that no allowed multipliers of the active bounds balance, relative to that of the moves' price.

    A tick below the floor pulls with the whole price of a kelvin, one at the floor with any part of it.
    """
    known, free = question.network(5), question.free
    net = Folding(model, smoothing=SMOOTHING).fold(known.kinematics, known.temps, known.location)
    low, high = problem.power
    spread = np.eye(5)[:, free]  # what is committed or dark does not move
    z = net.A @ plan + net.a
    y = net.W @ rectify(z, SMOOTHING) + net.b
    first, second = (0.5 * (1 + v / np.sqrt(v**2 + SMOOTHING)) for v in (z, y))
    slope = net.C * second @ net.W * first @ net.A @ spread  # K/W, by moves
    predicted = net.C @ rectify(y, SMOOTHING) + net.c
    slope, predicted = slope[free], predicted[free]  # the rest does not count
    price = problem.slack_cost / problem.slack_scale
    hops = question.moves * np.diff(np.concatenate(([question.previous], plan)))
    gradient = 2 * problem.power_cost * plan / high**2
    gradient += 2 * problem.move_cost * (hops - np.append(hops[1:], 0.0)) / high**2
    gradient = gradient @ spread
    gradient += 2 * problem.tracking_cost * (predicted - problem.middle) @ slope / problem.half_width**2
    gradient -= price * slope[predicted < problem.floor - NEAR].sum(axis=0)
    moves, ways = plan @ spread, np.eye(spread.shape[1])
    at_floor = np.abs(predicted - problem.floor) <= NEAR
    pulls = np.concatenate(
        (
            -slope[at_floor],
            slope[np.abs(predicted - problem.ceiling) <= NEAR],
            ways[moves >= high - NEAR],
            -ways[moves <= low + NEAR],
        )
    )
    size = np.sqrt(len(moves)) * 2 * problem.move_cost / high**2  # 1/W, of a move of 1 W
    if not len(pulls):
        return float(np.linalg.norm(gradient) / size)
    most = np.where(np.arange(len(pulls)) < at_floor.sum(), price, np.inf)
    found = lsq_linear(pulls.T, -gradient, (0.0, most), tol=1e-14)
    return float(np.linalg.norm(pulls.T @ found.x + gradient) / size)


PROBLEMS = {
    "paper": PROBLEM,
    "tracking": replace(PROBLEM, tracking_cost=5.0),
    "calm": replace(PROBLEM, move_cost=200.0, power_cost=0.1),
    "weak": replace(PROBLEM, power=(0.0, 13.2)),
    "floor": replace(PROBLEM, margin_below=5.0),
}


def test_a_plan_keeps_the_ceiling_and_reaches_the_floor(solver: IpoptSolver) -> None:
    solution = solver.solve(ask())
    assert solution.status is Status.SOLVED
    assert 1 < solution.iterations < 60
    assert solution.predicted.max() <= PROBLEM.ceiling + 1e-3
    assert solution.predicted.min() >= PROBLEM.floor - 1e-3
    assert_in_bounds(solution, PROBLEM)


@pytest.mark.parametrize("name", PROBLEMS)
def test_nothing_pulls_at_the_plan_any_more(model: Model, name: str) -> None:
    question, problem = ask(previous=12.0), PROBLEMS[name]
    solution = IpoptSolver(model, problem, tolerance=1e-10).solve(question)
    assert solution.status is Status.SOLVED
    predicted = make_predict(model, question)(solution.plan)
    np.testing.assert_allclose(solution.predicted, predicted, rtol=0, atol=1e-8)
    assert imbalance(model, problem, question, solution.plan) < 1e-3  # as if 1 mW off


@pytest.mark.parametrize(
    "change",
    [{"move_cost": 11.0}, {"power_cost": 1.1}, {"tracking_cost": 0.01}, {"power": (0.0, 13.2)}],
    ids=str,
)
def test_other_costs_or_bounds_would_pull_at_the_plan(model: Model, change: dict[str, Any]) -> None:
    question = ask(previous=12.0)
    plan = IpoptSolver(model, PROBLEM, tolerance=1e-10).solve(question).plan
    other = replace(PROBLEM, **change)
    assert imbalance(model, other, question, np.minimum(plan, other.power[1])) > 5e-3


def test_the_costs_change_the_plan(model: Model) -> None:
    plans = [
        IpoptSolver(model, problem).solve(ask(previous=10.0)).plan
        for problem in (PROBLEM, replace(PROBLEM, tracking_cost=50.0))
    ]
    assert np.abs(plans[1] - plans[0]).max() > 0.1
    assert np.ptp(plans[0]) > 0.1


def test_both_graphs_lead_to_the_same_plan(model: Model, solver: IpoptSolver) -> None:
    plain = IpoptSolver(model, PROBLEM, graph="plain")
    for question in (ask(), ask(previous=8.0, start=np.full(5, 8.0)), ask(temps=WARM - 15.0)):
        one, other = solver.solve(question), plain.solve(question)
        assert one.status is other.status is Status.SOLVED
        np.testing.assert_allclose(one.plan, other.plan, rtol=0, atol=1e-4)


def test_a_tighter_tolerance_or_the_exact_curvature_hardly_moves_the_plan(
    model: Model, solver: IpoptSolver
) -> None:
    usual = solver.solve(ask())
    for settings in ({"tolerance": 1e-10}, {"tolerance": 1e-10, "exact_hessian": True}):
        tight = IpoptSolver(model, PROBLEM, **settings).solve(ask())  # type: ignore[arg-type]
        assert tight.status is Status.SOLVED
        np.testing.assert_allclose(tight.plan, usual.plan, rtol=0, atol=0.01)  # W
    exact = IpoptSolver(model, PROBLEM, exact_hessian=True).solve(ask())
    assert exact.iterations != usual.iterations  # another way to the same plan


def test_a_search_that_must_stay_near_does(model: Model) -> None:
    problem = replace(PROBLEM, window=(760.0, 900.0))  # room to come from above
    best = IpoptSolver(model, problem).solve(ask()).plan
    near = IpoptSolver(model, problem, reach=0.1)
    np.testing.assert_allclose(near.solve(ask(start=best)).plan, best, rtol=0, atol=0.01)
    for shift in (-1.0, 1.0):
        held = near.solve(ask(start=best + shift)).plan
        assert np.abs(held - best - shift).max() <= 0.1 + 1e-6
        assert np.abs(held - best - shift).max() > 0.09  # it would go on


def test_a_cold_plate_is_heated_with_all_there_is(solver: IpoptSolver) -> None:
    solution = solver.solve(ask(temps=np.full(6, 300.0), previous=10.0, start=np.full(5, 10.0)))
    assert solution.status is Status.SOLVED
    assert solution.plan[0] == pytest.approx(20.0, abs=1e-3)
    assert solution.predicted[0] < PROBLEM.floor


def test_a_weak_laser_gives_all_it_has(model: Model) -> None:
    problem = replace(PROBLEM, power=(0.0, 5.0))
    solution = IpoptSolver(model, problem).solve(ask(previous=5.0, temps=WARM - 200.0))
    assert solution.status is Status.SOLVED
    assert_in_bounds(solution, problem)
    assert solution.plan[0] == pytest.approx(5.0, abs=1e-3)


@pytest.mark.parametrize("least", [0.0, 2.0])
def test_a_plate_above_the_bound_gets_the_least_power(model: Model, least: float) -> None:
    problem = replace(PROBLEM, power=(least, 20.0))
    solution = IpoptSolver(model, problem).solve(ask(temps=WARM + 250.0))
    assert solution.status is Status.INFEASIBLE
    assert solution.predicted.max() > problem.ceiling
    np.testing.assert_array_equal(solution.plan, least)


def test_committed_powers_stay_and_the_rest_makes_the_best_of_them(model: Model) -> None:
    problem = PROBLEM
    solver = IpoptSolver(model, problem, tolerance=1e-10)
    committed = np.array([9.0, 10.5])
    question = ask(committed=committed)
    solution = solver.solve(question)
    free = solver.solve(ask())
    assert solution.status is Status.SOLVED
    assert imbalance(model, problem, question, solution.plan) < 1e-3
    np.testing.assert_array_equal(solution.plan[:2], committed)
    assert solution.plan[2] > free.plan[2] + 0.1  # less heat before, more after
    assert solution.predicted.max() <= PROBLEM.ceiling + 1e-3


@pytest.mark.parametrize("lit", [[1, 1, 0, 0, 1], [0, 1, 1, 1, 0], [1, 0, 1, 0, 1]], ids=str)
@pytest.mark.parametrize("resumes", [False, True])
def test_dark_ticks_get_no_power_and_the_others_make_the_best_of_it(
    model: Model, lit: list[int], *, resumes: bool
) -> None:
    question = ask(previous=0.0 if resumes else 12.0, lit=np.array(lit, np.bool_), resumes=resumes)
    solution = IpoptSolver(model, PROBLEM, tolerance=1e-10).solve(question)
    assert solution.status is Status.SOLVED
    assert (solution.plan[~question.lit] == 0.0).all()
    assert (solution.plan[question.lit] > 1.0).all()
    assert imbalance(model, PROBLEM, question, solution.plan) < 1e-3


def test_coming_back_from_the_dark_is_no_move(model: Model) -> None:
    calm = IpoptSolver(model, replace(PROBLEM, move_cost=1e7))
    moved, resumed = (
        calm.solve(ask(previous=0.0, temps=WARM - 30.0, resumes=resumes)).plan[0] for resumes in (False, True)
    )
    assert resumed > moved + 1.0


def test_a_plan_that_is_all_committed_is_only_predicted(model: Model, solver: IpoptSolver) -> None:
    committed = np.full(5, 13.0)
    question = ask(committed=committed)
    solution = solver.solve(question)
    np.testing.assert_array_equal(solution.plan, committed)
    np.testing.assert_allclose(solution.predicted, make_predict(model, question)(committed), atol=1e-8)


def test_committed_powers_stay_when_nothing_helps(solver: IpoptSolver) -> None:
    solution = solver.solve(ask(temps=WARM + 250.0, committed=np.array([7.0])))
    assert solution.status is Status.INFEASIBLE
    np.testing.assert_array_equal(solution.plan, [7.0, 0, 0, 0, 0])


@pytest.mark.parametrize("name", ["kinematics", "temps", "location", "start", "committed", "previous"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("graph", ["folded", "plain"])
def test_a_question_that_is_no_number_gets_no_answer(
    model: Model, name: str, value: float, graph: str, solvers: dict[str, IpoptSolver]
) -> None:
    sound = ask(committed=np.ones(1))
    broken = (
        value if name == "previous" else np.array(getattr(sound if name == "start" else sound.forecast, name))
    )
    if isinstance(broken, np.ndarray):
        broken.flat[0] = value
    solution = solvers[graph].solve(ask(**{name: broken}))
    assert solution.status is Status.NO_PREDICTION
    assert_in_bounds(solution, PROBLEM)
    assert np.isnan(solution.predicted).all()


@pytest.fixture(scope="module")
def solvers(model: Model, solver: IpoptSolver) -> dict[str, IpoptSolver]:
    return {"folded": solver, "plain": IpoptSolver(model, PROBLEM, graph="plain")}


@pytest.mark.parametrize("graph", ["folded", "plain"])
def test_a_model_that_predicts_no_number_gets_no_prediction(model: Model, graph: str) -> None:
    broken = replace(model, weights={**model.weights, "bias": np.full(5, np.nan, np.float32)})
    solution = IpoptSolver(broken, PROBLEM, graph=graph).solve(ask())
    assert solution.status is Status.NO_PREDICTION
    assert_in_bounds(solution, PROBLEM)


@pytest.mark.parametrize("cap", [0, 1, 3])
def test_a_search_cut_short_still_ends_with_a_safe_plan(model: Model, cap: int) -> None:
    solver = IpoptSolver(model, PROBLEM, max_iterations=cap)
    for start in (0.0, 14.0, 20.0):
        solution = solver.solve(ask(start=np.full(5, start)))
        assert solution.status is Status.STOPPED
        assert solution.predicted.max() <= PROBLEM.ceiling + 1e-3
        assert_in_bounds(solution, PROBLEM)


def test_an_answer_depends_on_its_question_alone(solver: IpoptSolver) -> None:
    before = solver.solve(ask())
    solver.solve(ask(temps=WARM + 250.0))
    solver.solve(ask(temps=np.full(6, 300.0)))
    solver.reset()
    np.testing.assert_array_equal(solver.solve(ask()).plan, before.plan)


def test_the_account_of_a_tick_adds_up(solver: IpoptSolver) -> None:
    solution, times = solver.solve(ask()), solver.last_times
    assert times.functions > 0
    assert times.functions + times.ipopt == pytest.approx(solution.solve_s)
    assert times.total > solution.solve_s
    assert times.evaluations >= 2 * solution.iterations


def test_a_second_search_is_added_to_the_account_and_is_none_where_plans_must_stay_near(
    model: Model,
) -> None:
    free, near = (IpoptSolver(model, PROBLEM, max_iterations=0, reach=reach) for reach in (np.inf, 1e6))
    account = []
    for solver, start in ((near, 20.0), (near, 0.0), (free, 20.0)):
        solution = solver.solve(ask(start=np.full(5, start)))
        account.append((solution.iterations, solver.last_times.evaluations))
    (hot, hot_calls), (cool, cool_calls), both = account
    assert min(hot_calls, cool_calls) > 0
    assert both == (hot + cool, hot_calls + cool_calls)


def draw_model(architecture: WindowNetwork) -> Model:
    """Random weights; hotter with power, around the window."""
    a, b, c = architecture.sizes()
    return Model(
        architecture=architecture,
        weights=architecture.draw_weights(np.random.default_rng(3)),
        scalers=Scalers(
            branch=Scaler(np.resize([14.0, 0, 0, 0, 0], a), np.resize([4.0, 1e-3, 1e-3, 0.2, 0.2], a)),
            trunk=Scaler(np.full(b, 750.0), np.full(b, 60.0)),
            target=Scaler(np.full(c, 765.0), np.full(c, 60.0)),
        ),
    )


def test_a_single_step_network_is_planned_with_through_its_plain_graph() -> None:
    model = draw_model(SsAr(width=16, basis=8))
    question = ask()
    solution = IpoptSolver(model, PROBLEM, graph="plain").solve(question)
    branch = np.concatenate((solution.plan[:, np.newaxis], question.network(5).kinematics), axis=1)
    (sharp,) = model.predict(branch[np.newaxis], WARM[np.newaxis], np.zeros((1, 2)))
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.predicted, sharp, rtol=0, atol=0.2)


def test_what_cannot_be_solved_is_refused_when_built(model: Model) -> None:
    with pytest.raises(BadInput, match="ss-ar"):
        IpoptSolver(draw_model(SsAr(width=4, basis=3)), PROBLEM)
    with pytest.raises(BadInput, match="lstm"):
        IpoptSolver(draw_model(Lstm(hidden=4)), PROBLEM, graph="plain")
    with pytest.raises(BadInput, match="horizon of 5"):
        IpoptSolver(model, MpcProblem(horizon=3))
    with pytest.raises(BadInput, match="folded, plain"):
        IpoptSolver(model, PROBLEM, graph="other")
