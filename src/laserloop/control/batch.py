"""Thousands of independent questions across cores from one call."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution, Solver
from laserloop.predict.networks.model import Model

SHARES = 4  # parts per worker: a slow part holds up less, a small one costs more messages
FEW = 64  # questions that are answered sooner than a process starts


def solve_batch(
    model: Model, problem: MpcProblem, questions: Sequence[Question], *, workers: int | None = None
) -> list[Solution]:
    """The realtime solver's answers, in the order of the questions; each is solved as if it were the first.

    Workers are fresh processes, since numba's threading layer forbids concurrent threads: a script that calls
    this needs the usual `if __name__ == "__main__":`. None takes every core this process may use.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise BadInput(f"the workers must be a whole number of at least 1, got {workers!r}: choose another")
    count = workers or (1 if len(questions) <= FEW else count_cores())
    solver = _make_solver(model, problem)  # refuses a misfit here, and leaves the kernels compiled for all
    if count == 1 or len(questions) < 2:
        return _answer(solver, questions)
    size = -(-len(questions) // (SHARES * count))
    parts = [questions[first : first + size] for first in range(0, len(questions), size)]
    with ProcessPoolExecutor(
        min(count, len(parts)),
        mp_context=get_context("spawn"),
        initializer=_start_worker,
        initargs=(model, problem),
    ) as pool:
        return [solution for part in pool.map(_work, parts) for solution in part]


def count_cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _make_solver(model: Model, problem: MpcProblem) -> Solver:
    from laserloop.control.realtime import RealtimeSolver

    return RealtimeSolver(model, problem)


def _answer(solver: Solver, questions: Sequence[Question]) -> list[Solution]:
    """Each with a forgetful solver: the answer must not depend on which worker gave it."""
    solutions = []
    for question in questions:
        solver.reset()
        solutions.append(solver.solve(question))
    return solutions


_solver: Solver | None = None  # of a worker process; a pool has no other place for it


def _start_worker(model: Model, problem: MpcProblem) -> None:
    global _solver  # noqa: PLW0603
    _solver = _make_solver(model, problem)


def _work(questions: Sequence[Question]) -> list[Solution]:
    assert _solver is not None
    return _answer(_solver, questions)
