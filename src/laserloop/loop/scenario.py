"""Scenario → Setup → ClosedLoop → Run: what is to be run, what that needs, and the loop that is ready to run.

Every closed loop of the command line, the studies and the benches comes from here:

    run = prepare(Scenario(path="diagonal", plant="graded")).run()
"""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.controller import Controller
from laserloop.control.margins import Margins, adapt, find_margins
from laserloop.control.problem import ROOM, MpcProblem, make_twin_problem
from laserloop.loop.controllers import (
    WITH_MODEL,
    Context,
    Make,
    check_used,
    choose_camera,
    is_own,
    make_named,
    needs,
)
from laserloop.loop.disturbances import DeadlineController, Fault, Faults, draw_charges
from laserloop.loop.record import Run
from laserloop.loop.run import ClosedLoop, Progress, Testbed, Watch
from laserloop.paths import ScanPath, find_path, names_file
from laserloop.plant import Camera, Plant, make_plant
from laserloop.predict.twin.rollout import judge_reach
from laserloop.process import Process, find_process, shipped_processes
from laserloop.process.process import LAG, Sampling, check_factors, mismatch

if TYPE_CHECKING:
    from laserloop.control.simple import Gains
    from laserloop.predict.model import Misfit, Model

Notes = tuple[str, ...]
Say = Callable[[str], object]

TICKS = 320
BEST = {"paper": ("realtime", "paper-corner"), "graded": ("twin", None)}  # of what ships, by plant
BILINEAR = "paper-corner-bilinear"  # the best that ships for previews that are read bilinearly
TUNING = {"constant": "about a minute", "pi": "some minutes"}  # of one core


