"""The realtime solver: IPOPT's answers where there is a compiler, and where there is none."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop import BadInput
from laserloop.control.controller import Status
from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem, Question, Solver
from laserloop.data.ensemble import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories
from laserloop.loop.scenario import Scenario, prepare
from laserloop.native import build
from laserloop.native.network import RATIO, RealtimeSolver
from laserloop.predict.model import Model, find_model
from laserloop.predict.networks import MsDeepONet, SsAr
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

Change = Callable[..., Question]
Build = Callable[[Model, MpcProblem], RealtimeSolver]
ENGINES = ("compiled", "numpy")
both = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without a compiler."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    build.find_compiler.cache_clear()
    yield
    build.find_compiler.cache_clear()


@pytest.fixture
def make(engine: str, request: pytest.FixtureRequest) -> Build:
    """The solver as it is built with a compiler or without one."""
    request.getfixturevalue("compilers" if engine == "compiled" else "bare")

    def make(model: Model, problem: MpcProblem) -> RealtimeSolver:
        solver = RealtimeSolver(model, problem)
        assert solver.compiled == (engine == "compiled")
        return solver

    return make


@pytest.fixture(scope="module")
def questions(model: Model) -> list[Question]:
    """Warm states along the diagonal, corner included, where the window can be kept."""
    record = Trajectories(ticks=80).get("diagonal", Excitation.PERSISTENT, 0)
    windows = cut_episode(record, sampling=model.sampling)
    asked, folder = [], Folding(model, smoothing=SMOOTHING)
    for i in range(0, len(windows), 3):
        hottest = windows.temps[i, 0]
        known = WindowForecast(
            kinematics=windows.branch[i, :, 1:],
            temps=300.0 + (windows.temps[i] - 300.0) * (780.0 - 300.0) / (hottest - 300.0),
            location=windows.location[i],
            previous=14.0,
            committed=np.empty(0),
            model=model,
            folder=folder,
        )
        asked.append(Question(forecast=known, start=np.full(5, 14.0), lit=np.ones(5, np.bool_)))
    return asked


@both
def test_the_first_moves_are_those_of_ipopt(model: Model, questions: list[Question], make: Build) -> None:
    ours, reference = (
        make(model, MpcProblem()),
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


@both
@pytest.mark.parametrize(
    "problem",
    [
        MpcProblem(margin_above=13.0),
        MpcProblem(tracking_cost=50.0),
        MpcProblem(power=(5.0, 17.0)),
    ],
    ids=["margin", "tracking", "bounds"],
)
def test_every_wish_of_the_problem_is_answered_as_ipopt_does(
    model: Model, questions: list[Question], problem: MpcProblem, make: Build
) -> None:
    ours, reference = make(model, problem), IpoptSolver(model, problem)
    off = []
    for question in questions[::4]:
        answer, truth = ours.solve(question), reference.solve(question)
        low, high = problem.power
        assert (answer.plan >= low - 1e-9).all()
        assert (answer.plan <= high + 1e-9).all()
        if truth.status is Status.SOLVED:
            assert answer.predicted.max() <= problem.ceiling + 0.02
            if truth.predicted.min() > problem.floor - 1e-3:
                off.append(abs(answer.plan[0] - truth.plan[0]))
    assert len(off) > 2
    assert np.median(off) < 0.05


@both
def test_committed_powers_are_kept(
    model: Model, questions: list[Question], change: Change, make: Build
) -> None:
    question = change(questions[5], committed=np.array([12.5, 15.25]))
    plan = make(model, MpcProblem()).solve(question).plan
    assert plan[:2] == pytest.approx([12.5, 15.25])


@both
def test_what_committed_powers_led_to_is_over(
    model: Model, questions: list[Question], change: Change, make: Build
) -> None:
    """A power that was too high overshoots whatever the plan, but the coming ticks can be kept."""
    solvers: list[Solver] = [make(model, MpcProblem()), IpoptSolver(model, MpcProblem())]
    for solver in solvers:
        overshot = 0
        for question in questions:
            solver.reset()
            answer = solver.solve(change(question, committed=np.array([17.0])))
            if answer.predicted[0] > 801.0:
                overshot += 1
                assert answer.status in (Status.SOLVED, Status.STOPPED)
                assert answer.predicted[1:].max() <= 800.0 + 0.02
                assert answer.predicted[1:].min() >= 755.0  # not cut off
        assert overshot > 3


@pytest.mark.parametrize("part", ["kinematics", "temps", "location", "start"])
def test_a_question_of_another_length_is_refused(
    model: Model, questions: list[Question], change: Change, part: str
) -> None:
    values = questions[0].start if part == "start" else getattr(questions[0].forecast, part)
    with pytest.raises(BadInput, match=r"must have the shapes \(5, 4\), \(6,\), \(2,\) and \(5,\)"):
        RealtimeSolver(model, MpcProblem()).solve(change(questions[0], **{part: values[:1]}))


@both
def test_the_same_question_has_the_same_answer(model: Model, questions: list[Question], make: Build) -> None:
    solver = make(model, MpcProblem())
    first = solver.solve(questions[7])
    for other in questions:
        solver.solve(other)
    solver.reset()
    assert np.array_equal(solver.solve(questions[7]).plan, first.plan)


@both
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["temps", "kinematics", "previous"])
def test_what_is_no_number_has_no_prediction(
    model: Model, questions: list[Question], change: Change, make: Build, value: float, part: str
) -> None:
    known: Any = questions[3].forecast
    wrong: Any = value if part == "previous" else np.full_like(getattr(known, part), value)
    answer = make(model, MpcProblem()).solve(change(questions[3], **{part: wrong}))
    assert answer.status is Status.NO_PREDICTION
    assert (answer.plan >= 0.0).all()
    assert (answer.plan <= 20.0).all()


@both
def test_a_plate_too_hot_for_any_plan_gets_the_least_power(
    model: Model, questions: list[Question], change: Change, make: Build
) -> None:
    question = change(questions[3], temps=np.full(6, 1100.0))
    answer = make(model, MpcProblem()).solve(question)
    assert answer.status is Status.INFEASIBLE
    assert answer.plan == pytest.approx(np.zeros(5), abs=1e-6)


@both
@pytest.mark.parametrize("committed", [(), (2.64,)])
def test_a_cold_plate_is_heated_whatever_the_plan_was_before(
    model: Model, make: Build, questions: list[Question], change: Change, committed: tuple[float, ...]
) -> None:
    """From no power the search alone ended in a plan that never heats: 500 K of slack more than IPOPT's."""
    model = find_model("paper-corner-bilinear")  # whose previews are as smooth as these
    problem = MpcProblem(margin_above=13.0)
    places = 1e-7 * np.array([2716, 2984, 3253, 3522, 3790])
    ways = np.full(5, 0.2149605)
    question = change(
        questions[0],
        kinematics=np.stack((-places, places, -ways, ways), axis=1),
        temps=np.array([659.5, 373.8, 350.8, 333.1, 320.0, 312.4]),
        location=np.array([-1e-4, 1e-4]),
        previous=0.0,
        start=np.full(5, committed[0] if committed else 0.0),
        committed=np.array(committed),
    )
    ours = make(model, problem).solve(question)
    theirs = IpoptSolver(model, problem).solve(question)
    costs = [problem.cost(answer.plan, answer.predicted, 0.0) for answer in (ours, theirs)]
    assert (costs[0] - costs[1]) / problem.slack_price < 1.0  # K of slack over the horizon


def test_what_it_cannot_solve_is_refused_when_it_is_built(
    model: Model, draw_model: Callable[..., Model]
) -> None:
    with pytest.raises(BadInput, match="horizon of 5 ticks, got 4"):
        RealtimeSolver(model, MpcProblem(horizon=4))
    long = draw_model(MsDeepONet(horizon=11, width=8, basis=4))
    with pytest.raises(BadInput, match="horizons of 1 to 10 ticks, got 11"):
        RealtimeSolver(long, MpcProblem(horizon=11))
    with pytest.raises(BadInput, match="only an ms-deeponet"):
        RealtimeSolver(draw_model(SsAr(horizon=5, width=8, basis=4)), MpcProblem())


def test_a_run_without_a_compiler_says_what_one_would_bring(bare: None) -> None:
    run = prepare(Scenario(path="diagonal", controller="realtime", model="paper-corner", ticks=3)).run()
    (note,) = run.notes
    assert "no C compiler was found" in note
    assert f"{RATIO} times faster" in note
    assert run.power.max() > 0.0


def test_a_run_with_a_compiler_needs_no_note(compilers: list[str]) -> None:
    run = prepare(Scenario(path="diagonal", controller="realtime", model="paper-corner", ticks=3)).run()
    assert run.notes == ()
