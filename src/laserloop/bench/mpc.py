"""Bench of the solvers: every problem is put to each of them in turn, in one process, on one core."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.action import Status
from laserloop.control.export.compiler import NoCompiler
from laserloop.control.export.engine import CEngine
from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution, Solver
from laserloop.control.realtime import RealtimeSolver
from laserloop.study.questions import collect_questions, vary_questions
from laserloop.surrogates import Model, find_model

Progress = Callable[[int, int], None]
FloatArray = NDArray[np.float64]

INTERVAL = 125e-6  # s, the control period
PATHS = ("diagonal", "vertical", "spiral")
TIGHT = 1e-10  # IPOPT's tolerance where it is the judge
REPEATS = 5  # of the compiled solvers on each problem


def run_mpc_bench(
    *, problems: int = 600, model: str = "paper-corner", seed: int = 0, progress: Progress | None = None
) -> dict[str, Any]:
    """Times of each solver, their ratios, and how far the first moves are from those of a tight IPOPT."""
    network = find_model(model)
    problem = MpcProblem(horizon=network.architecture.horizon)
    questions = draw_problems(model, problems, seed)
    solvers: dict[str, Solver] = {
        "reference": IpoptSolver(network, problem, graph="plain"),
        "folded": IpoptSolver(network, problem),
        "realtime": RealtimeSolver(network, problem),
        "numba": RealtimeSolver(network, problem, engine="numba"),
    }
    judge = IpoptSolver(network, problem, tolerance=TIGHT)
    alone = _build_c(network, problem)
    for solver in solvers.values():
        solver.solve(questions[0])
    laps: dict[str, list[float]] = {name: [] for name in solvers}
    if alone is not None:
        laps["exported_c"] = []
    answers: dict[str, list[Solution]] = {name: [] for name in (*solvers, "judge")}
    for n, question in enumerate(questions, start=1):
        for name, solver in solvers.items():
            repeats = REPEATS if isinstance(solver, RealtimeSolver) else 1
            for _ in range(repeats):
                solver.reset()
                began = perf_counter()
                answer = solver.solve(question)
                laps[name].append(perf_counter() - began)
            answers[name].append(answer)
        if alone is not None:
            alone.solve(question)
            for _ in range(REPEATS):
                alone.reset()
                began = perf_counter()
                alone.answer_again()
                laps["exported_c"].append(perf_counter() - began)
        answers["judge"].append(judge.solve(question))
        if progress is not None:
            progress(n, len(questions))
    return _report(problem, questions, laps, answers)


def _build_c(model: Model, problem: MpcProblem) -> CEngine | None:
    """The exported C on its own, where there is a compiler."""
    try:
        return CEngine(model, problem)
    except NoCompiler:
        return None


def draw_problems(model: str, count: int, seed: int) -> list[Question]:
    """Half from closed loops along three paths (heating up and corners included), half random states."""
    network = find_model(model)
    problem = MpcProblem(horizon=network.architecture.horizon)
    seen = collect_questions(network, problem, PATHS, 120, controller="realtime")
    rng = np.random.default_rng(seed)
    chosen = np.linspace(0, len(seen) - 1, count - count // 2).astype(int)
    return [*(seen[i] for i in chosen), *vary_questions(seen, problem, count // 2, rng)]


def _report(
    problem: MpcProblem,
    questions: Sequence[Question],
    laps: dict[str, list[float]],
    answers: dict[str, list[Solution]],
) -> dict[str, Any]:
    times = {name: _spread(np.array(lap)) for name, lap in laps.items()}
    judge = answers["judge"]
    feasible = np.array([answer.status is Status.SOLVED for answer in judge])
    slack_free = feasible & np.array([a.predicted.min() >= problem.floor - 1e-3 for a in judge])
    found: dict[str, Any] = {
        "problems": len(questions),
        "feasible": int(feasible.sum()),
        "slack_free": int(slack_free.sum()),
        **times,
        "ratio_median": times["reference"]["median_us"] / times["realtime"]["median_us"],
        "ratio_median_folded": times["reference"]["median_us"] / times["folded"]["median_us"],
    }
    best = "exported_c" if "exported_c" in times else "realtime"
    if best == "exported_c":
        found["ratio_median_c"] = times["reference"]["median_us"] / times[best]["median_us"]
    given = answers["realtime"]  # the same source as the exported C, where there is a compiler
    first = np.array([abs(a.plan[0] - j.plan[0]) for a, j in zip(given, judge, strict=True)])
    over = np.array([a.predicted.max() - problem.ceiling for a in given])
    found["first_move_difference_w"] = _tail(first[feasible])
    found["first_move_difference_slack_free_w"] = _tail(first[slack_free])
    found["over_ceiling_k"] = float(over[feasible].max(initial=0.0))
    found["over_tick_fraction"] = float(np.mean(np.array(laps[best]) > INTERVAL))
    found["statuses"] = {
        name: {str(s): sum(a.status is s for a in given) for s in {a.status for a in given}}
        for name, given in answers.items()
    }
    return found


def _spread(seconds: FloatArray) -> dict[str, float]:
    median, p99, p999 = 1e6 * np.percentile(seconds, (50, 99, 99.9))
    return {"median_us": float(median), "p99_us": float(p99), "p999_us": float(p999)}


def _tail(values: FloatArray) -> dict[str, float]:
    if not len(values):
        return {"median": 0.0, "p99": 0.0, "max": 0.0}
    median, p99 = np.percentile(values, (50, 99))
    return {"median": float(median), "p99": float(p99), "max": float(values.max())}
