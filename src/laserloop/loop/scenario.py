"""One closed-loop case: its settings, the run they lead to, and the record that is kept, scored and drawn.

Every closed loop of the command line, the studies and the benches goes through `run_case`.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.control.controller import Controller
from laserloop.control.margins import Margins, find_margins
from laserloop.control.problem import ROOM, MpcProblem, make_twin_problem
from laserloop.control.simple import Gains, find_gains
from laserloop.loop.controllers import (
    WITH_GAINS,
    WITH_MODEL,
    adapt,
    check_used,
    choose_camera,
    make_controller,
    names_own,
)
from laserloop.loop.disturbances import (
    DeadlineController,
    Disturb,
    Drift,
    Fault,
    disturb_by,
    draw_charges,
    drift_by,
)
from laserloop.loop.record import Run, score, series_of
from laserloop.loop.run import Rig, Watch, run_rig
from laserloop.paths import ScanPath, find_path, names_file
from laserloop.plant import Camera, Plant, make_plant
from laserloop.predict.model import SPEED_RANGE, Misfit, Model, find_model
from laserloop.predict.twin.reach import judge_reach
from laserloop.process import CameraSettings, Process, find_process, shipped_processes
from laserloop.process.camera import Sampling
from laserloop.process.mismatch import LAG, check_factors, mismatch
from laserloop.store import hash_file, solve_case

Notes = tuple[str, ...]


def tell_margin(model: Model | None, camera: CameraSettings, delta_k: float | None) -> Notes:
    """A note if a margin is taken from a calibration that saw a better camera."""
    perfect = (camera.noise, camera.delay, camera.every, camera.exposure) == (0.0, 0, 1, 1)
    if model is None or not model.margin or delta_k is not None or perfect:
        return ()
    return (
        f"the margin of {model.margin:.1f} K was calibrated on exact images of every tick, so it does not "
        "cover this camera's noise, delay, rate and exposure",
    )


def tell_sampling(model: Model | None, sampling: Sampling | None) -> Notes:
    """A note if temperatures ahead are read in another way than the model learned."""
    if model is None or sampling in (None, model.sampling):
        return ()
    return (f"temperatures ahead are read by {sampling} sampling; the model learned from {model.sampling}",)


def tell_uncalibrated(process: Process) -> Notes:
    """A note that nothing is promised for this process."""
    return (
        f"no margins were calibrated for the process {process.name} as it is here, so none are kept; "
        "laserloop calibrate --process finds them",
    )


def tell_narrow(margins: Margins, room: float) -> Notes:
    """A note if a window has no room for its margins."""
    if max(margins.above, margins.below) <= room:
        return ()
    return (
        f"the margins of {margins.above:.1f} K above and {margins.below:.1f} K below do not fit into the "
        f"window, so at most {room:.1f} K are kept and the promise is not",
    )


def tell_mismatch(factors: tuple[tuple[str, float], ...]) -> Notes:
    """A note that the plant is not what the process says."""
    if not factors:
        return ()
    told = ", ".join(f"{name} {'=' if name == LAG else '×'} {factor:g}" for name, factor in factors)
    return (f"the plant differs from the process, and the controller does not know: {told}",)


def tell_reach(process: Process, path: ScanPath) -> Notes:
    """A note if the laser cannot reach the window."""
    told = judge_reach(process, path.median_speed) if path.median_speed else None
    return () if told is None else (told,)


def tell_solver(controller: Controller) -> Notes:
    """A note if the solver is not the one that was meant."""
    return tuple(getattr(controller, "notes", ()))


def tell_range(plant: Plant, run: Run) -> Notes:
    """A note if the material's range of validity was left."""
    if not len(run):
        return ()
    complaint = plant.settings.material.outside(plant.settings.ambient, float(run.t_max.max()))
    return () if complaint is None else (complaint,)


Progress = Callable[[int, int], None]

