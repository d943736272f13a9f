"""The compiled solver against IPOPT on the same questions, whatever engine runs it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from laserloop import BadInput
from laserloop.control.action import Status
from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solver
from laserloop.control.realtime import RealtimeSolver
from laserloop.data.excitation import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories
from laserloop.predict.networks import Model, find_model

ENGINES = ("numba", "c")


@pytest.fixture(scope="module")
def model() -> Model:
    return find_model("paper-corner")


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    """Warm states along the diagonal, corner included, where the window can be kept."""
    record = Trajectories(ticks=80).get("diagonal", Excitation.PERSISTENT, 0)
    windows = cut_episode(record)
    asked = []
    for i in range(0, len(windows), 3):
        hottest = windows.temps[i, 0]
        warm = 300.0 + (windows.temps[i] - 300.0) * (780.0 - 300.0) / (hottest - 300.0)
        asked.append(
            Question(
                kinematics=windows.branch[i, :, 1:],
                temps=warm,
                location=windows.location[i],
                previous=14.0,
                start=np.full(5, 14.0),
                committed=np.empty(0),
            )
        )
    return asked


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_moves_are_those_of_ipopt(model: Model, questions: list[Question], engine: str) -> None:
    ours, reference = (
        RealtimeSolver(model, MpcProblem(), engine=engine),
        IpoptSolver(model, MpcProblem(), tolerance=1e-10),
    )
    moves = []
    for question in questions:
        ours.reset()
        answer, truth = ours.solve(question), reference.solve(question)
        assert answer.predicted.max() <= 800.0 + 0.02
        if truth.status is Status.SOLVED and truth.predicted.min() > 759.999:
            moves.append(abs(answer.plan[0] - truth.plan[0]))
    assert len(moves) > 10
    assert np.percentile(moves, 90) < 0.1
    assert max(moves) < 0.5


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "problem",
    [
        MpcProblem(margin_above=13.0),
        MpcProblem(tracking_cost=50.0),
        MpcProblem(blocks=(1, 2, 2)),
        MpcProblem(power=(5.0, 17.0)),
    ],
    ids=["margin", "tracking", "blocks", "bounds"],
)
def test_every_wish_of_the_problem_is_answered_as_ipopt_does(
    model: Model, questions: list[Question], problem: MpcProblem, engine: str
) -> None:
    ours, reference = RealtimeSolver(model, problem, engine=engine), IpoptSolver(model, problem)
    off = []
    for question in questions[::4]:
        answer, truth = ours.solve(question), reference.solve(question)
        low, high = problem.power
        assert (answer.plan >= low - 1e-9).all()
        assert (answer.plan <= high + 1e-9).all()
        assert np.allclose(answer.plan, problem.spread @ answer.plan[np.argmax(problem.spread, axis=0)])
        if truth.status is Status.SOLVED:
            assert answer.predicted.max() <= problem.ceiling + 0.02
            if truth.predicted.min() > problem.floor - 1e-3:
                off.append(abs(answer.plan[0] - truth.plan[0]))
    assert len(off) > 2
    assert np.median(off) < 0.05


@pytest.mark.parametrize("engine", ENGINES)
def test_committed_powers_are_kept(model: Model, questions: list[Question], engine: str) -> None:
    question = replace(questions[5], committed=np.array([12.5, 15.25]))
    plan = RealtimeSolver(model, MpcProblem(), engine=engine).solve(question).plan
    assert plan[:2] == pytest.approx([12.5, 15.25])


@pytest.mark.parametrize("engine", [*ENGINES, "ipopt"])
def test_what_committed_powers_led_to_is_over(model: Model, questions: list[Question], engine: str) -> None:
    """A power that was too high overshoots whatever the plan, but the coming ticks can be kept."""
    solver, overshot = _make(model, engine), 0
    for question in questions:
        solver.reset()
        answer = solver.solve(replace(question, committed=np.array([17.0])))
        if answer.predicted[0] > 801.0:
            overshot += 1
            assert answer.status in (Status.SOLVED, Status.STOPPED)
            assert answer.predicted[1:].max() <= 800.0 + 0.02
            assert answer.predicted[1:].min() >= 755.0  # not cut off
    assert overshot > 3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("part", ["kinematics", "temps", "location", "start"])
def test_a_question_of_another_length_is_refused(
    model: Model, questions: list[Question], engine: str, part: str
) -> None:
    solver = _make(model, engine)
    short: dict[str, Any] = {part: getattr(questions[0], part)[:1]}
    with pytest.raises(BadInput, match=r"must have the shapes \(5, 4\), \(6,\), \(2,\) and \(5,\)"):
        solver.solve(replace(questions[0], **short))


def _make(model: Model, engine: str) -> Solver:
    if engine == "ipopt":
        return IpoptSolver(model, MpcProblem())
    return RealtimeSolver(model, MpcProblem(), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_question_has_the_same_answer(model: Model, questions: list[Question], engine: str) -> None:
    solver = RealtimeSolver(model, MpcProblem(), engine=engine)
    first = solver.solve(questions[7])
    for other in questions:
        solver.solve(other)
    solver.reset()
    assert np.array_equal(solver.solve(questions[7]).plan, first.plan)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["temps", "kinematics", "previous"])
def test_what_is_no_number_leaves_the_solver_speechless(
    model: Model, questions: list[Question], engine: str, value: float, part: str
) -> None:
    wrong: Any = value if part == "previous" else np.full_like(getattr(questions[3], part), value)
    answer = RealtimeSolver(model, MpcProblem(), engine=engine).solve(replace(questions[3], **{part: wrong}))
    assert answer.status is Status.SPEECHLESS
    assert (answer.plan >= 0.0).all()
    assert (answer.plan <= 20.0).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plate_too_hot_for_any_plan_gets_the_least_power(
    model: Model, questions: list[Question], engine: str
) -> None:
    question = replace(questions[3], temps=np.full(6, 1100.0))
    answer = RealtimeSolver(model, MpcProblem(), engine=engine).solve(question)
    assert answer.status is Status.INFEASIBLE
    assert not answer.plan.any()


def test_both_engines_give_the_same_plans(model: Model, questions: list[Question]) -> None:
    numba, compiled = (RealtimeSolver(model, MpcProblem(), engine=engine) for engine in ENGINES)
    for question in questions:
        assert numba.solve(question).plan[0] == pytest.approx(compiled.solve(question).plan[0], abs=0.05)


def test_an_unknown_engine_is_refused(model: Model) -> None:
    with pytest.raises(BadInput, match="engine"):
        RealtimeSolver(model, MpcProblem(), engine="fpga")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("committed", [(), (2.64,)])
def test_a_cold_plate_is_heated_whatever_the_plan_was_before(
    model: Model, engine: str, committed: tuple[float, ...]
) -> None:
    """From no power the search alone ended in a plan that never heats: 500 K of slack more than IPOPT's."""
    problem = MpcProblem(margin_above=13.0)
    places = 1e-7 * np.array([2716, 2984, 3253, 3522, 3790])
    ways = np.full(5, 0.2149605)
    question = Question(
        kinematics=np.stack((-places, places, -ways, ways), axis=1),
        temps=np.array([659.5, 373.8, 350.8, 333.1, 320.0, 312.4]),
        location=np.array([-1e-4, 1e-4]),
        previous=0.0,
        start=np.full(5, committed[0] if committed else 0.0),
        committed=np.array(committed),
    )
    ours = RealtimeSolver(model, problem, engine=engine).solve(question)
    theirs = IpoptSolver(model, problem).solve(question)
    costs = [problem.cost(answer.plan, answer.predicted, 0.0) for answer in (ours, theirs)]
    assert (costs[0] - costs[1]) / problem.slack_price < 1.0  # K of slack over the horizon
