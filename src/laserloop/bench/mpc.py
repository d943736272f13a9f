"""Bench of the solvers: every problem is put to each of them in turn, in one process, on one core.

The problem is not convex, so a tight IPOPT is asked from several starts: where its own answers differ, "the"
answer does not exist, and where a plan costs no more than IPOPT's, being different is no error. A plan that
does cost more is put to a neighbour, an IPOPT that must stay near its start: where that finds nothing
cheaper, the plan is a minimum too, only another one.

For CasADi's own SQP:
P̄ = P/P_max      ε̄ = ε/ε_max      x = (P̄, ε̄)
p = (a, C, c, P̄ before the plan), see predict/window.py
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.bench.laps import Laps
from laserloop.bench.mpc_twin import TwinBench
from laserloop.control.controller import Status
from laserloop.control.ipopt import IpoptSolver, embed_folded
from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, Question, Solution, Solver
from laserloop.control.sqp import SqpSolver
from laserloop.loop.controllers import is_own
from laserloop.loop.scenario import Scenario, prepare
from laserloop.native.build import NoCompiler
from laserloop.native.network import CEngine, RealtimeSolver
from laserloop.predict.model import Model, find_model
from laserloop.predict.window import SMOOTHING, Folding

FloatArray = NDArray[np.float64]
STARTS = (0.35, 0.65, 0.95)  # of P_max, besides the question's own
SAME = 1e-6  # relative difference of costs that is none
UNIQUE = 0.02  # W, by which IPOPT's first moves may differ between starts
FAR = 0.1  # W, from which on first moves are called different
VISIBLE = 0.02  # K of slack in all, which is as near as anyone keeps a bound
LEVEL = 1e-4  # of its cost, less than which a plan that keeps the window may gain nearby and be a minimum
ROUNDING = 1e-3  # K, as for IPOPT
Progress = Callable[[int, int], None]
INTERVAL = 125e-6  # s, the control period
PATHS = ("diagonal", "vertical", "spiral")
TICKS = 120  # of the closed loop along each path
TIGHT = 1e-10  # IPOPT's tolerance where it is the judge
REPEATS = 5  # of the compiled solvers on each problem


class _Recorder:
    """A solver that keeps the questions it passes on."""

    def __init__(self, solver: Solver, questions: list[Question]) -> None:
        self.name = solver.name
        self.questions = questions
        self._solver = solver

    def reset(self) -> None:
        """Forget what the solver learned, not the questions."""
        self._solver.reset()

    def solve(self, question: Question) -> Solution:
        """Keep the question and pass it on."""
        self.questions.append(question)
        return self._solver.solve(question)


def collect_questions(
    model: str, paths: Sequence[str], ticks: int, *, controller: str = "ipopt"
) -> list[Question]:
    """All questions of closed loops along some paths on the paper plant, without a margin."""
    questions: list[Question] = []
    for path in paths:
        loop = prepare(Scenario(path=path, controller=controller, model=model, ticks=ticks)).loop()
        asking = loop.controller.inner
        assert isinstance(asking, MpcController)
        asking.solver = _Recorder(asking.solver, questions)
        loop.run()
    return questions


def _vary_questions(
    questions: Sequence[Question], problem: MpcProblem, count: int, rng: np.random.Generator
) -> list[Question]:
    """As many random states around some questions: hotter and colder, other last powers, other places."""
    drawn = []
    low, high = problem.power
    for _ in range(count):
        base = questions[int(rng.integers(len(questions)))]
        shift = rng.uniform(-150.0, 60.0)
        power = float(rng.uniform(low, high))
        known = base.network(problem.horizon)
        noise = rng.normal(0.0, 5.0, len(known.temps))
        temps = np.maximum(known.temps + shift * (known.temps - 300.0) / 480.0 + noise, 290.0)
        varied = replace(known, temps=temps, previous=power)
        drawn.append(replace(base, forecast=varied, start=np.full(problem.horizon, power)))
    return drawn


def _ask_from_starts(judge: Solver, question: Question, problem: MpcProblem) -> list[Solution]:
    """The judge's answers from the question's own start, then from constant plans."""
    high = problem.power[1]
    starts = [question.start, *(np.full(problem.horizon, share * high) for share in STARTS)]
    return [judge.solve(replace(question, start=start)) for start in starts]


def compare(
    model: Model,
    problem: MpcProblem,
    questions: Sequence[Question],
    answers: Sequence[Solution],
    judged: Sequence[Sequence[Solution]],
    neighbour: Solver,
) -> dict[str, Any]:
    """What a solver's answers are beside those of the judge from each start and of the neighbour."""
    cost = _make_cost(model, problem)
    told = [judge[0] for judge in judged]
    feasible = np.array([answer.status is Status.SOLVED for answer in told])
    kept = feasible & np.array([answer.predicted.min() >= problem.floor - 1e-3 for answer in told])
    first = np.array([abs(a.plan[0] - t.plan[0]) for a, t in zip(answers, told, strict=True)])
    solved = [[answer for answer in judge if answer.status is Status.SOLVED] for judge in judged]
    spread = np.array([np.ptp([answer.plan[0] for answer in some] or [0.0]) for some in solved])
    ours = np.array([cost(q, a.plan) for q, a in zip(questions, answers, strict=True)])
    theirs = np.array([cost(q, t.plan) for q, t in zip(questions, told, strict=True)])
    pairs = zip(questions, solved, strict=True)
    worst = np.array([max((cost(q, a.plan) for a in some), default=np.inf) for q, some in pairs])
    over = np.array([a.predicted.max() - problem.ceiling for a in answers])
    cold, unique, far = feasible & ~kept, feasible & (spread < UNIQUE), feasible & (first > FAR)
    dear = cold & (ours > worst + VISIBLE * problem.slack_price)
    gain = np.zeros(len(ours))  # what a better plan nearby would save
    for n in np.flatnonzero(far | dear).tolist():
        nearby = neighbour.solve(replace(questions[n], start=answers[n].plan))
        found = nearby.status is Status.SOLVED
        gain[n] = max(0.0, ours[n] - cost(questions[n], nearby.plan)) if found else np.inf
    return {
        "first_move_difference_w": _tail(first[feasible]),
        "first_move_difference_slack_free_w": _tail(first[kept]),
        "first_move_difference_unique_w": {"problems": int(unique.sum()), **_tail(first[unique])},
        "other_first_moves": {
            "beyond_w": FAR,
            "problems": int(far.sum()),
            "not_dearer_than_ipopt": int((far & (ours <= theirs * (1.0 + SAME))).sum()),
            "ipopt_not_unique": int((far & ~unique).sum()),
            "local_minima": int((far & (gain <= LEVEL * ours)).sum()),
            "largest_extra_cost": float(np.max((ours / theirs - 1.0)[far & kept], initial=0.0)),
        },
        "heat_up": {
            "problems": int(cold.sum()),
            "worse_than_ipopt_starts": int((cold & (ours > worst * (1.0 + SAME))).sum()),
            "worse_by_0.02_k": int(dear.sum()),
            "worse_by_0.02_k_local_minima": int((dear & (gain <= VISIBLE * problem.slack_price)).sum()),
            "worse_by_1_k": int((cold & (ours > worst + problem.slack_price)).sum()),
            "cheaper_than_ipopt": int((cold & (ours < theirs * (1.0 - SAME))).sum()),
            "first_move_difference_w": _tail(first[cold]),
        },
        "over_ceiling_k": float(over[feasible].max(initial=0.0)),
    }


