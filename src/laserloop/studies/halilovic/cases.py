"""What is run: how large a reproduction is, its trainings, closed loops, corners and lines."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import EnsembleSettings
from laserloop.evaluation import REALISATIONS
from laserloop.loop.scenario import TICKS, Scenario
from laserloop.paths import DEFAULT_SPEED, DEFAULT_TICK, ScanPath, find_path
from laserloop.paths.shapes import HALF_WIDTH
from laserloop.predict.model import MODEL_FILE, Model, load_model
from laserloop.predict.networks import Lstm, MsDeepONet, SsAr, SsArLoc, WindowNetwork
from laserloop.predict.training import FitSettings, Report, train
from laserloop.process import Process
from laserloop.process.process import Sampling

PATHS = ("vertical", "spiral", "diagonal")
SEEN = ("horizontal", "vertical", "spiral")
UNSEEN = "diagonal"
NOISES = (0.0, 2.0, 5.0, 10.0)  # K, on every temperature that the model is shown


class Trial(NamedTuple):
    """What a model is put to."""

    model: str
    noise: float = 0.0  # K
    shared: bool = False  # one draw for all temperatures of a window, instead of one for each


BASE, CORNER = EnsembleSettings(kind="base"), EnsembleSettings(kind="corner")
BASE_AGAIN, CORNER_AGAIN = EnsembleSettings(kind="base", seed=1), EnsembleSettings(kind="corner", seed=1)
BASE_RANDOM = EnsembleSettings(kind="base", geometry="random")
CORNER_RANDOM = EnsembleSettings(kind="corner", geometry="random")
SHORT = FitSettings(schedule="cosine", patience=200, max_epochs=200)  # the rate ends at 0: nothing is cut off
SEEDS = (0, 1, 2)
HORIZONS = (3, 7, 10)  # beside the usual 5
USUAL = MsDeepONet()

SPREAD = {  # to see how much is luck or a choice of ours, and what the paper only thinks of
    "corner-ss-ar-loc",
    *(f"corner-nh{n}-seed{seed}" for n in HORIZONS for seed in SEEDS[1:]),
    *(f"{kind}-{what}" for kind in ("base", "corner") for what in ("other-data", "random", "bilinear")),
}

Watch = Callable[["Recipe"], Report | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One training: equal recipes give equal weights."""

    name: str  # of the model and of its folder
    ensemble: EnsembleSettings = CORNER
    architecture: WindowNetwork = USUAL
    settings: FitSettings = SHORT
    sampling: Sampling = "nearest"

    @property
    def store(self) -> str:
        """The name of the folder with the episodes."""
        again = f"-seed{self.ensemble.seed}" if self.ensemble.seed else ""
        return f"{self.ensemble.kind}-{self.ensemble.geometry}{again}"


def reseed(seed: int) -> FitSettings:
    """The schedule with another seed of the split, the first weights and the batches."""
    return replace(SHORT, seed=seed)


def _name_seed(seed: int) -> str:
    return f"-seed{seed}" if seed else ""


BY_EPISODE = replace(SHORT, split="episode")
RECIPES = (
    *(Recipe(name=f"corner-nh5-seed{seed}", settings=reseed(seed)) for seed in SEEDS),
    *(Recipe(name=f"base-nh5-seed{seed}", ensemble=BASE, settings=reseed(seed)) for seed in SEEDS),
    *(
        Recipe(name=f"corner-nh{n}{_name_seed(s)}", architecture=MsDeepONet(horizon=n), settings=reseed(s))
        for n in HORIZONS
        for s in SEEDS
    ),
    *(Recipe(name=f"corner-{trunk}", architecture=MsDeepONet(trunk=trunk)) for trunk in ("loc", "both")),
    *(Recipe(name=f"corner-p{p}", architecture=MsDeepONet(basis=p)) for p in (50, 150)),
    *(Recipe(name=f"corner-w{width}", architecture=MsDeepONet(width=width)) for width in (64, 256)),
    Recipe(name="corner-ss-ar", architecture=SsAr()),
    Recipe(name="corner-ss-ar-loc", architecture=SsArLoc()),
    Recipe(name="corner-lstm", architecture=Lstm()),
    Recipe(name="corner-by-episode", settings=BY_EPISODE),
    Recipe(name="base-by-episode", ensemble=BASE, settings=BY_EPISODE),
    Recipe(name="corner-other-data", ensemble=CORNER_AGAIN),
    Recipe(name="base-other-data", ensemble=BASE_AGAIN),
    Recipe(name="corner-bilinear", sampling="bilinear"),
    Recipe(name="base-bilinear", ensemble=BASE, sampling="bilinear"),
    Recipe(name="corner-random", ensemble=CORNER_RANDOM),
    Recipe(name="base-random", ensemble=BASE_RANDOM),
)


