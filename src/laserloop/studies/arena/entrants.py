"""Who takes part: how each is made, and the table of all, in the order before they are ranked."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control import (
    ConstantController,
    Controller,
    Gains,
    MpcProblem,
    PiController,
    PiGains,
    PolicyController,
    find_gains,
    find_policy,
    plan_with,
)
from laserloop.loop import is_own
from laserloop.native import make_twin
from laserloop.predict import (
    GainSettings,
    HeatCorrection,
    KoopmanPredictor,
    Model,
    MsDeepONet,
    Predictor,
    SequencePredictor,
    Tide,
    TwinPredictor,
    TwinSettings,
    WindowPredictor,
    load_correction,
    load_koopman,
    load_model,
)
from laserloop.process import Process, find_process, mismatch
from laserloop.studies.arena.entrant import (
    COST_FILE,
    MODELS,
    OUT,
    Entrant,
    FloatArray,
    OpenLoopController,
    TaskContext,
)
from laserloop.studies.arena.feedforward import LAWS, FeedforwardPi, Law
from laserloop.studies.arena.gain import GainPredictor
from laserloop.studies.arena.sandbox import enter_own
from laserloop.studies.arena.training_set import plan_blindly

# Times gain and reset time of the undisturbed plant, by how old an image may be before the next one comes,
# ticks, as the process says (benchmarks/tune_arena.py).
PI_GAINS = {1: (1.0, 1.0), 2: (0.4, 1.0), 6: (0.4, 1.0)}
ON_TOP_GAINS = {1: (0.7, 1.0), 2: (0.4, 4.0), 6: (0.1, 4.0)}  # of PI on top of feed-forward
PASSES = 5
GAIN = 0.7  # of what a steady change of power would need
LEAD = 2  # λ, ticks
SMOOTH = np.array([0.25, 0.5, 0.25])  # F; more for noise
LEARNED_ON = "304"
LEARNED = ("material", "window_k", "ambient_k", "beam.sigma_um", "tick_us")  # elsewhere it knows nothing
# Turns are foreseen now, so that less of a noisy reading has to be followed; chosen on validation paths.
CALM = GainSettings(walk=0.0005)


def _make_informed_twin(context: TaskContext) -> Controller:
    """Told conductivity, heat capacity, absorptivity and the laser's lag; more heat is less of k and c_p."""
    assert context.plant is not None
    true = context.plant.settings
    less = 1.0 / true.absorbed
    process = mismatch(true.process, {"conductivity": less, "heat-capacity": less})
    return make_twin(context.problem, replace(process, camera=context.process.camera, speed=context.fastest))


def _make_twin(context: TaskContext) -> Controller:
    return make_twin(context.problem, replace(context.process, speed=context.fastest))


def _make_twin_without_history(context: TaskContext) -> Controller:
    """Heat older than the ticks kept one by one is forgotten; in NumPy, so it is slow."""
    process = replace(context.process, speed=context.fastest)
    return make_twin(context.problem, process, TwinSettings(history=False))


def find_shipped_gains(context: TaskContext) -> Gains:
    """Tuned on three training paths of the undisturbed plant, whatever the path's speed."""
    gains = find_gains("graded", context.process)
    if gains is None:
        raise BadInput(
            f"no gains ship for the process {context.process.name}: run benchmarks/tune_baselines.py graded "
            f"--process {context.process.name}"
        )
    return gains


def _make_constant(context: TaskContext) -> Controller:
    return ConstantController(find_shipped_gains(context).constant)


def scale_pi_gains(context: TaskContext, factors: Mapping[int, tuple[float, float]]) -> PiGains:
    """Gain and reset time for a camera as it is told: the older its images, the calmer."""
    gains, camera = find_shipped_gains(context).pi, context.process.camera
    assert gains is not None  # what ships was tuned whole
    age = camera.delay + camera.every
    gain, reset_time = factors[max(known for known in factors if known <= age)]
    return replace(gains, gain=gain * gains.gain, reset_time=reset_time * gains.reset_time)


