"""Controllers by name, one line each in a table, or from a user's own file as FILE.py:NAME.

The command line, the page, reports and the contract tests list what is in the table. Nothing heavy is
imported before a controller is made.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laserloop.bad_input import BadInput, guess

if TYPE_CHECKING:
    from laserloop.control.controller import Controller
    from laserloop.control.problem import MpcProblem
    from laserloop.control.simple import Gains
    from laserloop.loop.record import Run
    from laserloop.paths import ScanPath
    from laserloop.plant import Plant
    from laserloop.predict.model import Model
    from laserloop.predict.oracle import RollPlant
    from laserloop.predict.predictor import FloatArray, Predictor
    from laserloop.process import CameraSettings, Process
    from laserloop.process.process import Sampling

MOST_ROLLOUTS = 6  # rounds of the oracle


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Context:
    """What a controller is made of; each takes what it needs."""

    problem: "MpcProblem"
    process: "Process | None" = None  # as it is told; the plant may differ
    plant: "Plant | None" = None  # the truth itself, for the oracle
    model: "Model | str | None" = None  # a network, or a predictor as FILE.py:NAME
    gains: "Gains | None" = None
    graph: str = "folded"  # of ipopt
    compensate: bool = True  # are late images rolled forward?
    path: "ScanPath | None" = None  # all of it, if it is known
    practise: "Callable[[Controller, int], Run] | None" = (
        None  # another's pass over it, by a seed of the noise
    )


Make = Callable[[Context], "Controller"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One of those that ship."""

    label: str  # as a figure calls it
    about: str  # as the page explains it
    help: str = ""  # as the command line explains it, where the name does not
    needs: str = ""  # network, model (a network or any predictor), gains, plant
    plans: bool = True  # within a margin and at the prices of a problem
    page: int = 0  # its place on the page; 0: too slow to be watched
    make: Make


def _make_twin(context: Context) -> "Controller":
    from laserloop.native.twin import make_twin

    if context.process is None:
        raise BadInput("the twin needs a process or a plant, but neither was given: give it one")
    return make_twin(context.problem, context.process)


def _make_realtime(context: Context) -> "Controller":
    from laserloop.native.network import RealtimeSolver

    return _plan_with_network(context, lambda model: RealtimeSolver(model, context.problem))


def _make_ipopt(context: Context) -> "Controller":
    """An SS-AR model has no folded graph and gets the plain one."""
    from laserloop.control.ipopt import IpoptSolver
    from laserloop.predict.networks import MsDeepONet

    def solve(model: "Model") -> IpoptSolver:
        foldable = isinstance(model.architecture, MsDeepONet)
        return IpoptSolver(model, context.problem, graph=context.graph if foldable else "plain")

    return _plan_with_network(context, solve)


def _make_sqp(context: Context) -> "Controller":
    from laserloop.control.mpc import plan_with
    from laserloop.control.sqp import SqpSolver

    if isinstance(context.model, str):
        return plan_with(_load_predictor(context.model, context.process), context.problem)
    return _plan_with_network(context, lambda _: SqpSolver(context.problem))


def _plan_with_network(context: Context, make_solver: "Callable[[Model], Any]") -> "Controller":
    from laserloop.control.mpc import MpcController
    from laserloop.predict.window import WindowPredictor

    model: Any = context.model
    predictor = WindowPredictor(model)
    return MpcController(predictor, make_solver(model), context.problem, compensate=context.compensate)


def _make_pi(context: Context) -> "Controller":
    from laserloop.control.simple import PiController

    assert context.gains is not None
    assert context.gains.pi is not None
    return PiController(context.gains.pi, context.problem.power, context.problem.window)


def _make_constant(context: Context) -> "Controller":
    from laserloop.control.simple import ConstantController

    assert context.gains is not None
    return ConstantController(context.gains.constant)


def _make_feedforward(context: Context) -> "Controller":
    from laserloop.control.simple import FeedforwardController

    assert context.gains is not None
    assert context.gains.feedforward is not None
    return FeedforwardController(context.gains.feedforward, context.problem.power)