def _make_cost(model: Model, problem: MpcProblem) -> Any:
    """(question, plan) → its cost by the network in double, smoothed as for IPOPT."""
    folder = Folding(model, smoothing=SMOOTHING)

    def cost(question: Question, plan: FloatArray) -> float:
        known = question.network(problem.horizon)
        net = folder.fold(known.kinematics, known.temps, known.location)
        return problem.cost(plan, net.predict(plan), question.previous)

    return cost


def _tail(values: FloatArray) -> dict[str, float]:
    if not len(values):
        return {"median": 0.0, "p99": 0.0, "max": 0.0}
    median, p99 = np.percentile(values, (50, 99))
    return {"median": float(median), "p99": float(p99), "max": float(values.max())}


class _CasadiSqpSolver:
    """`sqpmethod` with DAQP and default settings; no tracking, nothing committed.

    Of the bundled QP solvers qrqp fails on two questions of three, and qpOASES prints and is no faster.
    """

    name = "sqp"

    def __init__(self, model: Model, problem: MpcProblem) -> None:
        if problem.tracking_cost:
            raise BadInput("the sqp of the bench knows no tracking: use ipopt or realtime")
        import casadi

        self._problem, self._folder = problem, Folding(model, smoothing=SMOOTHING)
        width, horizon = self._folder.A.shape
        predict = embed_folded(self._folder, smoothing=SMOOTHING)
        a, C, c = casadi.MX.sym("a", width), casadi.MX.sym("C", horizon, width), casadi.MX.sym("c", horizon)
        before, plan, slack = casadi.MX.sym("b"), casadi.MX.sym("P", horizon), casadi.MX.sym("s", horizon)
        T = predict(problem.power[1] * plan, a, C, c)
        cost = (
            problem.power_cost * casadi.sumsqr(plan)
            + problem.move_cost * casadi.sumsqr(casadi.diff(casadi.vertcat(before, plan)))
            + problem.slack_cost * casadi.sum1(slack)
        )
        nlp: Any = {
            "x": casadi.vertcat(plan, slack),
            "p": casadi.vertcat(a, casadi.vec(C), c, before),
            "f": cost,
            "g": casadi.vertcat(T, T + problem.slack_scale * slack),
        }
        quiet = {"print_header": False, "print_iteration": False, "print_status": False, "print_time": False}
        options: Any = {
            **quiet,
            "qpsol": "daqp",
            "qpsol_options": {"error_on_fail": False},
            "hessian_approximation": "limited-memory",
            "error_on_fail": False,
        }
        self._nlp: Any = casadi.nlpsol("sqp", "sqpmethod", nlp, options)
        self._predict: Any = predict

    def reset(self) -> None:
        """Nothing to forget."""

    def solve(self, question: Question) -> Solution:
        """The plan at which it stops."""
        began = perf_counter()
        problem = self._problem
        (low, high), horizon = problem.power, problem.horizon
        asked = question.network(horizon)
        folded = self._folder.fold(asked.kinematics, asked.temps, asked.location)
        known = folded.a, folded.C.ravel(order="F"), folded.c, [question.previous / high]
        slack = max(0.0, problem.floor - asked.temps[0]) / problem.slack_scale
        answer = self._nlp(
            x0=np.concatenate((question.start / high, np.full(horizon, slack))),
            p=np.concatenate(known),
            lbx=np.concatenate((np.full(horizon, low / high), np.zeros(horizon))),
            ubx=np.concatenate((np.ones(horizon), np.full(horizon, np.inf))),
            lbg=np.repeat((-np.inf, problem.floor), horizon),
            ubg=np.repeat((problem.ceiling, np.inf), horizon),
        )
        found = np.nan_to_num(np.asarray(answer["x"]).ravel()[:horizon] * high)
        plan = np.clip(found, low, high)
        predicted = np.asarray(self._predict(plan, folded.a, folded.C, folded.c)).ravel()
        solved = self._nlp.stats()["success"] and bool((predicted <= problem.ceiling + ROUNDING).all())
        return Solution(
            plan=plan,
            predicted=predicted,
            status=Status.SOLVED if solved else Status.STOPPED,
            iterations=int(self._nlp.stats()["iter_count"]),
            solve_s=perf_counter() - began,
        )


