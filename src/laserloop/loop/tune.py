"""Gains and margins from closed loops.

Tuning of the controllers without a model, on the training paths of the plant they are scored on.

The price of a run is the root mean square, over its settled ticks, of
    3 K for each kelvin above the window, 1 K for each below, 0.2 K for each beside its middle
and that of a setting is the mean over the three training paths. Constant power is found by a bounded scalar
search; PI and feed-forward begin from it and are found by Nelder and Mead's simplex.

Calibration of margins: closed-loop runs as they may come, and how far the truth left the predictions.

A draw is a path of any family, the camera's dice, and what the plant may have that nobody knows. Draws are
independent and alike, so that margins promise something about the next run (see control/margins.py).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from laserloop.bad_input import BadInput
from laserloop.control.controller import Controller
from laserloop.control.margins import LEVEL, Margins, count_needed, find_quantile
from laserloop.control.problem import MpcProblem
from laserloop.control.simple import (
    ConstantController,
    FeedforwardController,
    FeedforwardGains,
    Gains,
    PiController,
    PiGains,
)
from laserloop.jobs import open_workers, spread
from laserloop.loop.controllers import choose_camera
from laserloop.loop.record import COMPLETED, Run
from laserloop.loop.run import run_closed_loop
from laserloop.loop.scenario import TICKS, Scenario, prepare
from laserloop.paths import ScanPath, find_path
from laserloop.paths.shapes import FAMILIES
from laserloop.plant import Camera, Plant, make_plant
from laserloop.process import Process
from laserloop.process.process import check_factors

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

TRAINING_PATHS = ("vertical", "horizontal", "spiral")
ABOVE, BELOW, BESIDE = 3.0, 1.0, 0.2
EVALUATIONS = {"constant": 14, "pi": 45, "feedforward": 60}


def tune(
    plant: Plant,
    paths: Sequence[ScanPath],
    problem: MpcProblem,
    *,
    names: Sequence[str] = tuple(EVALUATIONS),
    progress: Progress | None = None,
) -> Gains:
    """Gains for the window and power bounds of `problem` on a plant.

    The others begin from constant power, which is found in any case.
    """
    course = Course(plant, paths, problem, progress, {"constant", *names})
    constant = course.search_power()
    return Gains(
        constant=constant,
        pi=course.search_pi(constant) if "pi" in names else None,
        feedforward=course.search_feedforward(constant) if "feedforward" in names else None,
    )


def tune_for(
    plant: str,
    process: Process,
    problem: MpcProblem,
    *,
    names: Sequence[str] = tuple(EVALUATIONS),
    progress: Progress | None = None,
) -> Gains:
    """Gains of these controllers for a plant and process that nobody tuned for yet, on its own paths."""
    paths = [find_path(name, process, ticks=TICKS) for name in TRAINING_PATHS]
    return tune(make_plant(plant, process), paths, problem, names=names, progress=progress)


class Course:
    """A plant, the training paths and a count of what was tried."""

    def __init__(
        self,
        plant: Plant,
        paths: Sequence[ScanPath],
        problem: MpcProblem,
        progress: Progress | None,
        names: Collection[str] = EVALUATIONS,
    ) -> None:
        self._plant, self._paths = plant, paths
        self._problem = problem
        self._progress = progress
        self._most = sum(EVALUATIONS[name] for name in names)
        self._tried = 0

    def price(self, controller: Controller) -> float:
        """The mean price of a controller's runs, K."""
        self._tell()
        prices, camera = [], Camera(choose_camera(self._plant, None))
        for path in self._paths:
            run = run_closed_loop(self._plant, camera, controller, path, power_bounds=self._problem.power)
            prices.append(price_of(run.t_max[run.settled], self._problem))
        return float(np.mean(prices))

    def _tell(self) -> None:
        self._tried += 1
        if self._progress is not None:
            self._progress(min(self._tried, self._most), self._most)

    def search_power(self) -> float:
        """The best constant power, W."""
        best = minimize_scalar(
            lambda power: self.price(ConstantController(float(power))),
            bounds=self._problem.power,
            method="bounded",
            options={"maxiter": EVALUATIONS["constant"]},
        )
        return round(float(best.x), 3)

    def search_pi(self, bias: float) -> PiGains:
        """The best set point, gain and reset time around a bias."""
        problem = self._problem
        start = PiGains(setpoint=problem.middle, bias=bias, gain=0.05, reset_time=2e-3)

        def gains(x: FloatArray) -> PiGains:
            setpoint = problem.middle + problem.half_width * np.tanh(x[0])
            return PiGains(
                setpoint=round(float(setpoint), 2),
                bias=bias,
                gain=round(start.gain * float(np.exp(x[1])), 5),
                reset_time=round(start.reset_time * float(np.exp(x[2])), 7),
            )

        best = self._simplex(
            lambda x: self.price(PiController(gains(x), problem.power)), 3, EVALUATIONS["pi"]
        )
        return gains(best)

    def search_feedforward(self, power: float) -> FeedforwardGains:
        """The best power, relief, memory and reach around a constant power."""
        problem = self._problem

        def gains(x: FloatArray) -> FeedforwardGains:
            return FeedforwardGains(
                power=round(power * float(np.exp(0.1 * x[0])), 3),
                relief=round(0.2 * float(np.exp(x[1])), 4),
                memory=round(5e-3 * float(np.exp(x[2])), 6),
                reach=round(0.2e-3 * float(np.exp(0.5 * x[3])), 7),
            )

        best = self._simplex(
            lambda x: self.price(FeedforwardController(gains(x), problem.power)),
            4,
            EVALUATIONS["feedforward"],
        )
        return gains(best)

    @staticmethod
    def _simplex(price: Callable[[FloatArray], float], size: int, evaluations: int) -> FloatArray:
        corners = np.vstack((np.zeros(size), 0.7 * np.eye(size)))
        best = minimize(
            price,
            np.zeros(size),
            method="Nelder-Mead",
            options={"maxfev": evaluations, "initial_simplex": corners, "xatol": 1e-3, "fatol": 1e-3},
        )
        return np.asarray(best.x)


