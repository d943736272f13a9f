"""The realtime kernels: the network is the model's, the slopes are its slopes, the ceiling is kept."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop import BadInput
from laserloop.control import realtime_kernels as kernels
from laserloop.control.action import Status
from laserloop.control.folding import Folder
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question
from laserloop.control.realtime import RealtimeSolver
from laserloop.control.realtime_network import MATRICES, pack_network
from laserloop.data.scaling import Scaler
from laserloop.predict.networks import Model, MsDeepONet, Scalers, SsAr, find_model
from laserloop.predict.networks.architecture import Architecture, feature_sizes

FloatArray = NDArray[np.float64]

SMOOTHING = 1e-6  # of the rectifier, as in ipopt
SHAPES = [
    MsDeepONet(horizon=1, width=5, basis=3),
    MsDeepONet(horizon=4, width=16, basis=7, trunk="loc"),
    MsDeepONet(horizon=5, width=33, basis=10, trunk="both"),
    MsDeepONet(horizon=10, width=48, basis=12),
]


def draw_model(architecture: Architecture, seed: int = 0) -> Model:
    """An untrained network around 700 K."""
    rng = np.random.default_rng(seed)
    a, b, c = feature_sizes(architecture)
    return Model(
        architecture=architecture,
        weights={
            name: (3 * part).astype(np.float32) for name, part in architecture.draw_weights(rng).items()
        },
        scalers=Scalers(
            branch=Scaler(np.resize([10.0, 0, 0, 0, 0], a), np.resize([6.0, 1e-3, 1e-3, 0.2, 0.2], a)),
            trunk=Scaler(np.full(b, 600.0), np.full(b, 100.0)),
            target=Scaler(np.full(c, 700.0), np.full(c, 60.0)),
        ),
    )


def draw_question(rng: np.random.Generator, horizon: int = 5) -> Question:
    """A beam on its way over a plate of some temperature; from cold to far too hot."""
    heading = rng.uniform(0, 2 * np.pi) + np.cumsum(rng.normal(0, 0.3, horizon))
    velocity = 0.304 * np.stack((np.cos(heading), np.sin(heading)), axis=1)
    places = rng.uniform(-1e-3, 1e-3, 2) + np.cumsum(velocity, axis=0) * 1.25e-4
    hottest = rng.choice([300.0, 500.0, 700.0, 760.0, 780.0, 799.0, 830.0, 950.0])
    falling = hottest - (hottest - 300.0) * np.sort(rng.uniform(0, 0.8, horizon))
    return Question(
        kinematics=np.concatenate((places, velocity), axis=1),
        temps=np.concatenate(([hottest], falling)),
        location=places[0],
        previous=float(rng.uniform(0, 20)),
        start=rng.uniform(0, 20, horizon),
        committed=np.empty(0),
    )


def foresee(model: Model, question: Question, plan: FloatArray) -> FloatArray:
    """T̂, K, by the folding that ipopt uses."""
    folded = Folder(model, smoothing=SMOOTHING).fold(question.kinematics, question.temps, question.location)

    def bend(z: FloatArray) -> FloatArray:
        return 0.5 * (z + np.sqrt(z * z + SMOOTHING))

    return folded.C @ bend(folded.W @ bend(folded.A @ plan + folded.a) + folded.b) + folded.c


@pytest.fixture(scope="module")
def model() -> Model:
    return find_model("paper-corner")


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 2e-3), ("float32", 1e-2)])
@pytest.mark.parametrize("architecture", SHAPES, ids=lambda a: f"{a.trunk}-{a.horizon}x{a.width}")
def test_predictions_are_those_of_the_folded_model(
    architecture: MsDeepONet, dtype: str, tolerance: float
) -> None:
    drawn, rng = draw_model(architecture), np.random.default_rng(1)
    problem = MpcProblem(horizon=architecture.horizon)
    solver = RealtimeSolver(drawn, problem, dtype=dtype, engine="numba")
    for _ in range(20):
        question = draw_question(rng, architecture.horizon)
        answer = solver.solve(question)
        assert answer.predicted == pytest.approx(
            foresee(drawn, question, answer.plan), rel=1e-5, abs=tolerance
        )


def test_predictions_of_the_shipped_model_are_within_millikelvins(model: Model) -> None:
    solver, rng = RealtimeSolver(model, MpcProblem(), engine="numba"), np.random.default_rng(2)
    for _ in range(50):
        question = draw_question(rng)
        answer = solver.solve(question)
        assert answer.predicted == pytest.approx(foresee(model, question, answer.plan), abs=5e-3)


@pytest.mark.parametrize("architecture", SHAPES, ids=lambda a: f"{a.trunk}-{a.horizon}x{a.width}")
def test_slopes_are_the_differences_of_predictions(architecture: MsDeepONet) -> None:
    drawn, n = draw_model(architecture), architecture.horizon
    problem = MpcProblem(horizon=n)
    net, question = pack_network(drawn, problem, np.float64), draw_question(np.random.default_rng(3), n)
    width = net.width
    units, rows = np.zeros((6, width)), np.zeros(max(width, len(net.M), 4 * n) + 1, np.int64)
    a, folded = np.zeros(width), np.zeros(net.M.shape[1])
    parts = tuple(getattr(net, name) for name in MATRICES)
    kernels.fold_tick(
        *(parts, (net.kinematics_stats, net.trunk_stats), net.seen, 0.0),
        *(
            question.kinematics,
            question.temps,
            question.location,
            np.zeros(4 * n + 3),
            np.zeros(len(net.M)),
            units,
            rows,
            a,
            folded,
        ),
    )

    def predict(plan: FloatArray) -> FloatArray:
        out = np.zeros(n)
        kernels.predict(net.A, net.W, net.b, a, folded, 0.0, plan, units, rows, out)
        return out

    plan, J = np.random.default_rng(4).uniform(0.1, 0.9, n), np.zeros((n, n))
    differences = np.stack([(predict(plan + e) - predict(plan - e)) / 2e-6 for e in 1e-6 * np.eye(n)], axis=1)
    predict(plan)
    work = np.zeros((n, width)), np.zeros((n, width))
    kernels.differentiate(net.A, net.W, folded, n, 0.0, units, rows, *work, J)
    assert pytest.approx(differences, rel=1e-4, abs=1e-4) == J


def test_without_a_floor_a_cold_plate_gets_the_least_of_the_costs(model: Model) -> None:
    problem = MpcProblem(slack_cost=0.0)
    question = replace(draw_question(np.random.default_rng(5)), temps=np.full(6, 300.0), previous=15.0)
    hops = np.eye(5) - np.eye(5, k=-1)
    weights = problem.power_cost * np.eye(5) + problem.move_cost * hops.T @ hops
    least = np.linalg.solve(weights, problem.move_cost * 15.0 * np.eye(5)[0])
    answer = RealtimeSolver(model, problem, engine="numba").solve(question)
    assert answer.status is Status.SOLVED
    assert answer.predicted.max() < problem.ceiling
    assert answer.plan == pytest.approx(least, abs=1e-4)


@pytest.mark.parametrize("cap", [1, 2, 12])
@pytest.mark.parametrize("problem", [MpcProblem(), MpcProblem(margin_above=13.0, blocks=(1, 1, 3))])
def test_the_ceiling_is_kept_however_few_iterations_are_allowed(
    model: Model, problem: MpcProblem, cap: int
) -> None:
    solver = RealtimeSolver(model, problem, max_iterations=cap, engine="numba")
    rng, statuses = np.random.default_rng(6), set()
    for _ in range(200):
        question = draw_question(rng)
        answer = solver.solve(question)
        statuses.add(answer.status)
        assert answer.iterations <= cap
        assert ((answer.plan >= 0.0) & (answer.plan <= 20.0)).all()
        if answer.status is Status.INFEASIBLE:
            assert not answer.plan.any()
            assert foresee(model, question, answer.plan).max() > problem.ceiling
        else:
            assert foresee(model, question, answer.plan).max() <= problem.ceiling + 0.02
    assert {Status.INFEASIBLE, Status.SOLVED if cap == 12 else Status.STOPPED} <= statuses


def test_no_answer_costs_more_than_the_plan_it_began_with(model: Model) -> None:
    problem, rng = MpcProblem(), np.random.default_rng(7)
    solver, compared = RealtimeSolver(model, problem, engine="numba"), 0
    for _ in range(200):
        question = draw_question(rng)
        expected = foresee(model, question, question.start)
        answer = solver.solve(question)
        if answer.status in (Status.SOLVED, Status.STOPPED) and expected.max() <= problem.ceiling:
            compared += 1
            begun = problem.cost(question.start, expected, question.previous)
            missed = 0.02 * problem.slack_price * 5  # K below the floor in which an answer may be sloppy
            assert problem.cost(answer.plan, answer.predicted, question.previous) <= begun + missed
    assert compared > 50


def test_a_plan_that_is_committed_to_the_end_is_only_foreseen(model: Model) -> None:
    question = replace(draw_question(np.random.default_rng(8)), temps=np.full(6, 500.0))
    question = replace(question, committed=np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    answer = RealtimeSolver(model, MpcProblem(), engine="numba").solve(question)
    assert answer.status is Status.SOLVED
    assert answer.iterations == 0
    assert answer.plan == pytest.approx([1.0, 2.0, 3.0, 4.0, 5.0])
    assert answer.predicted == pytest.approx(foresee(model, question, answer.plan), abs=5e-3)


def test_a_block_that_is_partly_committed_is_held_over_the_rest(model: Model) -> None:
    solver = RealtimeSolver(model, MpcProblem(blocks=(3, 2)), engine="numba")
    rng = np.random.default_rng(9)
    for _ in range(20):
        question = replace(draw_question(rng), committed=np.array([9.0]))
        plan = solver.solve(question).plan
        assert plan[0] == pytest.approx(9.0)
        assert plan[1] == plan[2]
        assert plan[3] == plan[4]


def test_single_and_double_arithmetic_agree(model: Model) -> None:
    solvers = [
        RealtimeSolver(model, MpcProblem(), dtype=dtype, engine="numba") for dtype in ("float32", "float64")
    ]
    rng = np.random.default_rng(10)
    moves = []
    for _ in range(100):
        question = draw_question(rng)
        for solver in solvers:
            solver.reset()
        single, double = (solver.solve(question) for solver in solvers)
        moves.append(abs(single.plan[0] - double.plan[0]))
    assert np.percentile(moves, 90) < 0.01  # a kink may send the two to different local optima


def test_what_it_cannot_solve_is_refused_when_it_is_built(model: Model) -> None:
    with pytest.raises(BadInput, match="horizon of 5 ticks, got 4"):
        RealtimeSolver(model, MpcProblem(horizon=4))
    long = draw_model(MsDeepONet(horizon=11, width=8, basis=4))
    with pytest.raises(BadInput, match="horizons of 1 to 10 ticks, got 11"):
        RealtimeSolver(long, MpcProblem(horizon=11))
    with pytest.raises(BadInput, match="only an ms-deeponet"):
        RealtimeSolver(draw_model(SsAr(horizon=5, width=8, basis=4)), MpcProblem())
