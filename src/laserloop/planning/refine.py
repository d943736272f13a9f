"""Refinement: simulate a plan, learn where the twin is wrong along this very path, plan again.

Iterative learning with the plant `graded` as the machine. Offline there is time for it, and a plan that was
simulated knows what no gain of a straight line can tell: turns, starts, and alloys whose diffusivity varies.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.planning.job import FilePlan, Job, Learned, plan_job
from laserloop.planning.plan import LayerPlan, Progress
from laserloop.planning.scores import LayerResult, measure_miss, score_layers
from laserloop.planning.verify import MOST_TICKS, simulate_job

FloatArray = NDArray[np.float64]

ROUNDS = 10  # of refinement, most of them, unless their number is given
HELPS = 0.95  # of what the nearest plan left that the next one may leave, if it is to count as a help,
PATIENCE = 3  # rounds in a row that may be none,
SHORTER = 0.5  # each going so far from the nearest plan as the one before
LEARNS = 1.25  # times what the twin itself expects to miss that the plant must miss, if it is to teach


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """How far a plan is simulated, and how often it may be made anew."""

    simulate: bool = True
    refine: int | None = None  # times; None: until it holds or refining stops helping
    ticks: int = MOST_TICKS  # that are simulated, from the file's first on


def plan_refined(job: Job, checking: Checking | None = None, *, progress: Progress | None = None) -> FilePlan:
    """Plan all layers of a file, simulate what would be written, and plan again until the plant holds it."""
    checking = checking or Checking()
    planned = plan_job(job, progress=progress)
    for _ in range(checking.refine or 0):
        planned = plan_again(simulate_plan(planned, checking.ticks, progress=progress), progress=progress)
    if not checking.simulate:
        return planned
    planned = simulate_plan(planned, checking.ticks, progress=progress)
    if checking.refine is not None:
        return planned
    return _refine(planned, checking.ticks, progress)


def _refine(planned: FilePlan, most: int, progress: Progress | None) -> FilePlan:
    """Until a plan holds, or until planning anew, from the nearest plan so far, brings it no nearer.

    Near is what is left on the whole. That falls from round to round where the share of ticks outside the
    window goes up and down by chance, since a plate that melts ripples by as much as the window is wide.
    """
    best = nearest = planned
    idle = 0
    for _ in range(ROUNDS):
        if best.verdict.holds or idle == PATIENCE or not _can_help(nearest):
            break
        again = plan_again(nearest, SHORTER**idle, progress=progress)
        planned = simulate_plan(again, most, progress=progress)
        best = min(best, planned, key=lambda plan: plan.verdict.miss)
        idle = 0 if _measure_rest(planned) <= HELPS * _measure_rest(nearest) else idle + 1
        nearest = min(nearest, planned, key=_measure_rest)
    return best


def _measure_rest(planned: FilePlan) -> float:
    """The root mean square of what ticks that count are away from the window's middle, K."""
    middle, squares = 0.5 * sum(planned.job.process.window), list[FloatArray]()
    for layer in planned.results or ():
        off = layer.temperature - middle
        squares.append(off[(layer.above & (off > 0)) | layer.below] ** 2)
    return float(np.sqrt(np.mean(np.concatenate(squares)))) if squares else float("inf")


def _can_help(planned: FilePlan) -> bool:
    """Whether the plant misses the window by more than the twin expects: only that can be learned."""
    process = planned.job.process
    expected = score_layers([layer.result for layer in planned.layers], process.window)
    miss = planned.verdict.miss
    return bool(planned.results) and np.isfinite(miss) and miss > LEARNS * measure_miss(expected, process)


def plan_again(planned: FilePlan, part: float = 1.0, *, progress: Progress | None = None) -> FilePlan:
    """The plan of the same file by a twin that knows, or in part, what the plant did with the last one."""
    learned = learn(planned.layers, planned.results or (), part)
    again = plan_job(planned.job, planner=planned.planner, learned=learned, progress=progress)
    return replace(again, refined=planned.refined + 1)


def simulate_plan(
    planned: FilePlan, most: int | None = None, *, progress: Progress | None = None
) -> FilePlan:
    """The same plan with what the plant does with it as it would be written."""
    try:
        results = simulate_job(planned.job.again(planned.content), most=most, progress=progress)
    except BadInput as problem:  # such as a surface that boils
        return replace(planned, results=(), problem=str(problem))
    return replace(planned, results=results)


def learn(layers: Sequence[LayerPlan], found: Sequence[LayerResult], part: float = 1.0) -> list[Learned]:
    """What each layer teaches; of what was not simulated the same is assumed as of the last that was."""
    learned, usual = list[Learned](), 1.0
    for k, planned in enumerate(layers):
        path, expected, correction = planned.route.path, planned.course.temperature, planned.correction
        n = min(len(path), len(found[k].temperature)) if k < len(found) else 0
        if n:
            seen = np.concatenate((found[k].temperature[:n], expected[n:]))
            correction = correction.improve(expected, seen, path.lit, part)
            judged = found[k].below[:n] & path.lit[:n]
            usual = float(np.median(correction.factor[:n][judged])) if judged.any() else usual
        if n < len(path) - 1:
            rest = np.where(path.lit[n:], usual, 1.0)
            factor = np.concatenate((correction.factor[:n], rest))
            correction = replace(correction, factor=factor)
        learned.append(Learned(correction, planned.kept.speeds))
    return learned