def _make_oracle(context: Context) -> "Controller":
    if context.plant is None:
        raise BadInput("the oracle plans on the plant, but there is none here: choose another controller")
    return make_oracle(context.problem, context.plant)


CONTROLLERS = {
    "twin": Kind(
        label="physics twin",
        about="plans with a physics twin of the process",
        help="physics, nothing trained",
        page=1,
        make=_make_twin,
    ),
    "realtime": Kind(
        label="real-time MPC",
        about="plans with a trained network, for the paper's process",
        help="compiled MPC",
        needs="network",
        page=5,
        make=_make_realtime,
    ),
    "ipopt": Kind(
        label="IPOPT MPC",
        about="plans with a trained network by the paper's solver: slow",
        help="the paper's",
        needs="network",
        make=_make_ipopt,
    ),
    "sqp": Kind(
        label="sqp",
        about="plans with any predictor: slow",
        help="any predictor",
        needs="model",
        make=_make_sqp,
    ),
    "pi": Kind(
        label="PI",
        about="feedback of the measured peak, as most shops would do it",
        needs="gains",
        plans=False,
        page=2,
        make=_make_pi,
    ),
    "constant": Kind(
        label="constant power",
        about="one power for everything, as most machines do",
        needs="gains",
        plans=False,
        page=4,
        make=_make_constant,
    ),
    "feedforward": Kind(
        label="feed-forward",
        about="less power where the beam comes back; no camera",
        needs="gains",
        plans=False,
        page=3,
        make=_make_feedforward,
    ),
    "oracle": Kind(
        label="the oracle",
        about="plans on the plant itself: slow, the upper bound",
        help="plans on the plant itself",
        needs="plant",
        page=6,
        make=_make_oracle,
    ),
}
WITH_MODEL = tuple(name for name, kind in CONTROLLERS.items() if kind.needs in ("network", "model"))
PLANNERS = tuple(
    name for name, kind in CONTROLLERS.items() if kind.plans
)  # own classes may keep to a problem
USED_BY = {"--model": WITH_MODEL, "--delta-k": PLANNERS, "--tracking": PLANNERS, "--graph": ("ipopt",)}


def needs(name: str | None, what: str) -> bool:
    """Whether a controller is one of those that need a network, a model, gains or the plant."""
    return name in CONTROLLERS and CONTROLLERS[name].needs == what


def make_controller(
    name: str,
    problem: "MpcProblem",
    *,
    plant: "Plant | None",
    model: "Model | str | None" = None,
    gains: "Gains | None" = None,
    options: Mapping[str, Any] | None = None,
    process: "Process | None" = None,
) -> "Controller":
    """The controller that people call `name`; FILE.py:NAME is one of their own, built with the problem.

    Those that plan need a `model`: a network or, for sqp, a predictor FILE.py:NAME, built with the `process`
    and planned with over its own horizon. Those that were tuned need their `gains`; the oracle plans on
    `plant`, which nobody else needs. `options`: graph (of ipopt), compensate (are late images rolled
    forward?).
    """
    known = process or (None if plant is None else plant.settings.process)
    context = Context(
        problem=problem, process=known, plant=plant, model=model, gains=gains, **dict(options or {})
    )
    own = is_own(name) or isinstance(model, str)  # they are told what they were given, nothing of the plant
    return make_named(name, replace(context, process=process) if own else context)


def make_named(name: str, context: Context) -> "Controller":
    """The same of a context."""
    if is_own(name):
        return load_controller(name, context.problem, context.process)
    if name not in CONTROLLERS:
        raise BadInput(
            f"a controller must be one of {', '.join(CONTROLLERS)} or FILE.py:NAME, got {name!r}"
            f"{guess(name, CONTROLLERS)}: choose one"
        )
    if name in WITH_MODEL:
        _check_model(name, context.model)
    if needs(name, "gains") and context.gains is None:
        raise BadInput(f"the controller {name} needs tuned gains, but none were given: tune it first")
    return CONTROLLERS[name].make(context)


