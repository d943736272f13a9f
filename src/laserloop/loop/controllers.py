"""Controllers by name, ready for a plant and a path."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Controller
from laserloop.control.constant import ConstantController
from laserloop.control.feedforward import FeedforwardController
from laserloop.control.gains import Gains
from laserloop.control.mpc import MpcController
from laserloop.control.oracle import OracleController
from laserloop.control.pi import PiController
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Solver
from laserloop.plant import Plant
from laserloop.predict.networks import Model, MsDeepONet

FloatArray = NDArray[np.float64]

WITH_MODEL = ("realtime", "ipopt")
WITH_GAINS = ("pi", "constant", "feedforward")
CONTROLLERS = (*WITH_MODEL, *WITH_GAINS, "oracle")


def make_controller(
    name: str,
    problem: MpcProblem,
    *,
    plant: Plant,
    model: Model | None = None,
    gains: Gains | None = None,
    options: Mapping[str, Any] | None = None,
) -> Controller:
    """The controller that people call `name`.

    Those that plan need a `model`, those that were tuned their `gains`; the oracle plans on `plant`.
    `options` are for the solver: graph (ipopt).
    """
    if name in WITH_MODEL:
        if model is None:
            raise BadInput(f"the controller {name} plans with a model, but none was given: give it one")
        return MpcController(make_solver(name, model, problem, **(options or {})), problem)
    if name == "oracle":
        return OracleController(make_rehearsal(plant), problem)
    if name not in WITH_GAINS:
        raise BadInput(f"a controller must be one of {', '.join(CONTROLLERS)}, got {name!r}: choose one")
    if gains is None:
        raise BadInput(f"the controller {name} needs tuned gains, but none were given: tune it first")
    if name == "pi":
        return PiController(gains.pi, problem.power)
    if name == "constant":
        return ConstantController(gains.constant)
    return FeedforwardController(gains.feedforward, problem.power)


def make_solver(name: str, model: Model, problem: MpcProblem, *, graph: str = "folded") -> Solver:
    """The solver that people call `name`; an SS-AR model has no folded graph and gets the plain one."""
    if name == "ipopt":
        from laserloop.control.ipopt import IpoptSolver

        foldable = isinstance(model.architecture, MsDeepONet)
        return IpoptSolver(model, problem, graph=graph if foldable else "plain")
    from laserloop.control.realtime import RealtimeSolver

    return RealtimeSolver(model, problem)


def make_rehearsal(plant: Plant) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """What the plant's T_max would be along some positions under some powers; it stays where it is.

    A way that leads beyond where the beam may go is held at its edge.
    """
    x, y = plant.settings.grid.x, plant.settings.grid.y
    x_low, x_high, y_low, y_high = plant.settings.region or (x[0], x[-1], y[0], y[-1])

    def rehearse(powers: FloatArray, positions: FloatArray) -> FloatArray:
        now = plant.snapshot()
        way = np.clip(positions, (x_low, y_low), (x_high, y_high))
        hottest = np.empty(len(powers))
        for i, power in enumerate(powers):
            hottest[i] = plant.t_max(plant.step(float(power), way[i : i + 2])).temperature
        plant.restore(now)
        return hottest

    return rehearse