TICKS = 320
BEST = {"paper": ("realtime", "paper-corner"), "graded": ("twin", None)}  # of what ships, by plant
BILINEAR = "paper-corner-bilinear"  # the best that ships for previews that are read bilinearly


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCase:
    """The settings of one run; together they name it."""

    path: str
    controller: str | None = None  # None: the best that ships for the plant
    model: str | None = None  # a shipped name, a folder, or FILE.py:NAME
    plant: str = "paper"
    process: Process = field(default_factory=Process)
    ticks: int | None = TICKS  # None: to the end of a file
    delta_k: float | None = 0.0  # K, margin below the window's top; None: as calibrated for model or process
    margins: Margins | None = None  # of both bounds, instead of what ships; with delta_k None only
    adaptive: bool = False  # do the margins follow what the camera sees?
    tracking: float | None = None  # price of leaving the window's middle; None: the controller's own
    mismatch: tuple[tuple[str, float], ...] = ()  # what the plant has and the process does not say
    foresight: int | None = None  # ticks of the way ahead that previews tell truly; None: all of it
    faults: tuple[Fault, ...] = ()  # of images or of absorbed power, one after another
    sampling: Sampling | None = None  # how temperatures ahead are read; None: as the model learned
    graph: str = "folded"  # of ipopt: folded, or the paper's plain one
    compensate: bool = True  # does the plan know how old its image is?
    solve_s: tuple[float, ...] = ()  # times to draw from that each answer is charged with; none: not charged
    policy: str = "shift"  # what happens to a late plan
    apply: int = 1  # powers of a plan given before the next question
    force: bool = False  # also with a model that was not made for this

    def settings(self) -> dict[str, Any]:
        """What names the case: all of it, the model by what it was trained from, files by their content."""
        named = asdict(replace(self, process=Process()))
        if self.model is not None and not names_own(self.model):
            model = find_model(self.model)
            named["model"] = model.provenance.get("identity", self.model)
            named["delta_k"] = model.margin if self.delta_k is None else self.delta_k
        files = [
            name.rpartition(":")[0] for name in (self.controller, self.model) if name and names_own(name)
        ]
        files += [self.path] if names_file(self.path) else []
        return {
            "study": "closed loop",
            **named,
            "solve_s": list(self.solve_s),
            "process": self.process.to_json(),
            "seed": self.process.camera.seed,
            "files": [hash_file(file) for file in files],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Hooks:
    """What may be watched or changed in a run besides its settings."""

    path: ScanPath | None = None  # instead of the one that the case names
    disturb: Disturb | None = None  # after the faults of the case
    drift: Drift | None = None  # likewise
    watch: Watch | None = None  # every tick as it is done
    progress: Progress | None = None
    say: Callable[[str], None] = lambda _: None  # what a person should know of the run
    wait: Callable[[str], None] | None = None  # why it takes long; None: as `say`
    wrap: Callable[[Controller], Controller] | None = None  # around the controller
    build: Callable[["Prepared", Plant], Controller] | None = None  # instead of the one the case names


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A case with nothing left open, and what it runs with."""

    case: LoopCase
    path: ScanPath
    model: Model | None  # the network; a predictor from a user's file is none
    problem: MpcProblem
    notes: tuple[str, ...] = ()


def keep_case(case: LoopCase, root: Path) -> dict[str, Any]:
    """The record of a case, from disk if it is there."""
    return solve_case(root / "runs", case.settings(), lambda: record_case(case))


def record_case(case: LoopCase, hooks: Hooks | None = None) -> dict[str, Any]:
    """The record of a case: its scores, then the series they were taken from."""
    ready = prepare(case, hooks := hooks or Hooks())
    return record(run_prepared(ready, hooks), ready.problem, model=ready.case.model)


def run_case(case: LoopCase, hooks: Hooks | None = None) -> Run:
    """Close the loop that a case describes."""
    return run_prepared(prepare(case, hooks := hooks or Hooks()), hooks)


def prepare(case: LoopCase, hooks: Hooks) -> Prepared:
    """Find path, model and problem; a model not made for this is refused, unless forced or chosen here."""
    path = hooks.path or find_scan(case)
    chosen = choose(case) if hooks.build is None else case
    model = None if chosen.model is None or names_own(chosen.model) else find_model(chosen.model)
    misfits = find_misfits(model, chosen, path)
    notes: tuple[str, ...] = ()
    if misfits and case.force:
        notes = (f"{chosen.model} was not made for this: {_list(misfits)}",)
    elif misfits and case.controller is None and case.model is None:
        notes = (f"{chosen.model} was not made for this ({_list(misfits)}), so the twin is used",)
        chosen, model = replace(chosen, controller="twin", model=None), None
    elif misfits:
        raise _refuse(chosen, misfits)
    problem = make_problem(case.process, model, delta_k=case.delta_k, tracking=case.tracking)
    if chosen.controller == "twin" or names_own(chosen.model or ""):
        problem = make_twin_problem(problem, case.tracking)
    if chosen.controller == "twin":
        margins = case.margins or find_margins(case.plant, case.process)
        if case.delta_k is None and (margins or not case.adaptive):
            problem, told_margins = keep_margins(problem, margins, case.process)
            notes += told_margins
    elif case.margins is not None or case.adaptive:
        raise BadInput(
            f"margins of a process belong to the twin, but the controller is {chosen.controller}: drop them"
        )
    check_factors(dict(case.mismatch))
    delta = case.delta_k
    told = (*notes, *tell_margin(model, case.process.camera, delta), *tell_mismatch(case.mismatch))
    told += (*tell_reach(case.process, path), *tell_sampling(model, case.sampling))
    return Prepared(chosen, path, model, problem, told)


def keep_margins(
    problem: MpcProblem, margins: Margins | None, process: Process
) -> tuple[MpcProblem, tuple[str, ...]]:
    """The twin's problem with margins, as far as there is room, and what there is to say of them."""
    if margins is None:
        return problem, tell_uncalibrated(process)
    room = ROOM * problem.half_width
    kept = replace(problem, margin_above=min(margins.above, room), margin_below=min(margins.below, room))
    return kept, tell_narrow(margins, room)


def choose(case: LoopCase) -> LoopCase:
    """The case with the best that ships for its plant, where controller or model were left open."""
    controller, model = case.controller, case.model
    if controller is None and model is None:
        controller, model = BEST[case.plant]
        model = BILINEAR if model and case.sampling == "bilinear" else model
    elif controller is None:
        controller = "sqp" if names_own(model or "") else "realtime"
    elif controller in WITH_MODEL and model is None:
        model = BILINEAR if case.sampling == "bilinear" else BEST["paper"][1]
    given = {"--model": model, "--delta-k": case.delta_k, "--tracking": case.tracking}
    wanted = [option for option, value in given.items() if value]
    check_used(controller, [*wanted, *(["--graph"] if case.graph != "folded" else [])])
    if case.sampling is not None and (model is None or names_own(model)):
        raise BadInput(
            f"--sampling belongs to controllers that plan with a network ({', '.join(WITH_MODEL)}), but this "
            f"one is {controller}; leave it out"
        )
    return replace(case, controller=controller, model=model)


def run_prepared(ready: Prepared, hooks: Hooks) -> Run:
    """Close the loop of a case that is prepared."""
    case, path = ready.case, ready.path
    plant = build_plant(case, path)
    for note in ready.notes:
        hooks.say(note)
    controller = build_controller(ready, hooks, plant)
    told = tell_solver(controller)
    if case.solve_s or case.apply > 1:
        charge = draw_charges(case.solve_s)
        controller = DeadlineController(controller, charge=charge, policy=case.policy, every=case.apply)
    run = drive(ready, plant, controller if hooks.wrap is None else hooks.wrap(controller), hooks)
    notes = (*run.notes, *ready.notes, *told, *tell_range(plant, run))
    process = replace(case.process, tick=path.tick)
    return replace(run, process=process, notes=notes, problem=ready.problem)


def drive(
    ready: Prepared, plant: Plant, controller: Controller, hooks: Hooks, *, dice: int | None = None
) -> Run:
    """One pass of a controller over the path of a case, with its camera and its faults.

    `dice`: another seed of the camera's noise.
    """
    rig = make_rig(ready.case, ready.path, plant, model=ready.model, dice=dice)
    faults = ready.case.faults
    rig.disturb, rig.drift = disturb_by(faults, hooks.disturb), drift_by(faults, hooks.drift)
    return run_rig(rig, controller, hooks.progress, hooks.watch)


def build_plant(case: LoopCase, path: ScanPath) -> Plant:
    """The plant of a case, with all in which it differs from what the process says."""
    factors = dict(case.mismatch)
    absorbed = factors.get("absorptivity", 1.0)
    process = replace(mismatch(case.process, factors), tick=path.tick)
    plant = make_plant(case.plant, process, absorbed=absorbed)
    plant.check_path(path)
    return plant


def make_rig(
    case: LoopCase, path: ScanPath, plant: Plant, *, model: Model | None = None, dice: int | None = None
) -> Rig:
    """Plant, camera and laser of a case with its faults; `dice`: another seed of the camera's noise."""
    camera = choose_camera(plant, model, case.sampling)
    seed = camera.seed if dice is None else dice
    emissivity = dict(case.mismatch).get("emissivity", 1.0)
    return Rig(
        plant,
        Camera(replace(camera, emissivity=emissivity, seed=seed)),
        path,
        plant.settings.process.laser.power,
        case.foresight,
        disturb_by(case.faults),
        drift_by(case.faults),
    )


def build_controller(ready: Prepared, hooks: Hooks, plant: Plant | None) -> Controller:
    """The controller of a case; only an oracle needs the plant."""
    case = ready.case
    if hooks.build is not None and plant is not None:
        return hooks.build(ready, plant)
    assert case.controller is not None
    controller = make_controller(
        case.controller,
        ready.problem,
        plant=plant,
        model=ready.model or case.model,
        gains=_find_gains(ready, hooks),
        options={"graph": case.graph, "compensate": case.compensate},
        process=tell_process(ready),
    )
    return adapt(controller, ready.problem) if case.adaptive else controller


def tell_process(ready: Prepared) -> Process:
    """The process as a controller is told of it: at the tick and the highest speed of its path."""
    process, path = ready.case.process, ready.path
    fastest = float(path.lit_speeds.max(initial=0.0))
    return replace(process, tick=path.tick, speed=fastest or process.speed)


def find_scan(case: LoopCase) -> ScanPath:
    """The path of a case; files go at their own speed, where they have one, else at that of the process."""
    process = case.process
    return find_path(
        case.path,
        ticks=case.ticks,
        default_speed=process.speed,
        tick=process.tick,
        plate=process.plate[:2],
        power_max=process.laser.power[1],
    )


def make_problem(
    process: Process, model: Model | None, *, delta_k: float | None = None, tracking: float | None = None
) -> MpcProblem:
    """What is wanted of a process, over the horizon of a model, with its own margin unless given."""
    margin = (model.margin if model is not None else None) or 0.0
    problem = MpcProblem(
        window=process.window,
        power=process.laser.power,
        margin_above=margin if delta_k is None else delta_k,
        tracking_cost=tracking or 0.0,
    )
    return problem if model is None else replace(problem, horizon=model.architecture.horizon)


def find_misfits(model: Model | None, case: LoopCase, path: ScanPath) -> list[Misfit]:
    """What speaks against a model here."""
    if model is None:
        return []
    delay, horizon = case.process.camera.delay, model.architecture.horizon
    if delay >= horizon:
        raise BadInput(
            f"a plan must outlast the delay, but the model plans {horizon} ticks and the image comes after "
            f"{delay}: take a shorter --delay or a model of a longer horizon"
        )
    if model.trained_for is None:
        return [Misfit("it does not say what it was made for")]
    return model.trained_for.find_misfits(case.process, case.plant, path)


def record(run: Run, problem: MpcProblem, *, model: str | None) -> dict[str, Any]:
    """A run as plain numbers: what it was of, its scores, then the series they were taken from."""
    return {
        **score(run, problem.window),
        "model": model,
        "delta_k": problem.margin_above,
        "delta_below_k": problem.margin_below,
        "window_k": list(problem.window),
        "process": run.process.to_json(),
        "seed": run.process.camera.seed,
        "version": version("laserloop"),
        "notes": list(run.notes),
        "series": series_of(run),
    }


TUNING = {"constant": "about a minute", "pi": "some minutes"}  # of one core


def _find_gains(ready: Prepared, hooks: Hooks) -> Gains | None:
    """Shipped gains where they were tuned for just this, otherwise tuned now."""
    case, path = ready.case, ready.path
    if case.controller not in WITH_GAINS:
        return None
    speed = path.median_speed
    process, usual = case.process, case.process.speed
    if speed and not usual / SPEED_RANGE <= speed <= usual * SPEED_RANGE:
        process = replace(process, speed=speed)
    found = find_gains(case.plant, process)
    if found is None:
        from laserloop.loop.tune import tune_for

        long = TUNING.get(case.controller or "", "minutes")
        why = (
            f"no gains of {case.controller} ship for this plant and process, so they are tuned first: {long}"
        )
        (hooks.wait or hooks.say)(why)
        only = (case.controller or "",)
        found = tune_for(case.plant, process, ready.problem, names=only, progress=hooks.progress)
    return found


def _refuse(case: LoopCase, misfits: list[Misfit]) -> BadInput:
    """The sentence for a model that does not fit, with the commands that would help."""
    train = (
        f"make one that fits (laserloop ensemble corner --plant {case.plant} --process {_name_process(case)} "
        "--out DATA && laserloop train ms-deeponet --data DATA --out MODEL)"
    )
    cures = ", ".join(dict.fromkeys(misfit.cure or train for misfit in misfits))
    return BadInput(
        f"a model must be made for what it is used on, but {case.model} was not: {_list(misfits)}; {cures}, "
        "take --controller twin, or insist with --force"
    )


def _list(misfits: list[Misfit]) -> str:
    return "; ".join(misfit.why for misfit in misfits)


def _name_process(case: LoopCase) -> str:
    """The name that `--process` finds this process by, or FILE for one that is not built in."""
    name = case.process.name
    return name if name in shipped_processes() and find_process(name) == case.process else "FILE"