def _make_pi(context: TaskContext, factors: Mapping[int, tuple[float, float]]) -> Controller:
    return PiController(scale_pi_gains(context, factors), context.problem.power)


def _make_feedforward(context: TaskContext, law: str) -> Controller:
    """Over the whole path before the run: no decision takes any time."""
    assert context.path is not None
    powers = LAWS[law].powers(context.path, context.process, context.problem.power)
    return OpenLoopController(powers, name="feed-forward")


def _make_feedforward_pi(context: TaskContext, factors: Mapping[int, tuple[float, float]]) -> Controller:
    assert context.path is not None
    powers = LAWS["residual heat"].powers(context.path, context.process, context.problem.power)
    gains = scale_pi_gains(context, factors)
    return FeedforwardPi(powers, gains, context.problem.power[1])


def _make_ilc(context: TaskContext) -> Controller:
    """Iterative learning: the same path over and over, each pass corrected by the error of the last.

    P ← P + γ F e⁺      e⁺ the error λ ticks later, which this tick's power leads to      F a mean over ticks
    """
    assert context.path is not None
    assert context.trial_pass is not None
    lit = np.asarray(context.path.lit)
    power = plan_blindly(replace(context.process, speed=context.fastest), context.path)
    per_kelvin = power.max() / (context.problem.middle - context.process.ambient)  # W/K, of a steady change
    low, high = context.problem.power
    for _ in range(PASSES):
        error = context.problem.middle - align(context.trial_pass(power), context.process.camera.delay, lit)
        step = GAIN * per_kelvin * np.convolve(np.pad(error, 1, mode="edge"), SMOOTH, mode="valid")
        power = np.where(
            lit, np.clip(power + np.append(step[LEAD:], np.full(LEAD, step[-1])), low, high), 0.0
        )
    return OpenLoopController(power, name="ilc")


def align(seen: FloatArray, delay: int, lit: NDArray[np.bool_]) -> FloatArray:
    """Peaks at the ticks they were of; between images interpolated, of lit ticks only."""
    then = np.concatenate((seen[delay:], np.full(delay, np.nan)))
    known = np.flatnonzero(np.isfinite(then) & lit)
    if not len(known):
        return np.full(len(seen), np.nan)
    return np.asarray(np.interp(np.arange(len(seen)), known, then[known]))


def _make_corrected_twin(context: TaskContext, folder: Path) -> Controller:
    correction, _ = load_correction(folder)
    changed = set(find_process(LEARNED_ON).differences(context.process))
    known = correction if changed.isdisjoint(LEARNED) else None
    return correct_twin(replace(context.process, speed=context.fastest), context.problem, known)


def correct_twin(process: Process, problem: MpcProblem, correction: HeatCorrection | None) -> Controller:
    """The twin in NumPy, one or two QPs a tick; without a correction, as on another process, the bare one."""
    calm = correction is not None and process.camera.noise > 0.0
    twin = TwinPredictor(process, TwinSettings(gain=CALM if calm else None), correction)
    return plan_with(twin, problem, name="twin-corrected")


def _learn_gain(predictor: Predictor, context: TaskContext) -> Predictor:
    return GainPredictor(predictor, context.process.camera.noise)


def _make_koopman(context: TaskContext, folder: Path) -> Controller:
    predictor = KoopmanPredictor(load_koopman(folder), context.process)
    return plan_with(_learn_gain(predictor, context), context.problem)


def _make_sequence_network(context: TaskContext, folder: Path) -> Controller:
    predictor = SequencePredictor(load_model(folder), context.process)
    return plan_with(_learn_gain(predictor, context), context.problem)


def _make_window_network(context: TaskContext, folder: Path) -> Controller:
    """By sequential QPs with a line search, as the paper's own: what fails here is not for want of search."""
    predictor = _learn_gain(WindowPredictor(load_model(folder)), context)
    return plan_with(predictor, context.problem, name=folder.name, search=True)