class NotMadeForThis(BadInput):
    """A model is refused where it was not made for; the sentence tells what would help."""

    def __init__(self, sentence: str, why: str) -> None:
        super().__init__(sentence)
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The settings of one run; together they name it."""

    path: ScanPath | str  # itself, or a name or file, along which there are so many `ticks`
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
    preview_ticks: int | None = None  # of the way ahead that previews tell truly; None: all of it
    faults: tuple[Fault, ...] = ()  # of images or of absorbed power, one after another
    sampling: Sampling | None = None  # how temperatures ahead are read; None: as the model learned
    graph: str = "folded"  # of ipopt: folded, or the paper's plain one
    compensate: bool = True  # does the plan know how old its image is?
    solve_s: tuple[float, ...] = ()  # times to draw from that each answer is charged with; none: not charged
    policy: str = "shift"  # what happens to a late plan
    apply: int = 1  # powers of a plan given before the next question
    force: bool = False  # also with a model that was not made for this

    @property
    def path_name(self) -> str:
        """What people call the path."""
        return self.path if isinstance(self.path, str) else self.path.name

    def find_path(self) -> ScanPath:
        """The path; files go at their own speed, where they have one, else at that of the process."""
        if isinstance(self.path, ScanPath):
            return self.path
        return find_path(self.path, self.process, ticks=self.ticks)

    def settings(self) -> dict[str, Any]:
        """What names the run: all of it, the model by what it was trained from, files by their content."""
        from laserloop.store import hash_file

        named = asdict(replace(self, process=Process(), path=""))
        named["path"] = self.path if isinstance(self.path, str) else _identify(self.path)
        if self.model is not None and not is_own(self.model):
            from laserloop.predict.model import find_model

            model = find_model(self.model)
            named["model"] = model.provenance.get("identity", self.model)
            named["delta_k"] = model.margin if self.delta_k is None else self.delta_k
        files = [name.rpartition(":")[0] for name in (self.controller, self.model) if name and is_own(name)]
        files += [self.path] if isinstance(self.path, str) and names_file(self.path) else []
        return {
            "study": "closed loop",
            **named,
            "solve_s": list(self.solve_s),
            "process": self.process.to_json(),
            "seed": self.process.camera.seed,
            "files": [hash_file(file) for file in files],
        }

    def choose(self) -> "Scenario":
        """The same with the best that ships for its plant, where controller or model were left open."""
        controller, model = self.controller, self.model
        if controller is None and model is None:
            controller, model = BEST[self.plant]
            model = BILINEAR if model and self.sampling == "bilinear" else model
        elif controller is None:
            controller = "sqp" if is_own(model or "") else "realtime"
        elif controller in WITH_MODEL and model is None:
            model = BILINEAR if self.sampling == "bilinear" else BEST["paper"][1]
        options = {"--model": model, "--delta-k": self.delta_k, "--tracking": self.tracking}
        wanted = [option for option, value in options.items() if value]
        check_used(controller, [*wanted, *(["--graph"] if self.graph != "folded" else [])])
        if self.sampling is not None and (model is None or is_own(model)):
            raise BadInput(
                f"--sampling belongs to controllers that plan with a network ({', '.join(WITH_MODEL)}), but "
                f"this one is {controller}; leave it out"
            )
        return replace(self, controller=controller, model=model)


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """A scenario with nothing left open, and what it runs with."""

    scenario: Scenario
    path: ScanPath
    model: "Model | None"  # the network; a predictor from a user's file is none
    problem: MpcProblem
    notes: Notes = ()
    make: Make | None = None  # of the controller, instead of the one that the scenario names

    def run(
        self, progress: Progress | None = None, watch: Watch | None = None, wait: Say | None = None
    ) -> Run:
        """Close the loop; `wait` is told why it takes long to begin."""
        return self.loop(progress, wait).run(progress, watch)

    def loop(self, progress: Progress | None = None, wait: Say | None = None) -> ClosedLoop:
        """All made, on a plate at rest; gains that nobody tuned yet are tuned first, with `progress`."""
        scenario, plant = self.scenario, self.make_plant()
        controller = self.make_controller(plant, progress, wait)
        notes = tuple(getattr(controller, "notes", ()))
        if scenario.solve_s or scenario.apply > 1:
            charge = draw_charges(scenario.solve_s)
            controller = DeadlineController(
                controller, charge=charge, policy=scenario.policy, every=scenario.apply
            )
        return ClosedLoop(
            self.testbed(plant),
            controller,
            process=replace(scenario.process, tick=self.path.tick),
            problem=self.problem,
            model=scenario.model,
            notes=(*self.notes, *notes),
        )

    def make_plant(self) -> Plant:
        """The plant, with all in which it differs from what the process says."""
        factors = dict(self.scenario.mismatch)
        process = replace(mismatch(self.scenario.process, factors), tick=self.path.tick)
        plant = make_plant(self.scenario.plant, process, absorbed=factors.get("absorptivity", 1.0))
        plant.check_path(self.path)
        return plant

    def testbed(self, plant: Plant, seed: int | None = None) -> Testbed:
        """Plant, camera and laser with the faults of the scenario; `seed`: another of the camera's noise."""
        camera = choose_camera(plant, self.model, self.scenario.sampling)
        emissivity = dict(self.scenario.mismatch).get("emissivity", 1.0)
        seed = camera.seed if seed is None else seed
        return Testbed(
            plant,
            Camera(replace(camera, emissivity=emissivity, seed=seed)),
            self.path,
            plant.settings.process.laser.power,
            self.scenario.preview_ticks,
            Faults(*self.scenario.faults),
        )

    def make_controller(
        self, plant: Plant | None, progress: Progress | None = None, wait: Say | None = None
    ) -> Controller:
        """The controller, which only an oracle gives the plant to."""
        scenario = self.scenario

        def practise(controller: Controller, seed: int) -> Run:
            assert plant is not None
            return ClosedLoop(self.testbed(plant, seed), controller).run()

        context = Context(
            problem=self.problem,
            process=self.told_process,
            plant=plant,
            model=self.model or scenario.model,
            graph=scenario.graph,
            compensate=scenario.compensate,
            path=self.path,
            practise=practise,
        )
        if self.make is not None:
            return self.make(context)
        assert scenario.controller is not None
        if needs(scenario.controller, "gains"):
            context = replace(context, gains=self._find_gains(progress, wait))
        controller = make_named(scenario.controller, context)
        return adapt(controller, self.problem) if scenario.adaptive else controller

    @property
    def told_process(self) -> Process:
        """The process as a controller is told of it: at the tick and the highest speed of its path."""
        fastest = float(self.path.lit_speeds.max(initial=0.0))
        process = self.scenario.process
        return replace(process, tick=self.path.tick, speed=fastest or process.speed)

    def _find_gains(self, progress: Progress | None, wait: Say | None) -> "Gains":
        """Shipped gains where they were tuned for just this, otherwise tuned now."""
        from laserloop.control.simple import find_gains
        from laserloop.predict.model import SPEED_RANGE

        name, speed = self.scenario.controller or "", self.path.median_speed
        process, usual = self.scenario.process, self.scenario.process.speed
        if speed and not usual / SPEED_RANGE <= speed <= usual * SPEED_RANGE:
            process = replace(process, speed=speed)
        gains = find_gains(self.scenario.plant, process)
        if gains is not None:
            return gains
        from laserloop.loop.tune import tune_for

        if wait is not None:
            wait(
                f"no gains of {name} ship for this plant and process, so they are tuned first: "
                f"{TUNING.get(name, 'minutes')}"
            )
        return tune_for(self.scenario.plant, process, self.problem, names=(name,), progress=progress)


