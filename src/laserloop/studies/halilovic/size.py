"""How large a reproduction is: the paper's own size, or one that fits into a few minutes."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from laserloop.evaluation import REALISATIONS
from laserloop.predict.training import FitSettings
from laserloop.studies.halilovic.study.corners import VARIANTS
from laserloop.studies.halilovic.study.plant_accuracy import BETWEEN, PARTS
from laserloop.studies.halilovic.study.recipes import BASE, CORNER, RECIPES, SHORT, SPREAD, Recipe

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
SEEDS = {
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
    seeds: tuple[str, ...] = tuple(SEEDS)  # further models that close the loop
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