def train_recipes(
    recipes: Iterable[Recipe], ensembles: Path, models: Path, *, watch: Watch | None = None
) -> dict[str, Model]:
    """The models by name: a finished one is loaded, an interrupted one goes on, the others are trained.

    The stores lie in `ensembles`, named kind-geometry; each model gets its folder in `models`.
    """
    return {
        recipe.name: train(
            ensembles / recipe.store,
            recipe.architecture,
            recipe.settings,
            models / recipe.name,
            sampling=recipe.sampling,
            report=None if watch is None else watch(recipe),
        )
        for recipe in recipes
    }


def find_models(recipes: Iterable[Recipe], models: Path) -> dict[str, Model]:
    """The finished models among the recipes, by name, in their order; no training is started."""
    found = {}
    for recipe in recipes:
        folder = models / recipe.name
        if (folder / MODEL_FILE).exists():
            found[recipe.name] = _check(load_model(folder), recipe, folder)
    return found


def _check(model: Model, recipe: Recipe, folder: Path) -> Model:
    """Refuse a model that another recipe gave."""
    ensemble = model.provenance.get("data", {}).get("ensemble")
    for what, same in (
        ("architecture", model.architecture == recipe.architecture),
        ("schedule", model.provenance.get("training") == asdict(recipe.settings)),
        ("ensemble", ensemble == recipe.ensemble.to_json()),
        ("sampling", model.sampling == recipe.sampling),
    ):
        if not same:
            raise BadInput(
                f"{str(folder)!r} must hold the model of the recipe {recipe.name}, but its {what} is "
                "another: name another folder"
            )
    return model


STUDIED, LOC, SHIPPED = "corner-nh5-seed0", "corner-loc", "paper-corner"
NOISY = (STUDIED, LOC, SHIPPED)  # models that are also shown noise

# the value on an axis → the trial whose figures stand there
AXES: dict[str, dict[str, Trial]] = {
    "horizon": {
        "3": Trial("corner-nh3"),
        "5": Trial(STUDIED),
        "7": Trial("corner-nh7"),
        "10": Trial("corner-nh10"),
    },
    "trunk": {"temps": Trial(STUDIED), "loc": Trial(LOC), "both": Trial("corner-both")},
    "basis": {"50": Trial("corner-p50"), "100": Trial(STUDIED), "150": Trial("corner-p150")},
    "width": {"64": Trial("corner-w64"), "128": Trial(STUDIED), "256": Trial("corner-w256")},
    "noise": {f"{noise:g}": Trial(STUDIED, noise) for noise in NOISES},
    "shared noise": {f"{noise:g}": Trial(STUDIED, noise, noise > 0) for noise in NOISES},
    "noise on loc": {f"{noise:g}": Trial(LOC, noise) for noise in NOISES},
    "sampling": {"nearest": Trial(STUDIED), "bilinear": Trial("corner-bilinear")},
    "structure": {
        "one-shot": Trial(STUDIED),
        "SS-AR": Trial("corner-ss-ar"),
        "SS-AR with place": Trial("corner-ss-ar-loc"),
        "LSTM": Trial("corner-lstm"),
    },
    "full protocol, noise": {f"{noise:g}": Trial(SHIPPED, noise) for noise in NOISES},
    "full protocol, shared noise": {f"{noise:g}": Trial(SHIPPED, noise, noise > 0) for noise in NOISES},
}


