"""Controllers by name, or from a user's own file as FILE.py:NAME, ready for a plant and a path."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, guess
from laserloop.control.controller import Controller
from laserloop.control.margins import AdaptiveController, Adjustable, Margins
from laserloop.control.mpc import MpcController, plan_with
from laserloop.control.problem import ROOM, MpcProblem, Solver
from laserloop.control.simple import ConstantController, FeedforwardController, Gains, PiController
from laserloop.control.sqp import SqpSolver
from laserloop.native.twin import make_twin
from laserloop.plant import Plant
from laserloop.predict.model import Model
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.oracle import AGREED, PlantRollout, RollPlant
from laserloop.predict.predictor import Predictor
from laserloop.predict.window import WindowPredictor
from laserloop.process import CameraSettings, Process
from laserloop.process.camera import Sampling


def names_own(name: object) -> bool:
    """Whether it reads FILE.py:NAME."""
    return isinstance(name, str) and ".py:" in name


def load_predictor(name: str, process: object = None) -> Predictor:
    """What NAME(process) returns; the process is None where there is none."""
    made: Predictor = _make(name, process, ("name", "horizon", "memory", "affine", "reset", "observe"))
    return made


def load_controller(name: str, problem: MpcProblem, process: object = None) -> Controller:
    """What NAME(problem) returns; it may do with `act` alone, and may ask for the `process` by that name."""
    made: Controller = _make(name, problem, ("act",), process=process)
    return made


def _make(name: str, given: object, wanted: tuple[str, ...], **more: object) -> Any:
    """Call NAME of FILE.py and see that the result has what is wanted of it; `more` goes to who names it."""
    call = _find(name)
    try:
        asked = signature(call).parameters
        made = call(given, **{key: value for key, value in more.items() if key in asked})
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"{name} cannot be built: {_tell(error)}; correct the file") from error
    missing = [attribute for attribute in wanted if not hasattr(made, attribute)]
    if missing:
        raise BadInput(
            f"what {name} builds must have {', '.join(wanted)}, but lacks {', '.join(missing)}: add them"
        )
    return made


def _find(name: str) -> Callable[..., object]:
    """NAME of FILE.py."""
    file, _, attribute = name.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise BadInput(f"{name!r} must name a Python file, but {file!r} is not there: correct the path")
    spec = spec_from_file_location(f"laserloop_own_{path.stem}", path)
    assert spec is not None  # its name ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses and pickle look a class up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script without `if __name__ == "__main__"` may end itself
        raise BadInput(f"{file} cannot be imported: {_tell(error)}; correct the file") from error
    found = getattr(module, attribute, None)
    if not callable(found):
        raise BadInput(f"{file} must have a class or function {attribute!r}, but has none: correct the name")
    result: Callable[..., object] = found
    return result


def _tell(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


FloatArray = NDArray[np.float64]

WITH_NETWORK = ("realtime", "ipopt")
WITH_MODEL = (*WITH_NETWORK, "sqp")
WITH_GAINS = ("pi", "constant", "feedforward")
CONTROLLERS = ("twin", *WITH_MODEL, *WITH_GAINS, "oracle")
PLANNERS = ("twin", *WITH_MODEL, "oracle")  # who keep to a problem; own classes may
USED_BY = {"--model": WITH_MODEL, "--delta-k": PLANNERS, "--tracking": PLANNERS, "--graph": ("ipopt",)}
MOST_ROLLOUTS = 6  # rounds of the oracle


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
        return MpcController(WindowPredictor(model), solver, problem, compensate=compensate)
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
    problem: MpcProblem, plant: Plant, *, rounds: int = MOST_ROLLOUTS, agreed: float = AGREED
) -> Controller:
    """Plans on the plant itself, in so many rounds unless a rollout agrees with its plan before, K."""
    predictor = PlantRollout(roll_plant(plant), problem.horizon, problem.power[1])
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


def roll_plant(plant: Plant) -> RollPlant:
    """What the plant's T_max would be along some positions under some powers; it stays where it is.

    A way that leads beyond the plate is held at its edge.
    """
    half = 0.5 * np.array(plant.settings.process.plate[:2])

    def roll(powers: FloatArray, positions: FloatArray) -> FloatArray:
        now = plant.snapshot()
        way = np.clip(positions, -half, half)
        hottest = np.empty(len(powers))
        for i, power in enumerate(powers):
            hottest[i] = plant.t_max(plant.step(float(power), way[i : i + 2])).temperature
        plant.restore(now)
        return hottest

    return roll
