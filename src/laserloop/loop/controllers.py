"""Controllers by name, ready for a plant and a path."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, guess
from laserloop.control.action import Controller
from laserloop.control.adaptive import AdaptiveController, Adjustable
from laserloop.control.constant import ConstantController
from laserloop.control.feedforward import FeedforwardController
from laserloop.control.gains import Gains
from laserloop.control.margins import Margins
from laserloop.control.mpc import MpcController
from laserloop.control.pi import PiController
from laserloop.control.problem import ROOM, MpcProblem
from laserloop.control.question import Solver
from laserloop.control.sqp import SqpSolver
from laserloop.loop.own_file import load_controller, load_predictor, names_own
from laserloop.native.twin import make_twin
from laserloop.plant import Plant
from laserloop.predict.networks import Model, MsDeepONet, NetworkPredictor
from laserloop.predict.predictor import Predictor
from laserloop.predict.rehearsal import AGREED, RehearsalPredictor, Rehearse
from laserloop.process import CameraSettings, Process
from laserloop.process.camera import Sampling

FloatArray = NDArray[np.float64]

WITH_NETWORK = ("realtime", "ipopt")
WITH_MODEL = (*WITH_NETWORK, "sqp")
WITH_GAINS = ("pi", "constant", "feedforward")
CONTROLLERS = ("twin", *WITH_MODEL, *WITH_GAINS, "oracle")
PLANNERS = ("twin", *WITH_MODEL, "oracle")  # who keep to a problem; own classes may
USED_BY = {"--model": WITH_MODEL, "--delta-k": PLANNERS, "--tracking": PLANNERS, "--graph": ("ipopt",)}
MOST_REHEARSALS = 6  # rounds of the oracle
ONE_QP, FEW_QPS = 1, 4  # rounds: for an affine predictor, for which one is exact, and for others


def make_controller(
    name: str,
    problem: MpcProblem,
    *,
    plant: Plant | None,
    model: Model | str | None = None,
    gains: Gains | None = None,
    options: Mapping[str, Any] | None = None,
    process: Process | None = None,
) -> Controller:
    """The controller that people call `name`; FILE.py:NAME is one of their own, built with the problem.

    Those that plan need a `model`: a network or, for sqp, a predictor FILE.py:NAME, built with the `process`
    and planned with over its own horizon. Those that were tuned need their `gains`; the oracle plans on
    `plant`, which nobody else needs. `options`: graph (of ipopt), compensate (are late images rolled
    forward?).
    """
    if names_own(name):
        return load_controller(name, problem, process)
    if name in WITH_MODEL:
        if model is None:
            raise BadInput(f"the controller {name} plans with a model, but none was given: give it one")
        if isinstance(model, str):
            return _plan_with_own(name, model, problem, process)
        given = dict(options or {})
        compensate = given.pop("compensate", True)
        solver = make_solver(name, model, problem, **given)
        return MpcController(NetworkPredictor(model), solver, problem, compensate=compensate)
    if name == "twin":
        known = process or (None if plant is None else plant.settings.process)
        if known is None:
            raise BadInput("the twin needs a process or a plant, but neither was given: give it one")
        return make_twin(problem, known)
    if name == "oracle":
        if plant is None:
            raise BadInput("the oracle plans on the plant, but there is none here: choose another controller")
        return make_oracle(problem, plant)
    if name not in WITH_GAINS:
        raise BadInput(
            f"a controller must be one of {', '.join(CONTROLLERS)} or FILE.py:NAME, got {name!r}"
            f"{guess(name, CONTROLLERS)}: choose one"
        )
    if gains is None:
        raise BadInput(f"the controller {name} needs tuned gains, but none were given: tune it first")
    return _make_tuned(name, gains, problem)


def check_used(name: str, options: Iterable[str]) -> None:
    """Refuse options that the controller does not use."""
    for option in options:
        users = USED_BY[option]
        if name not in users and not (users is PLANNERS and names_own(name)):
            raise BadInput(
                f"{option} belongs to {', '.join(users)}, but the controller is {name}; leave it out"
            )


def make_oracle(
    problem: MpcProblem, plant: Plant, *, rounds: int = MOST_REHEARSALS, agreed: float = AGREED
) -> Controller:
    """Plans on the plant itself, in so many rounds unless a rehearsal agrees with its plan before, K."""
    predictor = RehearsalPredictor(make_rehearsal(plant), problem.horizon, problem.power[1])
    solver = SqpSolver(problem, max_iterations=rounds, agreed=agreed, halvings=0)
    return MpcController(predictor, solver, problem, resume=True, name="oracle")


def adapt(controller: Controller, problem: MpcProblem) -> Controller:
    """The same controller with margins that follow what it sees, beginning with those of the problem."""
    if not isinstance(controller, Adjustable):
        raise BadInput(
            f"adaptive margins need the compiled twin, but {controller.name} is not: install a C compiler, "
            "or leave them fixed"
        )
    start = Margins(above=problem.margin_above, below=problem.margin_below)
    return AdaptiveController(controller, start=start, most=ROOM * problem.half_width)


def _make_tuned(name: str, gains: Gains, problem: MpcProblem) -> Controller:
    """One of those without a model."""
    if name == "constant":
        return ConstantController(gains.constant)
    if name == "pi":
        assert gains.pi is not None
        return PiController(gains.pi, problem.power, problem.window)
    assert gains.feedforward is not None
    return FeedforwardController(gains.feedforward, problem.power)


def _plan_with_own(name: str, model: str, problem: MpcProblem, process: Process | None) -> Controller:
    """The generic solver with a predictor from a user's file."""
    if not names_own(model):
        raise BadInput(f"a model by name must read FILE.py:NAME here, got {model!r}: find a network first")
    if name in WITH_NETWORK:
        raise BadInput(f"the controller {name} plans with networks only, got {model!r}: use sqp")
    return plan_with(load_predictor(model, process), problem)