def run_mpc_bench(
    *, problems: int = 600, model: str = "paper-corner", seed: int = 0, progress: Progress | None = None
) -> dict[str, Any]:
    """Times of each solver, their ratios, and how far the first moves are from those of a tight IPOPT."""
    if is_own(model):
        return _time_own(model, problems)
    network = find_model(model)
    problem = MpcProblem(horizon=network.architecture.horizon)
    questions = draw_problems(model, problems, seed)
    solvers: dict[str, Solver] = {
        "reference": IpoptSolver(network, problem, graph="plain"),
        "folded": IpoptSolver(network, problem),
        "sqp": _CasadiSqpSolver(network, problem),
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
        judged.append(_ask_from_starts(judge, question, problem))
        if progress is not None:
            progress(n, len(questions))
    if alone is not None:
        laps["exported_c_alone"] = _run_row(alone, questions)
        laps["exported_c_warm"] = _run_loops(alone, model)
    found = _report(network, problem, questions, laps, answers, judged)
    return found | twin.report(found["reference"]["median_us"])


def _time_own(model: str, problems: int) -> dict[str, Any]:
    """Whole decisions, image in and power out, with a predictor FILE.py:NAME, on a loop of `graded`."""
    case = Scenario(path=PATHS[0], controller="sqp", model=model, plant="graded", ticks=problems)
    run = prepare(case).run()
    median, p99 = 1e6 * np.percentile(run.wall_s, (50, 99))
    statuses = Counter(map(str, run.statuses))
    return {"problems": problems, "own": {"median_us": median, "p99_us": p99}, "statuses": dict(statuses)}


def _run_row(alone: CEngine, questions: Sequence[Question]) -> Laps:
    """The same problems one after another on a core that does nothing else: caches and clock stay warm."""
    laps = Laps()
    for question in questions:
        alone.take(question)
        for _ in range(REPEATS):
            alone.reset()
            laps.run(alone.answer)
    return laps


def _run_loops(alone: CEngine, model: str) -> Laps:
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
    return [*(seen[i] for i in chosen), *_vary_questions(seen, problem, count // 2, rng)]


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