DELTA_K = 13.0  # the paper's margin
BASE_MODEL, CORNER_MODEL = "paper-base", "paper-corner"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a table: what it is called there, and the case behind it."""

    label: str
    case: Scenario


def _on(paths: tuple[str, ...], label: str, **settings: Any) -> list[Entry]:
    return [Entry(label, Scenario(path=path, **settings)) for path in paths]


def list_table_2(
    controller: str = "ipopt",
    delta_k: float = DELTA_K,
    *,
    models: tuple[str, str] = (BASE_MODEL, CORNER_MODEL),
    **settings: Any,
) -> list[Entry]:
    """The paper's nine runs; `models` are those of both ensembles, `settings` those of every case."""
    base, corner = ({"controller": controller, "model": model, **settings} for model in models)
    return [
        *_on(PATHS, "baseline", **base),
        *_on(PATHS, "corner", **corner),
        *_on(PATHS, "corner + δ", **corner, delta_k=delta_k),
    ]


def list_others(*, ticks: int = TICKS) -> list[Entry]:
    """The same paths under the controllers without a model, and under the oracle."""
    others = ("pi", "constant", "feedforward", "oracle")
    return [entry for other in others for entry in _on(PATHS, other, controller=other, ticks=ticks)]


def list_seeds(models: Mapping[str, str], *, delta_k: float = DELTA_K, **settings: Any) -> list[Entry]:
    """Models by labels "base …" without a margin, "corner …" with and without, on every path."""
    entries = []
    for label, model in models.items():
        usual = {"controller": "ipopt", "model": model, **settings}
        entries += _on(PATHS, label, **usual)
        if not label.startswith("base"):
            entries += _on(PATHS, f"{label} + δ", **usual, delta_k=delta_k)
    return entries


def list_table_3(models: Mapping[str, str], **settings: Any) -> list[Entry]:
    """Runs without a margin of the models given by the row's name, such as "N_h = 3" or "SS-AR"."""
    entries = []
    for label, model in models.items():
        paths = PATHS if label.startswith("SS-AR") else ("vertical", "diagonal")
        entries += _on(paths, label, controller="ipopt", model=model, **settings)
    return entries


def list_scenarios(
    slow: tuple[float, ...] = (),
    quick: tuple[float, ...] = (),
    alone: tuple[float, ...] = (),
    *,
    model: str = CORNER_MODEL,
    delta_k: float = DELTA_K,
    ticks: int = TICKS,
) -> list[Entry]:
    """Late cameras, slow cameras and late answers on the unseen diagonal.

    Measured times, s: of whole ticks in Python with IPOPT (`slow`) and with the compiled solver (`quick`),
    and of the latter's call `alone`.
    """
    usual = Scenario(path="diagonal", controller="realtime", model=model, delta_k=delta_k, ticks=ticks)
    rare = replace(usual, process=Process().change(every_ticks=4))
    ipopt = replace(usual, controller="ipopt")
    late = {n: replace(usual, process=Process().change(delay_ticks=n)) for n in (1, 2)}
    cases = {
        "8 kHz, no delay": usual,
        "image 1 tick late": late[1],
        "image 1 tick late, not compensated": replace(late[1], compensate=False),
        "image 2 ticks late": late[2],
        "image 2 ticks late, not compensated": replace(late[2], compensate=False),
        "camera at 2 kHz": rare,
        "camera at 2 kHz, not compensated": replace(rare, compensate=False),
        "compiled solver, its call charged": replace(usual, solve_s=alone),
        "compiled solver, whole tick in Python charged": replace(usual, solve_s=quick),
        "IPOPT, not charged": ipopt,
        "IPOPT, charged, late plan shifted": replace(ipopt, solve_s=slow),
        "IPOPT, charged, plan from start": replace(ipopt, solve_s=slow, policy="late"),
        "IPOPT, 3 powers of a plan": replace(ipopt, apply=3),
        "IPOPT, 5 powers of a plan": replace(ipopt, apply=5),
    }
    return [Entry(label, case) for label, case in cases.items()]


ACCELERATION = 1000.0  # m/s², of a beam that slows down: it stops within 46 µm, 2.4 ticks
RAMP = 24  # points along a change of speed


class Corner(NamedTuple):
    """One way to turn."""

    width: float  # of the bow-tie, of the scan area's
    slowing: bool = False