def prepare(scenario: Scenario, make: Make | None = None) -> Setup:
    """Find path, model and problem; a model not made for this is refused, unless forced or chosen here.

    `make`: what makes the controller, instead of the name that the scenario has.
    """
    path = scenario.find_path()
    chosen = scenario.choose() if make is None else scenario
    model = _find_model(chosen.model)
    misfits, notes = _find_misfits(model, chosen, path), Notes()
    why = "; ".join(misfit.why for misfit in misfits)
    if misfits and scenario.force:
        notes = (f"{chosen.model} was not made for this: {why}",)
    elif misfits and scenario.controller is None and scenario.model is None:
        notes = (f"{chosen.model} was not made for this ({why}), so the twin is used",)
        chosen, model = replace(chosen, controller="twin", model=None), None
    elif misfits:
        raise NotMadeForThis(_word_refusal(chosen, misfits, why), why)
    problem = make_problem(scenario.process, model, delta_k=scenario.delta_k, tracking=scenario.tracking)
    if chosen.controller == "twin" or is_own(chosen.model):
        problem = make_twin_problem(problem, scenario.tracking)
    if chosen.controller == "twin":
        margins = scenario.margins or find_margins(scenario.plant, scenario.process)
        if scenario.delta_k is None and (margins or not scenario.adaptive):
            problem, margin_notes = keep_margins(problem, margins, scenario.process)
            notes += margin_notes
    elif scenario.margins is not None or scenario.adaptive:
        raise BadInput(
            f"margins of a process belong to the twin, but the controller is {chosen.controller}: drop them"
        )
    check_factors(dict(scenario.mismatch))
    notes += (*_note_margin(model, scenario), *_note_mismatch(scenario.mismatch))
    notes += (*_note_reach(scenario.process, path), *_note_sampling(model, scenario.sampling))
    return Setup(chosen, path, model, problem, notes, make)


def keep_case(scenario: Scenario, root: Path) -> dict[str, Any]:
    """The record of a run, from disk if it is there."""
    from laserloop.store import solve_case

    return solve_case(root / "runs", scenario.settings(), lambda: prepare(scenario).run().to_json())