def _make_policy(context: TaskContext, folder: Path) -> Controller:
    name = folder.name.rpartition("-")[0] or folder.name  # without the seed of another training
    return PolicyController(find_policy(folder, context.process), context.process, name=name)


def _enter_learner(name: str, make: Callable[..., Controller], about: str, *sources: type) -> Entrant:
    made = partial(make, folder=MODELS / name)
    return Entrant(name=name, about=about, make=made, learns=True, model=MODELS / name, sources=sources)


def _enter_paper(name: str, controller: str, shipped: str, about: str) -> Entrant:
    """A shipped network; its own cost, margin and kind of reading, wherever it is put."""
    settings = {"controller": controller, "model": shipped, "delta_k": None, "force": True}
    folder = Path(inspect.getfile(Model)).parent / "models" / shipped
    return Entrant(name=name, about=about, settings=settings, model=folder, sources=WINDOW)


WINDOW = Model, MsDeepONet, WindowPredictor, GainPredictor
SEQUENCE = Model, Tide, SequencePredictor, GainPredictor

LEARNERS: tuple[Entrant, ...] = (
    _enter_learner(
        "twin-corrected",
        _make_corrected_twin,
        "The twin times a learned factor: how one diffusivity errs, by what the peak's heat is made of.",
        *(HeatCorrection, Model),
    ),
    _enter_learner(
        "koopman",
        _make_koopman,
        "Heat around the beam as a lifted state that moves on linearly, one matrix for each kind of turn.",
        *(KoopmanPredictor, Model, GainPredictor),
    ),
    _enter_learner(
        "affine-history",
        _make_sequence_network,
        "Ten ticks of history and the way ahead, along the heading, in a network affine in the plan.",
        *SEQUENCE,
    ),
    _enter_learner(
        "tide",
        _make_sequence_network,
        "A time-series dense encoder of past and path, the whole horizon at once, by sequential QPs.",
        *SEQUENCE,
    ),
    _enter_learner(
        "tide-quantile",
        _make_sequence_network,
        "The same with quantiles: holds the median in the middle and the upper quantile below the top.",
        *SEQUENCE,
    ),
    _enter_learner(
        "fno",
        _make_sequence_network,
        "A Fourier neural operator on the surface around the beam, affine in the plan: one QP.",
        *SEQUENCE,
    ),
    _enter_learner(
        "graded-ms-deeponet",
        _make_window_network,
        "The paper's multi-step DeepONet, trained on the plant and paths it is scored on.",
        *WINDOW,
    ),
    _enter_learner(
        "graded-ss-ar",
        _make_window_network,
        "The paper's single-step DeepONet, rolled out, trained on the plant it is scored on.",
        *WINDOW,
    ),
    _enter_learner(
        "graded-lstm",
        _make_window_network,
        "The paper's LSTM, trained on the plant and paths it is scored on.",
        *WINDOW,
    ),
    _enter_learner(
        "distilled",
        _make_policy,
        "A small network that learned from the twin's planner which power follows from what is seen.",
    ),
    _enter_learner(
        "rl",
        _make_policy,
        "A small network by PPO: millions of ticks on twins, some thousand on the plant.",
    ),
)
ENTRANTS: tuple[Entrant, ...] = (
    Entrant(
        name="twin-informed",
        about="The twin told lag, absorptivity, conductivity and heat capacity: a bound, not a contestant.",
        make=_make_informed_twin,
        bound=True,
    ),
    Entrant(
        name="twin",
        about="The physics twin: heat of all past ticks, five ticks ahead, one number learned by camera.",
        make=_make_twin,
    ),
    Entrant(
        name="twin-without-camera",
        about="The twin that never sees an image: power from the path and the process alone.",
        make=_make_twin,
        camera=False,
    ),
    Entrant(
        name="twin-without-preview",
        about="The twin that knows where the beam is but not where it goes: straight on, it believes.",
        make=_make_twin,
        foresight="none",
    ),
    Entrant(
        name="twin-without-history",
        about="The twin that forgets heat after the newest ticks; the camera has to make up for it.",
        make=_make_twin_without_history,
    ),
    Entrant(
        name="ilc",
        about=f"Iterative learning from the blind twin's plan: {PASSES} passes over the very task.",
        make=_make_ilc,
        passes=PASSES,
    ),
    Entrant(
        name="pi",
        about="The practitioner's loop: error of the measured peak and its integral, gains for each camera.",
        make=partial(_make_pi, factors=PI_GAINS),
        foresight="none",
    ),
    Entrant(
        name="feedforward-pi",
        about="Residual-heat feed-forward, and PI on the error of the measured peak that is left.",
        make=partial(_make_feedforward_pi, factors=ON_TOP_GAINS),
        sources=(Law,),
    ),
    Entrant(
        name="feedforward-residual",
        about="Less power by the residual heat factor of where the beam comes to; no camera.",
        make=partial(_make_feedforward, law="residual heat"),
        camera=False,
        sources=(Law,),
    ),
    Entrant(
        name="feedforward",
        about="Less power by the dwell around where the beam comes to; no camera.",
        make=partial(_make_feedforward, law="dwell"),
        camera=False,
        sources=(Law,),
    ),
    Entrant(
        name="constant",
        about="One power for all, the best one on three training paths.",
        make=_make_constant,
        foresight="none",
        camera=False,
    ),
    _enter_paper(
        "paper-corner",
        "realtime",
        "paper-corner",
        "The paper's network of corners on the paper's grid, compiled; least power, margin δ.",
    ),
    _enter_paper(
        "paper-base",
        "realtime",
        "paper-base",
        "The paper's network of rasters and spirals on the paper's grid, compiled; least power, margin δ.",
    ),
    _enter_paper("paper-corner-ipopt", "ipopt", "paper-corner", "The same as published, by IPOPT."),
    # those who learn take part once they are trained; the corrected twin waits until it is compiled
    *(
        learner
        for learner in LEARNERS[1:]
        if learner.model is not None and (learner.model / COST_FILE).exists()
    ),
)