USUAL_CORNER = "135°"
VARIANTS = {
    USUAL_CORNER: Corner(1.0),
    "135°, slowing": Corner(1.0, slowing=True),
    "153°": Corner(0.5),
    "153°, slowing": Corner(0.5, slowing=True),
    "166°": Corner(0.25),
    "166°, slowing": Corner(0.25, slowing=True),
    "180°": Corner(0.0),
    "180°, slowing": Corner(0.0, slowing=True),
}


def make_path(variant: str, ticks: int = TICKS) -> ScanPath:
    """The bow-tie that turns so, from (−1.5, 0) mm by way of (−1.5, −1.5) mm."""
    corner = VARIANTS[variant]
    if variant == USUAL_CORNER:
        return find_path("diagonal", ticks=ticks)
    right = 2.0 * corner.width - 1.0
    loop = HALF_WIDTH * np.array([[-1.0, 0.0], [-1.0, -1.0], [right, 1.0], [right, -1.0], [-1.0, 1.0]])
    if corner.width == 0.0:
        loop = loop[[0, 1, 4]]  # there and back
    loops = 2 + int(DEFAULT_SPEED * DEFAULT_TICK * ticks / (4 * HALF_WIDTH))
    times, places = _move(np.tile(loop, (loops, 1)), slowing=corner.slowing)
    at = DEFAULT_TICK * np.arange(ticks + 1)
    positions = np.column_stack([np.interp(at, times, axis) for axis in places.T])
    return ScanPath(name=f"diagonal, {variant}", positions=positions)