def plan_with(
    predictor: Predictor, problem: MpcProblem, *, name: str | None = None, search: bool = False
) -> Controller:
    """Any predictor's plan over its own horizon, with little search or with as much as helps."""
    own = replace(problem, horizon=predictor.horizon)
    few = SqpSolver(own, max_iterations=ONE_QP if predictor.affine else FEW_QPS, halvings=0)
    solver = SqpSolver(own) if search else few
    return MpcController(predictor, solver, own, resume=True, until_dark=True, name=name or predictor.name)


def make_solver(name: str, model: Model, problem: MpcProblem, *, graph: str = "folded") -> Solver:
    """The solver that people call `name`; an SS-AR model has no folded graph and gets the plain one."""
    if name == "sqp":
        return SqpSolver(problem)
    if name == "ipopt":
        from laserloop.control.ipopt import IpoptSolver

        foldable = isinstance(model.architecture, MsDeepONet)
        return IpoptSolver(model, problem, graph=graph if foldable else "plain")
    from laserloop.native import RealtimeSolver

    return RealtimeSolver(model, problem)


def choose_camera(plant: Plant, model: Model | None, sampling: Sampling | None = None) -> CameraSettings:
    """The camera of the process, read as a model learned to, or else as the plant defines T_max.

    `sampling`: how temperatures ahead are read instead.
    """
    settings, own = plant.settings.process.camera, plant.settings.subgrid
    if model is None:
        return replace(settings, subgrid=own, sampling="smooth" if own else "nearest")
    return replace(settings, subgrid=model.reading == "peak", sampling=sampling or model.sampling)


def make_rehearsal(plant: Plant) -> Rehearse:
    """What the plant's T_max would be along some positions under some powers; it stays where it is.

    A way that leads beyond the plate is held at its edge.
    """
    half = 0.5 * np.array(plant.settings.process.plate[:2])

    def rehearse(powers: FloatArray, positions: FloatArray) -> FloatArray:
        now = plant.snapshot()
        way = np.clip(positions, -half, half)
        hottest = np.empty(len(powers))
        for i, power in enumerate(powers):
            hottest[i] = plant.t_max(plant.step(float(power), way[i : i + 2])).temperature
        plant.restore(now)
        return hottest

    return rehearse
