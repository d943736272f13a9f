"""The compiled solver against what is readable: the folded network, the NumPy SQP, and its own conditions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question, Solution
from laserloop.control.sqp import SqpSolver
from laserloop.data.windows import Scaler
from laserloop.native.network import CEngine
from laserloop.predict.model import Model, Scalers
from laserloop.predict.networks import MsDeepONet

FloatArray = NDArray[np.float64]
Pose = Callable[..., list[Question]]
Change = Callable[..., Question]
Draw = Callable[[MsDeepONet], Model]

SHAPES = [
    (MsDeepONet(horizon=1, width=24, basis=6), MpcProblem(horizon=1)),
    (MsDeepONet(horizon=3, width=16, basis=8, trunk="loc"), MpcProblem(horizon=3)),
    (
        MsDeepONet(horizon=5, width=33, basis=8, trunk="both"),
        MpcProblem(tracking_cost=5.0, margin_above=6.0, margin_below=2.0, power=(2.0, 18.0)),
    ),
    (MsDeepONet(horizon=10, width=40, basis=8), MpcProblem(horizon=10)),
]
every_shape = pytest.mark.parametrize(("architecture", "problem"), SHAPES, ids=["1", "3-loc", "5-both", "10"])


def foresee(question: Question, plan: FloatArray) -> FloatArray:
    """T̂, K, by the folded network in NumPy."""
    return question.forecast.predict(plan)


def ask(engine: CEngine, question: Question) -> Solution:
    engine.reset()
    return engine.solve(question)


def settle(problem: MpcProblem, question: Question, answer: Solution) -> float:
    """The cost of an answer by the readable network."""
    predicted = foresee(question, answer.plan)
    return problem.cost(answer.plan, predicted, question.previous, counts=question.free, moves=question.moves)


def is_dearer(problem: MpcProblem, question: Question, ours: Solution, theirs: Solution) -> bool:
    """By more than a hundredth of a kelvin of slack in every tick."""
    slack = 0.01 * problem.horizon * (problem.slack_price + problem.tracking_cost)
    return settle(problem, question, ours) > settle(problem, question, theirs) + slack


@every_shape
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 2e-3), ("float32", 2e-2)])
def test_predictions_are_those_of_the_folded_model(
    compilers: list[str],
    draw_model: Draw,
    pose: Pose,
    architecture: MsDeepONet,
    problem: MpcProblem,
    dtype: str,
    tolerance: float,
) -> None:
    model = draw_model(architecture)
    engine = CEngine(model, problem, dtype=dtype)
    for question in pose(model, problem, 20):
        answer = ask(engine, question)
        assert answer.predicted == pytest.approx(foresee(question, answer.plan), rel=1e-5, abs=tolerance)


def test_predictions_of_the_shipped_model_are_within_millikelvins(model: Model, pose: Pose) -> None:
    engine = CEngine(model, MpcProblem())
    for question in pose(model, MpcProblem(), 50):
        answer = ask(engine, question)
        assert answer.predicted == pytest.approx(foresee(question, answer.plan), abs=1e-2)


@every_shape
def test_slopes_are_those_of_the_folded_model(
    compilers: list[str], draw_model: Draw, pose: Pose, architecture: MsDeepONet, problem: MpcProblem
) -> None:
    model = draw_model(architecture)
    engine, high = CEngine(model, problem, dtype=np.float64), problem.power[1]
    rng = np.random.default_rng(4)
    for question in pose(model, problem, 10):
        plan = rng.uniform(0.1, 0.9, problem.horizon)
        predicted, slopes = engine.linearise(question, plan)
        expected, wanted = question.forecast.linearise(high * plan)
        assert predicted == pytest.approx(expected, abs=2e-3)
        assert slopes == pytest.approx(high * wanted, rel=1e-4, abs=1e-3 * np.abs(wanted).max())


@every_shape
def test_no_plan_of_the_readable_solver_is_cheaper(
    compilers: list[str], draw_model: Draw, pose: Pose, architecture: MsDeepONet, problem: MpcProblem
) -> None:
    """Beyond what a hundredth of a kelvin of slack costs; and nearly always the plans are the same."""
    model = draw_model(architecture)
    engine, oracle = CEngine(model, problem, dtype=np.float64), SqpSolver(problem, max_iterations=50)
    dearer, same, compared = 0, 0, 0
    for question in pose(model, problem, 60):
        ours, theirs = ask(engine, question), oracle.solve(question)
        assert (ours.status is Status.INFEASIBLE) == (theirs.status is Status.INFEASIBLE)
        if ours.status is not Status.SOLVED or theirs.status is not Status.SOLVED:
            continue
        compared += 1
        dearer += is_dearer(problem, question, ours, theirs)
        same += bool(np.abs(ours.plan - theirs.plan).max() < 0.02)
    assert compared > 10
    assert dearer <= 0.05 * compared
    assert same >= 0.9 * compared


def test_dark_ticks_get_no_power_and_the_others_are_planned_as_by_the_readable_solver(
    model: Model, pose: Pose, change: Change
) -> None:
    problem = MpcProblem()
    engine, oracle = CEngine(model, problem, dtype=np.float64), SqpSolver(problem, max_iterations=50)
    rng, dearer, same, compared = np.random.default_rng(5), 0, 0, 0
    for question in pose(model, problem, 120):
        lit = rng.random(5) < 0.6
        asked = change(question, lit=lit, resumes=bool(rng.random() < 0.3))
        ours, theirs = ask(engine, asked), oracle.solve(asked)
        late = np.arange(5) >= len(asked.committed)
        assert not ours.plan[late & ~lit].any()
        if ours.status is theirs.status is Status.SOLVED:
            compared += 1
            dearer += is_dearer(problem, asked, ours, theirs)
            same += bool(np.abs(ours.plan - theirs.plan).max() < 0.05)
    assert compared > 40
    assert dearer <= 0.05 * compared
    assert same >= 0.85 * compared


def test_the_temperature_of_a_dark_tick_does_not_count(model: Model, pose: Pose, change: Change) -> None:
    """A plate too hot for any plan is no reason to give up a tick in which it will have cooled."""
    engine = CEngine(model, MpcProblem())
    (question,) = pose(model, MpcProblem(), 1)
    hot = change(question, temps=np.full(6, 1100.0), committed=np.empty(0))
    assert ask(engine, hot).status is Status.INFEASIBLE
    dark = change(hot, lit=np.zeros(5, np.bool_))
    answer = ask(engine, dark)
    assert answer.status is Status.SOLVED
    assert not answer.plan.any()


def test_coming_back_from_the_dark_is_no_move(model: Model, pose: Pose, change: Change) -> None:
    """Without a floor the cheapest plan is no power at all, unless it must be moved to."""
    problem = MpcProblem(slack_cost=0.0)
    engine = CEngine(model, problem, dtype=np.float64)
    (question,) = pose(model, problem, 1)
    cold = change(question, temps=np.full(6, 300.0), previous=15.0, committed=np.empty(0))
    assert ask(engine, cold).plan[0] > 5.0
    assert ask(engine, change(cold, resumes=True)).plan == pytest.approx(np.zeros(5), abs=1e-3)


def test_without_a_floor_a_cold_plate_gets_the_least_of_the_costs(
    model: Model, pose: Pose, change: Change
) -> None:
    problem = MpcProblem(slack_cost=0.0)
    (drawn,) = pose(model, problem, 1)
    question = change(drawn, temps=np.full(6, 300.0), previous=15.0, committed=np.empty(0))
    hops = np.eye(5) - np.eye(5, k=-1)
    weights = problem.power_cost * np.eye(5) + problem.move_cost * hops.T @ hops
    least = np.linalg.solve(weights, problem.move_cost * 15.0 * np.eye(5)[0])
    answer = CEngine(model, problem).solve(question)
    assert answer.status is Status.SOLVED
    assert answer.predicted.max() < problem.ceiling
    assert answer.plan == pytest.approx(least, abs=1e-4)


@pytest.mark.parametrize("cap", [1, 2, 12])
@pytest.mark.parametrize("problem", [MpcProblem(), MpcProblem(margin_above=13.0)])
def test_the_ceiling_is_kept_however_few_iterations_are_allowed(
    model: Model, pose: Pose, problem: MpcProblem, cap: int
) -> None:
    engine, statuses = CEngine(model, problem, max_iterations=cap), set()
    for question in pose(model, problem, 200):
        answer = engine.solve(question)
        statuses.add(answer.status)
        assert answer.iterations <= cap
        assert ((answer.plan >= 0.0) & (answer.plan <= 20.0)).all()
        late = foresee(question, answer.plan)[len(question.committed) :].max()
        if answer.status is Status.INFEASIBLE:
            assert not answer.plan[len(question.committed) :].any()
            assert late > problem.ceiling
        else:
            assert late <= problem.ceiling + 0.02
    assert {Status.INFEASIBLE, Status.SOLVED if cap == 12 else Status.STOPPED} <= statuses


def test_no_answer_costs_more_than_the_plan_it_began_with(model: Model, pose: Pose) -> None:
    problem, compared = MpcProblem(), 0
    engine = CEngine(model, problem)
    for question in pose(model, problem, 200):
        begun = question.settle(question.start, problem.power)
        expected = foresee(question, begun)
        answer = engine.solve(question)
        free = question.free
        if answer.status in (Status.SOLVED, Status.STOPPED) and expected[free].max() <= problem.ceiling:
            compared += 1
            cost = problem.cost(begun, expected, question.previous, counts=free)
            missed = 0.02 * problem.slack_price * 5  # K below the floor in which an answer may be sloppy
            assert settle(problem, question, answer) <= cost + missed
    assert compared > 50


def test_a_plan_that_is_committed_to_the_end_is_only_foreseen(
    model: Model, pose: Pose, change: Change
) -> None:
    (drawn,) = pose(model, MpcProblem(), 1)
    question = change(drawn, temps=np.full(6, 500.0), committed=np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    answer = CEngine(model, MpcProblem()).solve(question)
    assert answer.status is Status.SOLVED
    assert answer.iterations == 0
    assert answer.plan == pytest.approx([1.0, 2.0, 3.0, 4.0, 5.0])
    assert answer.predicted == pytest.approx(foresee(question, answer.plan), abs=1e-2)


def test_single_and_double_arithmetic_agree(model: Model, pose: Pose) -> None:
    engines = [CEngine(model, MpcProblem(), dtype=dtype) for dtype in ("float32", "float64")]
    moves = []
    for question in pose(model, MpcProblem(), 100):
        single, double = (ask(engine, question) for engine in engines)
        moves.append(abs(single.plan[0] - double.plan[0]))
    assert np.percentile(moves, 90) < 0.01  # a kink may send the two to different local optima


def test_committed_powers_come_back_as_they_were_given(model: Model, pose: Pose, change: Change) -> None:
    engine = CEngine(model, MpcProblem())
    for question in pose(model, MpcProblem(), 20):
        for count in range(7):
            committed = np.linspace(3.3, 17.7, 7)[:count]
            answer = engine.solve(change(question, committed=committed))
            assert np.array_equal(answer.plan[:count], committed[:5])


def test_a_question_has_one_answer_after_a_reset(model: Model, pose: Pose) -> None:
    engine = CEngine(model, MpcProblem())
    questions = pose(model, MpcProblem(), 30)
    first = [ask(engine, question) for question in questions]
    for question, before in zip(questions[::-1], first[::-1], strict=True):
        again = ask(engine, question)
        assert np.array_equal(again.plan, before.plan)
        assert np.array_equal(again.predicted, before.predicted, equal_nan=True)


def test_two_engines_do_not_share_what_they_remember(model: Model, pose: Pose) -> None:
    problem = MpcProblem()
    questions = pose(model, problem, 20)
    alone = CEngine(model, problem)
    expected = [alone.solve(question).plan for question in questions]
    one, other = CEngine(model, problem), CEngine(model, replace(problem, window=(700.0, 720.0)))
    for question, plan in zip(questions, expected, strict=True):
        other.solve(question)
        assert np.array_equal(one.solve(question).plan, plan)


def test_a_step_that_does_not_pay_is_shortened_to_two_fifths(
    compilers: list[str], pose: Pose, change: Change
) -> None:
    """A network with a cliff: its slope promises heat, but 6 W further all is far above the ceiling.

    The step of 0.3 P_max leads up there, into a valley across which three more steps only bounce. Then it is
    shortened: two fifths of it end before the cliff at 13 W, where the window is kept nearly as promised.
    """
    model = make_cliff()
    problem = MpcProblem(horizon=1)
    (drawn,) = pose(model, problem, 1)
    question = change(drawn, previous=10.0, committed=np.empty(0), start=np.full(1, 10.0))
    told = foresee(question, np.array([10.0]))[0], foresee(question, np.array([16.0]))[0]
    assert told[0] == pytest.approx(750.0, abs=0.1)
    assert told[1] > 1000.0
    answer = CEngine(model, problem, max_iterations=4, dtype=np.float64).solve(question)
    assert answer.iterations == 4
    assert answer.plan[0] == pytest.approx(10.0 + 0.4 * 0.3 * 20.0, abs=1e-9)
    sooner = CEngine(model, problem, max_iterations=3, dtype=np.float64).solve(question)
    assert sooner.plan[0] == 10.0  # nothing better was found on credit


def make_cliff() -> Model:
    """T̂ = 740 + P up to 13 W, then 600 K/W for half a watt, then a valley around 17 W; P in W, T̂ in K."""
    architecture = MsDeepONet(horizon=1, width=4, basis=1)
    zeros = {name: np.zeros(shape, np.float32) for name, shape in architecture.shapes().items()}
    first, second = zeros["branch.0.weight"], zeros["branch.1.weight"]
    first[:, 0] = 1.0
    zeros["branch.0.bias"][:] = 0.0, -13.0, -13.5, -17.0  # W, of the kinks
    second[:, :] = np.eye(4)
    zeros["branch.2.weight"][0, :] = 1.0, 599.0, -605.0, 10.0  # K/W, the changes of slope there
    zeros["branch.2.bias"][0] = 740.0
    zeros["trunk.2.bias"][0] = 1.0
    a, b = first.shape[1], zeros["trunk.0.weight"].shape[1]
    return Model(
        architecture=architecture,
        weights=zeros,
        scalers=Scalers(
            branch=Scaler(np.zeros(a), np.ones(a)),
            trunk=Scaler(np.full(b, 600.0), np.full(b, 100.0)),
            target=Scaler(np.zeros(1), np.ones(1)),
        ),
    )


def poison(question: Question, change: Change, rng: np.random.Generator) -> Question:
    """One or more entries replaced by what breaks arithmetic, or all of them by noise of any size."""
    bad = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e38, -1e38, 1e-310, 0.0]
    known: Any = question.forecast
    given = {name: getattr(known, name) for name in ("kinematics", "temps", "location")}
    parts: dict[str, Any] = {}
    for name, values in {**given, "start": question.start}.items():
        part = values.copy()
        if rng.random() < 0.3:
            part[...] = rng.normal(0, 1, part.shape) * 10.0 ** rng.uniform(-300, 300)
        hit = rng.random(part.shape) < 0.1
        part[hit] = rng.choice(bad, int(hit.sum()))
        parts[name] = part
    parts["committed"] = rng.choice([*bad, 3.0, 25.0, -4.0], max(0, int(rng.integers(-8, 8))))
    parts["previous"] = float(rng.choice([*bad, question.previous]))
    return change(question, **parts)


def survive(engine: CEngine, problem: MpcProblem, questions: list[Question]) -> set[Status]:
    low, high = problem.power
    told = set()
    for question in questions:
        answer = engine.solve(question)
        assert ((answer.plan >= low) & (answer.plan <= high)).all()
        assert answer.status is Status.NO_PREDICTION or np.isfinite(answer.predicted).all()
        assert 0 <= answer.iterations <= 12
        told.add(answer.status)
    return told


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_input_leads_outside_the_power_bounds(
    dtype: str, model: Model, pose: Pose, change: Change
) -> None:
    problem = MpcProblem(power=(1.0, 20.0))
    rng = np.random.default_rng(1)
    asked = [poison(question, change, rng) for question in pose(model, problem, 1500)]
    told = survive(CEngine(model, problem, dtype=dtype), problem, asked)
    assert {Status.NO_PREDICTION, Status.INFEASIBLE} <= told


@pytest.mark.validation
def test_a_hundred_thousand_inputs_do_not_lead_outside_the_power_bounds(
    model: Model, pose: Pose, change: Change
) -> None:
    problem, rng = MpcProblem(), np.random.default_rng(2)
    engine = CEngine(model, problem)
    for seed in range(100):
        questions = pose(model, problem, 1000, seed)
        survive(engine, problem, [poison(question, change, rng) for question in questions])