def _move(corners: NDArray[np.float64], *, slowing: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, s, and places, m, along straight legs; between two of them the speed changes little."""
    times, places, now = [0.0], [corners[0]], 0.0
    for n, (start, end) in enumerate(itertools.pairwise(corners)):
        length = float(np.hypot(*(end - start)))
        if length == 0.0:
            continue
        taken, gone = _speed_up(length, begins=slowing and n > 0, ends=slowing)
        times += (now + taken[1:]).tolist()
        places += list(start + np.outer(gone[1:] / length, end - start))
        now += float(taken[-1])
    return np.array(times), np.array(places)


def _speed_up(length: float, *, begins: bool, ends: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, s, and distances, m, along a leg that begins or ends at rest."""
    ramp = np.linspace(0.0, DEFAULT_SPEED / ACCELERATION, RAMP)
    gone = 0.5 * ACCELERATION * ramp**2
    times, places = (ramp, gone) if begins else (np.zeros(1), np.zeros(1))
    tail = gone[-1] if ends else 0.0
    last = times[-1] + (length - tail - places[-1]) / DEFAULT_SPEED
    times, places = np.append(times, last), np.append(places, length - tail)
    if ends:
        times = np.concatenate([times, last + ramp[-1] - ramp[-2::-1]])
        places = np.concatenate([places, length - gone[-2::-1]])
    return times, places


ANGLES = (0, 30, 45)
PARTS = (1, 2, 4)

PAPER, GRADED = "paper: 100 µm uniform, backward Euler", "graded"
# in-plane spacing and first depth, m, growth, substeps of a tick
BETWEEN = {
    "50 µm in plane, depth from 15 µm × 1.25": (50e-6, 15e-6, 1.25, 1),
    "33 µm in plane, same depth": (100e-6 / 3, 15e-6, 1.25, 1),
    "25 µm in plane, depth from 10 µm × 1.2": (25e-6, 10e-6, 1.2, 1),
    "the same, Δt/4": (25e-6, 10e-6, 1.2, 4),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One straight line on one plant."""

    plant: str  # PAPER, GRADED or a key of BETWEEN
    angle: int  # degrees to the grid
    parts: int = 1  # of the graded plant: every spacing and the time step divided by this

    def settings(self) -> dict[str, Any]:
        """What names the case."""
        return {"study": "plant accuracy", "plant": self.plant, "angle": self.angle, "parts": self.parts}


def list_lines(parts: Sequence[int] = PARTS, between: Sequence[str] = tuple(BETWEEN)) -> list[Line]:
    """All lines of the study, the longest first; `between`: which grids besides the two plants."""
    graded = [Line(plant=GRADED, angle=a, parts=n) for n in sorted(parts, reverse=True) for a in ANGLES]
    return graded + [Line(plant=p, angle=a) for p in (*reversed(between), PAPER) for a in ANGLES]


PROTOCOL = FitSettings()  # the paper's
DEPLOYED = {"base": "paper-base", "corner": "paper-corner"}  # ensemble → the model of the full protocol
# trainings that take longest, which are begun first so that no worker waits for one at the end
LONG = ("paper-base", "paper-corner", "corner-lstm", "corner-w256", "corner-nh10")
TABLE_3 = {
    "N_h = 3": "corner-nh3",
    "N_h = 5": "corner-nh5-seed0",
    "N_h = 7": "corner-nh7",
    "N_h = 10": "corner-nh10",
    "SS-AR": "corner-ss-ar",
}
OUTLOOK = {"SS-AR with place": "corner-ss-ar-loc"}  # of the paper's: the same loops
HORIZON_SEEDS = {f"N_h = {n} seed {s}": f"corner-nh{n}-seed{s}" for n in (3, 5, 7, 10) for s in (1, 2)}
# models of the shorter schedule that close the loop too: how much is luck?
SEED_LOOPS = {
    "base seed 1": "base-nh5-seed1",
    "base seed 2": "base-nh5-seed2",
    "corner seed 0": "corner-nh5-seed0",
    "corner seed 1": "corner-nh5-seed1",
    "corner seed 2": "corner-nh5-seed2",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What makes a reproduction long or short; equal sizes give equal tables."""

    name: str
    runs: int = 320  # episodes of each ensemble
    protocol: FitSettings = PROTOCOL  # of the deployed models
    short: FitSettings = SHORT  # of the ablations
    realisations: int = REALISATIONS  # fresh trajectories of each excitation
    ticks: int = 320  # of a closed loop
    problems: int = 600  # put to every solver
    repeats: int = 400  # of a timed forecast
    parts: tuple[int, ...] = PARTS  # divisions of the graded grid
    between: tuple[str, ...] = tuple(BETWEEN)  # grids between the paper's and the graded
    seeds: tuple[str, ...] = tuple(SEED_LOOPS)  # further models that close the loop
    spread: bool = (
        True  # other seeds of each horizon, other data, other shapes: how much is luck or our choice?
    )
    graph: str = "plain"  # of the network inside IPOPT: the paper's, or folded
    corners: tuple[str, ...] = tuple(VARIANTS)  # of the unseen path

    def recipes(self) -> list[Recipe]:
        """All trainings of the paper's ensembles, the longest first."""
        deployed = [
            Recipe(name=DEPLOYED["base"], ensemble=BASE, settings=self.protocol),
            Recipe(name=DEPLOYED["corner"], ensemble=CORNER, settings=self.protocol),
        ]
        shrunk = {name: getattr(self.short, name) for name in ("schedule", "patience", "max_epochs")}
        ablations = [
            replace(one, settings=replace(one.settings, **shrunk))
            for one in RECIPES
            if self.spread or one.name not in SPREAD
        ]
        everything = sorted(deployed + ablations, key=_rank)
        return [replace(one, ensemble=replace(one.ensemble, runs=self.runs)) for one in everything]

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and words, for the folder and for the pages."""
        return asdict(self) | {
            "ensemble_runs": self.runs,
            "full_epochs": self.protocol.max_epochs,
            "short_epochs": self.short.max_epochs,
        }


def _rank(recipe: Recipe) -> tuple[int, str]:
    return (LONG.index(recipe.name) if recipe.name in LONG else len(LONG)), recipe.name


FULL = Size(name="full")
QUICK = Size(
    name="quick",
    runs=24,
    protocol=FitSettings(halve_after=12, patience=40, max_epochs=90),
    short=FitSettings(schedule="cosine", patience=20, max_epochs=20),
    realisations=1,
    ticks=160,
    problems=40,
    repeats=100,
    parts=PARTS[:2],
    between=(),
    seeds=("base seed 1", "corner seed 1"),
    spread=False,
    graph="folded",
    corners=("135°", "153°", "180°, slowing"),
)