def _check_model(name: str, model: "Model | str | None") -> None:
    if model is None:
        raise BadInput(f"the controller {name} plans with a model, but none was given: give it one")
    if isinstance(model, str) and not is_own(model):
        raise BadInput(f"a model by name must read FILE.py:NAME here, got {model!r}: find a network first")
    if isinstance(model, str) and needs(name, "network"):
        raise BadInput(f"the controller {name} plans with networks only, got {model!r}: use sqp")


def check_used(name: str, options: Iterable[str]) -> None:
    """Refuse options that the controller does not use."""
    for option in options:
        users = USED_BY[option]
        if name not in users and not (users is PLANNERS and is_own(name)):
            raise BadInput(
                f"{option} belongs to {', '.join(users)}, but the controller is {name}; leave it out"
            )


def make_oracle(
    problem: "MpcProblem", plant: "Plant", *, rounds: int = MOST_ROLLOUTS, agreed: float | None = None
) -> "Controller":
    """Plans on the plant itself, in so many rounds unless a rollout agrees with its plan before, K."""
    from laserloop.control.mpc import MpcController
    from laserloop.control.sqp import SqpSolver
    from laserloop.predict.oracle import AGREED, PlantRollout

    predictor = PlantRollout(_roll_plant(plant), problem.horizon, problem.power[1])
    solver = SqpSolver(problem, max_iterations=rounds, agreed=agreed or AGREED, halvings=0)
    return MpcController(predictor, solver, problem, resume=True, name="oracle")


def _roll_plant(plant: "Plant") -> "RollPlant":
    """What the plant's T_max would be along some positions under some powers; it stays where it is.

    A way that leads beyond the plate is held at its edge.
    """
    import numpy as np

    half = 0.5 * np.array(plant.settings.process.plate[:2])

    def roll(powers: "FloatArray", positions: "FloatArray") -> "FloatArray":
        now = plant.snapshot()
        way = np.clip(positions, -half, half)
        hottest = np.empty(len(powers))
        for i, power in enumerate(powers):
            hottest[i] = plant.t_max(plant.step(float(power), way[i : i + 2])).temperature
        plant.restore(now)
        return hottest

    return roll


def choose_camera(
    plant: "Plant", model: "Model | None", sampling: "Sampling | None" = None
) -> "CameraSettings":
    """The camera of the process, read as a model learned to, or else as the plant defines T_max.

    `sampling`: how temperatures ahead are read instead.
    """
    settings, own = plant.settings.process.camera, plant.settings.subgrid
    if model is None:
        return replace(settings, subgrid=own, sampling="smooth" if own else "nearest")
    return replace(settings, subgrid=model.reading == "peak", sampling=sampling or model.sampling)


def is_own(name: object) -> bool:
    """Whether it reads FILE.py:NAME."""
    return isinstance(name, str) and ".py:" in name


def _load_predictor(name: str, process: object = None) -> "Predictor":
    """What NAME(process) returns; the process is None where there is none."""
    made: Predictor = _make(name, process, ("name", "horizon", "memory", "affine", "reset", "observe"))
    return made


def load_controller(name: str, problem: "MpcProblem", process: object = None) -> "Controller":
    """What NAME(problem) returns; it may do with `act` alone, and may ask for the `process` by that name."""
    made: Controller = _make(name, problem, ("act",), process=process)
    return made


def _make(name: str, argument: object, wanted: tuple[str, ...], **more: object) -> Any:
    """Call NAME of FILE.py and see that the result has what is wanted of it; `more` goes to who names it."""
    call = _find(name)
    try:
        asked = signature(call).parameters
        made = call(argument, **{key: value for key, value in more.items() if key in asked})
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
    made = getattr(module, attribute, None)
    if not callable(made):
        raise BadInput(f"{file} must have a class or function {attribute!r}, but has none: correct the name")
    result: Callable[..., object] = made
    return result


def _tell(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
