"""Recipes: which model of the ablations is trained on which ensemble, all by one schedule."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import EnsembleSettings
from laserloop.predict.networks import FitSettings, Lstm, Model, MsDeepONet, SsAr, load_model, train
from laserloop.predict.networks.architecture import Architecture
from laserloop.predict.networks.checkpoint import MODEL_FILE
from laserloop.predict.networks.fit import Report

BASE, CORNER = EnsembleSettings(kind="base"), EnsembleSettings(kind="corner")
BASE_RANDOM = EnsembleSettings(kind="base", geometry="random")
CORNER_RANDOM = EnsembleSettings(kind="corner", geometry="random")
SHORT = FitSettings(halve_after=20, patience=60, max_epochs=200)
BY_EPISODE = FitSettings(halve_after=20, patience=60, max_epochs=200, split="episode")
SEEDS = (0, 1, 2)
USUAL = MsDeepONet()

Watch = Callable[["Recipe"], Report | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One training: equal recipes give equal weights."""

    name: str  # of the model and of its folder
    ensemble: EnsembleSettings = CORNER
    architecture: Architecture = USUAL
    settings: FitSettings = SHORT

    @property
    def store(self) -> str:
        """The name of the folder with the episodes."""
        return f"{self.ensemble.kind}-{self.ensemble.geometry}"


def reseed(seed: int) -> FitSettings:
    """The schedule with another seed of the split, the first weights and the batches."""
    return FitSettings(
        halve_after=SHORT.halve_after, patience=SHORT.patience, max_epochs=SHORT.max_epochs, seed=seed
    )


RECIPES = (
    *(Recipe(name=f"corner-nh5-seed{seed}", settings=reseed(seed)) for seed in SEEDS),
    *(Recipe(name=f"base-nh5-seed{seed}", ensemble=BASE, settings=reseed(seed)) for seed in SEEDS),
    *(Recipe(name=f"corner-nh{n}", architecture=MsDeepONet(horizon=n)) for n in (3, 7, 10)),
    *(Recipe(name=f"corner-{trunk}", architecture=MsDeepONet(trunk=trunk)) for trunk in ("loc", "both")),
    *(Recipe(name=f"corner-p{p}", architecture=MsDeepONet(basis=p)) for p in (50, 150)),
    *(Recipe(name=f"corner-w{width}", architecture=MsDeepONet(width=width)) for width in (64, 256)),
    Recipe(name="corner-ss-ar", architecture=SsAr()),
    Recipe(name="corner-lstm", architecture=Lstm()),
    Recipe(name="corner-by-episode", settings=BY_EPISODE),
    Recipe(name="base-by-episode", ensemble=BASE, settings=BY_EPISODE),
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
    ):
        if not same:
            raise BadInput(
                f"{str(folder)!r} must hold the model of the recipe {recipe.name}, but its {what} is "
                "another: name another folder"
            )
    return model
