"""Bench of the solvers: every problem is put to each of them in turn, in one process, on one core."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from laserloop.bench.agreement import FAR, ask_from_starts, compare
from laserloop.bench.laps import Laps
from laserloop.bench.mpc_sqp import CasadiSqpSolver
from laserloop.bench.mpc_twin import TwinBench
from laserloop.bench.questions import collect_questions, vary_questions
from laserloop.control.controller import Status
from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem, Question, Solution, Solver
from laserloop.control.sqp import SqpSolver
from laserloop.loop.controllers import is_own
from laserloop.loop.scenario import Scenario, prepare
from laserloop.native.build import NoCompiler
from laserloop.native.engine import CEngine
from laserloop.native.realtime import RealtimeSolver
from laserloop.predict.model import Model, find_model

Progress = Callable[[int, int], None]

INTERVAL = 125e-6  # s, the control period
PATHS = ("diagonal", "vertical", "spiral")
TICKS = 120  # of the closed loop along each path
TIGHT = 1e-10  # IPOPT's tolerance where it is the judge
REPEATS = 5  # of the compiled solvers on each problem


def run_mpc_bench(
    *, problems: int = 600, model: str = "paper-corner", seed: int = 0, progress: Progress | None = None
) -> dict[str, Any]:
    """Times of each solver, their ratios, and how far the first moves are from those of a tight IPOPT."""
    if is_own(model):
        return time_own(model, problems)
    network = find_model(model)
    problem = MpcProblem(horizon=network.architecture.horizon)
    questions = draw_problems(model, problems, seed)
    solvers: dict[str, Solver] = {
        "reference": IpoptSolver(network, problem, graph="plain"),
        "folded": IpoptSolver(network, problem),
        "sqp": CasadiSqpSolver(network, problem),
        "numpy": SqpSolver(problem),
        "realtime": RealtimeSolver(network, problem),
    }
    judge = IpoptSolver(network, problem, tolerance=TIGHT)
    twin = TwinBench(problems)
    alone = _build_c(network, problem)
    for solver in solvers.values():
        solver.solve(questions[0])
    laps: dict[str, Laps] = {name: Laps() for name in solvers}
    answers: dict[str, list[Solution]] = {name: [] for name in solvers}
    judged = []
    if alone is not None:
        laps["exported_c"] = Laps()
    for n, question in enumerate(questions, start=1):
        for name, solver in solvers.items():
            for _ in range(REPEATS if isinstance(solver, RealtimeSolver) else 1):
                solver.reset()
                answer = laps[name].run(partial(solver.solve, question))
            answers[name].append(answer)
        if alone is not None:
            alone.take(question)
            for _ in range(REPEATS):
                alone.reset()
                laps["exported_c"].run(alone.answer)
        twin.turn(REPEATS)
        judged.append(ask_from_starts(judge, question, problem))
        if progress is not None:
            progress(n, len(questions))
    if alone is not None:
        laps["exported_c_alone"] = run_row(alone, questions)
        laps["exported_c_warm"] = run_loops(alone, model)
    found = _report(network, problem, questions, laps, answers, judged)
    return found | twin.report(found["reference"]["median_us"])


def time_own(model: str, problems: int) -> dict[str, Any]:
    """Whole decisions, image in and power out, with a predictor FILE.py:NAME, on a loop of `graded`."""
    case = Scenario(path=PATHS[0], controller="sqp", model=model, plant="graded", ticks=problems)
    run = prepare(case).run()
    median, p99 = 1e6 * np.percentile(run.wall_s, (50, 99))
    statuses = Counter(map(str, run.statuses))
    return {"problems": problems, "own": {"median_us": median, "p99_us": p99}, "statuses": dict(statuses)}


def run_row(alone: CEngine, questions: Sequence[Question]) -> Laps:
    """The same problems one after another on a core that does nothing else: caches and clock stay warm."""
    laps = Laps()
    for question in questions:
        alone.take(question)
        for _ in range(REPEATS):
            alone.reset()
            laps.run(alone.answer)
    return laps


def run_loops(alone: CEngine, model: str) -> Laps:
    """The questions of closed loops in their order, nothing forgotten in between: what a machine sees."""
    laps = Laps()
    for path in PATHS:
        questions = collect_questions(model, (path,), TICKS, controller="realtime")
        for _ in range(REPEATS):
            alone.reset()
            for question in questions:
                alone.take(question)
                laps.run(alone.answer)
    return laps


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
    seen = collect_questions(model, PATHS, TICKS, controller="realtime")
    rng = np.random.default_rng(seed)
    chosen = np.linspace(0, len(seen) - 1, count - count // 2).astype(int)
    return [*(seen[i] for i in chosen), *vary_questions(seen, problem, count // 2, rng)]


def _report(
    model: Model,
    problem: MpcProblem,
    questions: Sequence[Question],
    laps: dict[str, Laps],
    answers: dict[str, list[Solution]],
    judged: list[list[Solution]],
) -> dict[str, Any]:
    times = {name: lap.describe() for name, lap in laps.items()}
    told = [judge[0] for judge in judged]
    feasible = [answer for answer in told if answer.status is Status.SOLVED]
    best = "exported_c" if "exported_c" in times else "realtime"
    base = times["reference"]["median_us"]
    neighbour = IpoptSolver(model, problem, tolerance=TIGHT, reach=FAR)
    beside = partial(compare, model, problem, questions, judged=judged, neighbour=neighbour)
    found: dict[str, Any] = {
        "problems": len(questions),
        "feasible": len(feasible),
        "slack_free": sum(bool(answer.predicted.min() >= problem.floor - 1e-3) for answer in feasible),
        **times,
        "ratio_median": base / times["realtime"]["median_us"],
        "ratio_median_folded": base / times["folded"]["median_us"],
        "ratio_median_sqp": base / times["sqp"]["median_us"],
        "ratio_numpy_realtime": times["numpy"]["median_us"] / times["realtime"]["median_us"],
        **({"ratio_median_c": base / times[best]["median_us"]} if best == "exported_c" else {}),
        **beside(answers=answers["realtime"]),  # the same source as the exported C, where there is a compiler
        "over_tick_fraction": laps[best].share_over(INTERVAL),
        "over_tick_fraction_quiet": laps[best].share_over(INTERVAL, quiet=True),
        "iterations": _count_iterations(answers["realtime"]),
    }
    other = beside(answers=answers["sqp"])
    found["sqp"] |= {name: other[name] for name in ("first_move_difference_w", "over_ceiling_k")}
    found["statuses"] = {
        name: {str(s): sum(a.status is s for a in given) for s in {a.status for a in given}}
        for name, given in {**answers, "judge": told}.items()
    }
    return found


def _count_iterations(answers: Sequence[Solution]) -> dict[str, float]:
    counts = np.array([answer.iterations for answer in answers])
    return {"mean": float(counts.mean()), "p99": float(np.percentile(counts, 99)), "max": float(counts.max())}