def make_problem(
    process: Process, model: "Model | None", *, delta_k: float | None = None, tracking: float | None = None
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


def keep_margins(
    problem: MpcProblem, margins: Margins | None, process: Process
) -> tuple[MpcProblem, tuple[str, ...]]:
    """The twin's problem with margins, as far as there is room, and what there is to say of them."""
    if margins is None:
        return problem, (
            f"no margins were calibrated for the process {process.name} as it is here, so none are kept; "
            "laserloop calibrate --process finds them",
        )
    room = ROOM * problem.half_width
    narrowed = replace(problem, margin_above=min(margins.above, room), margin_below=min(margins.below, room))
    if max(margins.above, margins.below) <= room:
        return narrowed, ()
    return narrowed, (
        f"the margins of {margins.above:.1f} K above and {margins.below:.1f} K below do not fit into the "
        f"window, so at most {room:.1f} K are kept and the promise is not",
    )


def _find_misfits(model: "Model | None", scenario: Scenario, path: ScanPath) -> "list[Misfit]":
    """What speaks against a model here."""
    if model is None:
        return []
    from laserloop.predict.model import Misfit

    delay, horizon = scenario.process.camera.delay, model.architecture.horizon
    if delay >= horizon:
        raise BadInput(
            f"a plan must outlast the delay, but the model plans {horizon} ticks and the image comes after "
            f"{delay}: take a shorter --delay or a model of a longer horizon"
        )
    if model.trained_for is None:
        return [Misfit("it does not say what it was made for")]
    return model.trained_for.find_misfits(scenario.process, scenario.plant, path)


def _find_model(name: str | None) -> "Model | None":
    if name is None or is_own(name):
        return None
    from laserloop.predict.model import find_model

    return find_model(name)


def _identify(path: ScanPath) -> dict[str, Any]:
    """A path by where it goes, to a picometre, and where it is lit."""
    places = np.rint(path.positions * 1e12).astype("<i8")
    digest = hashlib.sha256(places.tobytes() + np.asarray(path.lit, np.uint8).tobytes())
    return {"name": path.name, "tick": path.tick, "content": digest.hexdigest()[:16]}


def _word_refusal(scenario: Scenario, misfits: "list[Misfit]", why: str) -> str:
    """The sentence for a model that does not fit, with the commands that would help."""
    train = (
        f"make one that fits (laserloop ensemble corner --plant {scenario.plant} --process "
        f"{_name_process(scenario.process)} --out DATA && laserloop train ms-deeponet --data DATA "
        "--out MODEL)"
    )
    cures = ", ".join(dict.fromkeys(misfit.cure or train for misfit in misfits))
    return (
        f"a model must be made for what it is used on, but {scenario.model} was not: {why}; {cures}, take "
        "--controller twin, or insist with --force"
    )


def _name_process(process: Process) -> str:
    """The name that `--process` finds this process by, or FILE for one that is not built in."""
    shipped = process.name in shipped_processes() and find_process(process.name) == process
    return process.name if shipped else "FILE"


def _note_margin(model: "Model | None", scenario: Scenario) -> Notes:
    """A note if a margin is taken from a calibration that saw a better camera."""
    camera = scenario.process.camera
    perfect = (camera.noise, camera.delay, camera.every, camera.exposure) == (0.0, 0, 1, 1)
    if model is None or not model.margin or scenario.delta_k is not None or perfect:
        return ()
    return (
        f"the margin of {model.margin:.1f} K was calibrated on exact images of every tick, so it does not "
        "cover this camera's noise, delay, rate and exposure",
    )


def _note_sampling(model: "Model | None", sampling: Sampling | None) -> Notes:
    """A note if temperatures ahead are read in another way than the model learned."""
    if model is None or sampling in (None, model.sampling):
        return ()
    return (f"temperatures ahead are read by {sampling} sampling; the model learned from {model.sampling}",)


def _note_mismatch(factors: tuple[tuple[str, float], ...]) -> Notes:
    """A note that the plant is not what the process says."""
    if not factors:
        return ()
    listed = ", ".join(f"{name} {'=' if name == LAG else '×'} {factor:g}" for name, factor in factors)
    return (f"the plant differs from the process, and the controller does not know: {listed}",)


def _note_reach(process: Process, path: ScanPath) -> Notes:
    """A note if the laser cannot reach the window."""
    note = judge_reach(process, path.median_speed) if path.median_speed else None
    return () if note is None else (note,)