def price_of(temperature: FloatArray, problem: MpcProblem) -> float:
    """The price of a run's settled temperatures, K."""
    low, high = problem.window
    above, below = np.maximum(temperature - high, 0.0), np.maximum(low - temperature, 0.0)
    per_tick = ABOVE * above + BELOW * below + BESIDE * np.abs(temperature - problem.middle)
    return float(np.sqrt(np.mean(per_tick**2)))


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

    def draw(self, number: int) -> Scenario:
        """One of them, always the same for a number."""
        rng = np.random.default_rng((self.seed, number))
        path = f"{rng.choice(list(FAMILIES))}:{rng.integers(MOST_SEEDS)}"
        factors = {name: float(rng.uniform(1 - share, 1 + share)) for name, share in self.spread}
        camera = replace(self.process.camera, seed=int(rng.integers(MOST_SEEDS)))
        return Scenario(
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
    predicted = run.settled & np.isfinite(run.predicted)
    if not predicted.any():
        raise BadInput(
            f"margins need predictions of settled ticks, but {run.controller} made none on {run.path}: "
            "take longer runs or a controller that predicts"
        )
    residual = (run.t_max - run.predicted)[predicted]
    return float(residual.max()), float(-residual.min())


def find_margins_of(scores: Iterable[tuple[float, float]], level: float = LEVEL) -> Margins:
    """The margins that as many scores of runs promise."""
    above, below = np.array(list(scores)).reshape(-1, 2).T
    _check_promise(len(above), level)
    return Margins(
        above=max(0.0, find_quantile(above, level)),
        below=max(0.0, find_quantile(below, level)),
        level=level,
        runs=len(above),
    )


def _check_promise(runs: int, level: float) -> None:
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
    _check_promise(runs, level)
    scores: dict[int, tuple[float, float]] = {}
    with open_workers(workers) as others:
        for number, score in spread(others, _score_draw, [(draws, number) for number in range(runs)]):
            scores[number] = score
            if progress is not None:
                progress(len(scores), runs)
    lost = [number for number in range(runs) if number not in scores]
    if lost:
        raise BadInput(
            f"every run must come to its end, but run {lost[0]} killed its worker: take fewer workers"
        )
    in_turn = [scores[number] for number in range(runs)]
    return describe(draws, in_turn, find_margins_of(in_turn, level))


def _score_draw(draws: Draws, number: int) -> tuple[int, tuple[float, float]]:
    """Close one loop; its number and its score."""
    return number, score_run(prepare(draws.draw(number)).run())


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
