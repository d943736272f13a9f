"""Thousands of independent questions across cores from one call."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution
from laserloop.native.realtime import RealtimeSolver
from laserloop.predict.networks.model import Model


def solve_batch(
    model: Model, problem: MpcProblem, questions: Sequence[Question], *, workers: int | None = None
) -> list[Solution]:
    """The realtime solver's answers, in the order of the questions; each is solved as if it were the first.

    Workers are threads, each with a solver of its own: the compiled one leaves Python while it works. None
    takes every core this process may use.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise BadInput(f"the workers must be a whole number of at least 1, got {workers!r}: choose another")
    count = min(workers or count_cores(), max(1, len(questions)))
    solvers = [RealtimeSolver(model, problem) for _ in range(count)]
    if count == 1:
        return _answer(solvers[0], questions)
    size = -(-len(questions) // count)
    parts = [questions[first : first + size] for first in range(0, len(questions), size)]
    with ThreadPoolExecutor(count) as pool:
        return [solution for part in pool.map(_answer, solvers, parts) for solution in part]


def count_cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _answer(solver: RealtimeSolver, questions: Sequence[Question]) -> list[Solution]:
    """Each with a forgetful solver: the answer must not depend on which worker gave it."""
    solutions = []
    for question in questions:
        solver.reset()
        solutions.append(solver.solve(question))
    return solutions