def find_entrant(name: str) -> Entrant:
    """The entrant of a name; NAME@SEED is another training of it, FILE.py:NAME a user's own."""
    found = {entrant.name: entrant for entrant in (*ENTRANTS, *LEARNERS[:1])}
    if is_own(name):
        own = enter_own(name)
        if own.name in found:
            raise BadInput(f"{own.name} is an entrant already: give the class of {name} another name")
        return own
    plain, at, seed = name.partition("@")
    if plain not in found:
        raise BadInput(
            f"an entrant must be one of {', '.join(found)} or FILE.py:NAME, got {name!r}: choose one"
        )
    return _find_training(found[plain], seed) if at else found[plain]


def _find_training(entrant: Entrant, seed: str) -> Entrant:
    """The entrant with the model that another seed led to."""
    if not (entrant.learns and seed.isdecimal() and int(seed) > 0):
        raise BadInput(
            f"another training must read NAME@SEED with the name of one who learns and a seed from 1, got "
            f"{entrant.name}@{seed}: correct it"
        )
    folder, make = find_model_folder(entrant.name, int(seed)), entrant.make
    if not (folder / COST_FILE).exists():
        raise BadInput(
            f"the model of {entrant.name}@{seed} must lie in {folder}, but does not: train it with "
            f"python -m laserloop.studies.arena.train {entrant.name} --seeds {seed}"
        )
    assert isinstance(make, partial)
    bound = partial(make.func, **{**make.keywords, "folder": folder})
    return replace(entrant, name=f"{entrant.name}@{seed}", make=bound, model=folder)


def find_model_folder(name: str, seed: int, out: Path = OUT) -> Path:
    """Where a model lies: seed 0 ships with the package, others are made beside the training set."""
    return MODELS / name if seed == 0 else out / "models" / f"{name}-{seed}"
