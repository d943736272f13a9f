"""Calibration of margins: closed-loop runs as they may come, and how far the truth left the predictions.

A draw is a path of any family, the camera's dice, and what the plant may have that nobody knows. Draws are
independent and alike, so that margins promise something about the next run (see control/margins.py).
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.margins import LEVEL, Margins, count_needed, find_quantile
from laserloop.loop.case import TICKS, LoopCase, run_case
from laserloop.loop.run import COMPLETED, Run
from laserloop.paths.families import FAMILIES
from laserloop.process import Process
from laserloop.process.mismatch import check_factors

Progress = Callable[[int, int], None]

RUNS = 39  # the second largest score of 39 covers 95 % of runs; 19 are the fewest that can
SPREAD = {"absorptivity": 0.1}  # that nobody knows better
MOST_SEEDS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """What runs are drawn from."""

    process: Process
    controller: str = "twin"
    plant: str = "graded"
    ticks: int = TICKS
    spread: tuple[tuple[str, float], ...] = tuple(SPREAD.items())  # share that a property may be off by
    seed: int = 0

    def __post_init__(self) -> None:
        for name, share in self.spread:
            if not 0 <= share < 1:
                raise BadInput(f"the spread of {name} must lie between 0 and 1, got {share:g}: 0.1 is ±10 %")
        check_factors({name: 1.0 for name, _ in self.spread})

    def draw(self, number: int) -> LoopCase:
        """One of them, always the same for a number."""
        rng = np.random.default_rng((self.seed, number))
        path = f"{rng.choice(list(FAMILIES))}:{rng.integers(MOST_SEEDS)}"
        factors = {name: float(rng.uniform(1 - share, 1 + share)) for name, share in self.spread}
        camera = replace(self.process.camera, seed=int(rng.integers(MOST_SEEDS)))
        return LoopCase(
            path=path,
            controller=self.controller,
            plant=self.plant,
            process=replace(self.process, camera=camera),
            ticks=self.ticks,
            mismatch=tuple(sorted(factors.items())),
        )


def score_run(run: Run) -> tuple[float, float]:
    """The farthest that T_max lay above, and below, its prediction in any settled tick, K."""
    if run.ending != COMPLETED:
        raise BadInput(
            f"a run that is to be calibrated on must be whole, but on {run.path} {run.ending}: change it"
        )
    told = run.settled & np.isfinite(run.predicted)
    if not told.any():
        raise BadInput(
            f"margins need predictions of settled ticks, but {run.controller} made none on {run.path}: "
            "take longer runs or a controller that predicts"
        )
    residual = (run.t_max - run.predicted)[told]
    return float(residual.max()), float(-residual.min())


def find_margins_of(scores: Iterable[tuple[float, float]], level: float = LEVEL) -> Margins:
    """The margins that as many scores of runs promise."""
    above, below = np.array(list(scores)).reshape(-1, 2).T
    check_promise(len(above), level)
    return Margins(
        above=max(0.0, find_quantile(above, level)),
        below=max(0.0, find_quantile(below, level)),
        level=level,
        runs=len(above),
    )


def check_promise(runs: int, level: float) -> None:
    """Refuse a level that so many runs cannot promise."""
    if not 0 < level < 1:
        raise BadInput(f"the level must lie between 0 and 1, got {level:g}: choose 0.95")
    if runs < count_needed(level):
        raise BadInput(
            f"a promise for {level:.4g} of the runs needs {count_needed(level)} of them, got {runs}: take "
            "more runs or a lower level"
        )


def calibrate_margins(
    draws: Draws,
    *,
    runs: int = RUNS,
    level: float = LEVEL,
    workers: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Close the loop `runs` times and find both margins; everything that a file of margins holds."""
    check_promise(runs, level)
    scores = []
    for score in _spread(draws, runs, workers):
        scores.append(score)
        if progress is not None:
            progress(len(scores), runs)
    return describe(draws, scores, find_margins_of(scores, level))


def _spread(draws: Draws, runs: int, workers: int) -> Iterator[tuple[float, float]]:
    """The score of each run in turn, by so many processes."""
    if workers <= 1:
        yield from (score_draw(draws, number) for number in range(runs))
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(score_draw, draws), range(runs))


def score_draw(draws: Draws, number: int) -> tuple[float, float]:
    """Close one loop."""
    return score_run(run_case(draws.draw(number)))


def describe(draws: Draws, scores: list[tuple[float, float]], margins: Margins) -> dict[str, Any]:
    """A calibration as plain numbers."""
    return {
        "plant": draws.plant,
        "controller": draws.controller,
        "process": draws.process.to_json(),
        "ticks": draws.ticks,
        "spread": dict(draws.spread),
        "seed": draws.seed,
        "margins": margins.to_json(),
        "scores": [{"above_k": above, "below_k": below} for above, below in scores],
    }
