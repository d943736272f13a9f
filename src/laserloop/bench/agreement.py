"""Agreement of a solver with a tight IPOPT: first moves, the ceiling, and whose plan is really cheaper.

The problem is not convex, so IPOPT is asked from several starts: where its own answers differ, "the" answer
does not exist, and where a plan costs no more than IPOPT's, being different is no error. A plan that does
cost more is put to a neighbour, an IPOPT that must stay near its start: where that finds nothing cheaper, the
plan is a minimum too, only another one.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question, Solution, Solver
from laserloop.predict.model import Model
from laserloop.predict.window import SMOOTHING, Folding

FloatArray = NDArray[np.float64]

STARTS = (0.35, 0.65, 0.95)  # of P_max, besides the question's own
SAME = 1e-6  # relative difference of costs that is none
UNIQUE = 0.02  # W, by which IPOPT's first moves may differ between starts
FAR = 0.1  # W, from which on first moves are called different
VISIBLE = 0.02  # K of slack in all, which is as near as anyone keeps a bound
LEVEL = 1e-4  # of its cost, less than which a plan that keeps the window may gain nearby and be a minimum


def ask_from_starts(judge: Solver, question: Question, problem: MpcProblem) -> list[Solution]:
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
