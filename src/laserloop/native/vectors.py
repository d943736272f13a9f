"""Test vectors: questions in a row and the answers that the solver gives to them on this machine.

A vector is only kept if its answer does not hinge on rounding: float32 and float64 must lead to the same
one in the same few iterations, and not by stopping at their cap.
"""

from dataclasses import dataclass, replace

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question, Solution, Solver
from laserloop.native.build import NoCompiler
from laserloop.native.engine import CEngine
from laserloop.predict.model import Model
from laserloop.predict.networks import ROW, MsDeepONet
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

COUNT = 200
POWER_TOLERANCE = 0.02  # W
HEAT_TOLERANCE = 0.05  # K
MOST_ITERATIONS = 6
CODES = {Status.SOLVED: 0, Status.INFEASIBLE: 2}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vector:
    """A question and what it must be answered with."""

    question: Question
    answer: Solution


def draw_vectors(
    model: Model, problem: MpcProblem, *, dtype: str = "float32", count: int = COUNT, seed: int = 0
) -> list[Vector]:
    """Questions around what the model was trained on, heat-up and overheated plates among them."""
    other = {"float32": "float64", "float64": "float32"}[dtype]
    try:
        solvers: list[Solver] = [CEngine(model, problem, dtype=name) for name in (dtype, other)]
    except NoCompiler as missing:
        raise BadInput(
            f"an export needs a C compiler here to answer its test vectors, but {missing}: install one"
        ) from None
    folder = Folding(model, smoothing=SMOOTHING)
    rng = np.random.default_rng(seed)
    kept: list[Vector] = []
    for _ in range(20 * count):
        question = draw_question(model, problem, rng, folder)
        answer, check = (_answer(solver, question) for solver in solvers)
        if answer.status in CODES and _agree(answer, check):
            kept.append(Vector(question=question, answer=answer))
        if len(kept) == count:
            return kept
    raise BadInput(
        f"of {20 * count} questions only {len(kept)} had an answer that rounding leaves alone: "
        "the model has not been trained for this problem; train one that is"
    )


def draw_question(model: Model, problem: MpcProblem, rng: np.random.Generator, folder: Folding) -> Question:
    """A question about as far from the training data's mean as that data is."""
    horizon, scalers = problem.horizon, model.scalers
    moving = np.arange(ROW * horizon) % ROW > 0
    kinematics = scalers.branch.mean[moving] + scalers.branch.std[moving] * rng.normal(0, 0.7, 4 * horizon)
    seen = scalers.trunk.mean + scalers.trunk.std * rng.normal(0, 0.7, len(scalers.trunk.mean))
    architecture = model.architecture
    assert isinstance(architecture, MsDeepONet)
    state = np.concatenate((np.full(1 + horizon, rng.uniform(300.0, problem.ceiling)), kinematics[:2]))
    state[list(architecture.seen)] = seen
    if model.trained_for is not None:  # where the deployed controller lets the beam be
        x_low, x_high, y_low, y_high = model.trained_for.area
        ways = kinematics.reshape(horizon, 4)
        ways[:, :2] = np.clip(ways[:, :2], (x_low, y_low), (x_high, y_high))
        state[-2:] = np.clip(state[-2:], (x_low, y_low), (x_high, y_high))
    temps, location = state[: 1 + horizon], state[1 + horizon :]
    temps[0] = rng.choice([temps[0], rng.uniform(*problem.window), 300.0, problem.ceiling + 60.0])
    low, high = problem.power
    committed = rng.uniform(low, high, rng.choice([0, 0, 0, min(1, horizon - 1), min(2, horizon - 1)]))
    known = WindowForecast(
        kinematics=kinematics.reshape(horizon, 4),
        temps=temps,
        location=location,
        previous=float(rng.uniform(low, high)),
        committed=committed,
        model=model,
        folder=folder,
    )
    start = np.full(horizon, rng.uniform(low, high))
    return Question(forecast=known, start=start, lit=np.ones(horizon, np.bool_))


def write_vectors(vectors: list[Vector]) -> str:
    """One line each: the question, then plan, prediction and status."""
    horizon = len(vectors[0].question.start)
    lines = [f"{len(vectors)} {horizon} {POWER_TOLERANCE!r} {HEAT_TOLERANCE!r}"]
    for vector in vectors:
        q, a = vector.question, vector.answer
        known = q.network(horizon)
        committed = np.concatenate((q.committed, np.zeros(horizon - len(q.committed))))
        asked = (
            *known.kinematics.ravel(),
            *known.temps,
            *known.location,
            q.previous,
            len(q.committed),
            *committed,
            *q.start,
        )
        told = (*a.plan, *a.predicted, CODES[a.status])
        lines.append(" ".join(format(float(number), ".17g") for number in (*asked, *told)))
    return "\n".join(lines) + "\n"


def _answer(solver: Solver, question: Question) -> Solution:
    solver.reset()
    return solver.solve(replace(question, start=question.start.copy()))


def _agree(one: Solution, other: Solution) -> bool:
    """Well inside the tolerances."""
    return (
        one.status is other.status
        and one.iterations == other.iterations <= MOST_ITERATIONS
        and bool(np.abs(one.plan - other.plan).max() < 0.2 * POWER_TOLERANCE)
        and bool(np.abs(one.predicted - other.predicted).max() < 0.2 * HEAT_TOLERANCE)
    )
