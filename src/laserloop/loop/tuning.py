"""Tuning of the controllers without a model, on the training paths of the plant they are scored on.

The price of a run is the root mean square, over its settled ticks, of
    3 K for each kelvin above the window, 1 K for each below, 0.2 K for each beside its middle
and that of a setting is the mean over the three training paths. Constant power is found by a bounded scalar
search; PI and feed-forward begin from it and are found by Nelder and Mead's simplex.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from laserloop.control.action import Controller
from laserloop.control.constant import ConstantController
from laserloop.control.feedforward import FeedforwardController, FeedforwardGains
from laserloop.control.gains import Gains
from laserloop.control.pi import PiController, PiGains
from laserloop.control.problem import MpcProblem
from laserloop.loop.controllers import choose_camera
from laserloop.loop.run import run_closed_loop
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, Plant, make_plant
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

TRAINING_PATHS = ("vertical", "horizontal", "spiral")
TICKS = 320  # of each training path
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
    find = partial(find_path, ticks=TICKS, tick=process.tick, speed=process.speed, plate=process.plate[:2])
    paths = [find(name) for name in TRAINING_PATHS]
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
        found = minimize_scalar(
            lambda power: self.price(ConstantController(float(power))),
            bounds=self._problem.power,
            method="bounded",
            options={"maxiter": EVALUATIONS["constant"]},
        )
        return round(float(found.x), 3)

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
        found = minimize(
            price,
            np.zeros(size),
            method="Nelder-Mead",
            options={"maxfev": evaluations, "initial_simplex": corners, "xatol": 1e-3, "fatol": 1e-3},
        )
        return np.asarray(found.x)


def price_of(temperature: FloatArray, problem: MpcProblem) -> float:
    """The price of a run's settled temperatures, K."""
    low, high = problem.window
    above, below = np.maximum(temperature - high, 0.0), np.maximum(low - temperature, 0.0)
    per_tick = ABOVE * above + BELOW * below + BESIDE * np.abs(temperature - problem.middle)
    return float(np.sqrt(np.mean(per_tick**2)))
