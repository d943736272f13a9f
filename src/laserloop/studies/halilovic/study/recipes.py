"""Recipes: which model of the ablations is trained on which ensemble, all by one schedule."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import EnsembleSettings
from laserloop.predict.model import MODEL_FILE, Model, load_model
from laserloop.predict.networks import Lstm, MsDeepONet, SsAr, SsArLoc, WindowNetwork
from laserloop.predict.training import FitSettings, Report, train
from laserloop.process.process import Sampling

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
