"""Recipes: each is one training, found again by what it was made from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import COLUMNS, EnsembleSettings, create_store, write_episode
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.training import FitSettings
from laserloop.studies.halilovic.cases import AXES, RECIPES, SHORT, Recipe, find_models, train_recipes

TINY = EnsembleSettings(kind="corner", runs=3, states=20)
NET = MsDeepONet(horizon=3, width=8, basis=4)
FAST = FitSettings(max_epochs=2, batch=32)


@pytest.fixture(scope="module")
def ensembles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("zarr")
    folder = tmp_path_factory.mktemp("ensembles")
    store = create_store(folder / "corner-fixed", TINY)
    rng = np.random.default_rng(0)
    for index in range(TINY.runs):
        values = rng.normal(700.0, 50.0, (TINY.states, len(COLUMNS)))
        write_episode(store, index, values)
    return folder


def test_a_trained_recipe_is_found_and_not_trained_again(ensembles: Path, tmp_path: Path) -> None:
    recipes = [
        Recipe(name=f"seed{seed}", ensemble=TINY, architecture=NET, settings=replace(FAST, seed=seed))
        for seed in (0, 1)
    ]
    assert find_models(recipes, tmp_path) == {}
    train_recipes(recipes[:1], ensembles, tmp_path)
    assert list(find_models(recipes, tmp_path)) == ["seed0"]
    epochs = []
    models = train_recipes(
        recipes, ensembles, tmp_path, watch=lambda recipe: lambda _: epochs.append(recipe.name)
    )
    assert epochs == ["seed1", "seed1"]
    found = find_models(recipes, tmp_path)
    assert list(found) == list(models) == ["seed0", "seed1"]
    for name, model in models.items():
        assert found[name].provenance["identity"] == model.provenance["identity"]
    assert models["seed0"].provenance["identity"] != models["seed1"].provenance["identity"]


def test_a_model_of_another_recipe_is_refused(ensembles: Path, tmp_path: Path) -> None:
    recipe = Recipe(name="one", ensemble=TINY, architecture=NET, settings=FAST)
    train_recipes([recipe], ensembles, tmp_path)
    for other, what in (
        (replace(recipe, architecture=MsDeepONet(horizon=3, width=9, basis=4)), "architecture"),
        (replace(recipe, settings=replace(FAST, max_epochs=3)), "schedule"),
        (replace(recipe, ensemble=replace(TINY, seed=1)), "ensemble"),
        (replace(recipe, sampling="bilinear"), "sampling"),
    ):
        with pytest.raises(BadInput, match=f"its {what} is another"):
            find_models([other], tmp_path)


def test_every_recipe_keeps_to_one_schedule_and_differs_from_all_others() -> None:
    assert len({recipe.name for recipe in RECIPES}) == len(RECIPES)
    assert len({repr(replace(recipe, name="")) for recipe in RECIPES}) == len(RECIPES)
    for recipe in RECIPES:
        assert replace(recipe.settings, seed=0, split="window") == SHORT
        assert recipe.ensemble.runs == 320


def test_every_point_of_the_figures_has_its_recipe_or_is_shipped() -> None:
    wanted = {trial.model for values in AXES.values() for trial in values.values()}
    assert wanted - {recipe.name for recipe in RECIPES} == {"paper-corner"}
    settings = {recipe.name: recipe.architecture for recipe in RECIPES}
    for axis, field in (("horizon", "horizon"), ("basis", "basis"), ("width", "width"), ("trunk", "trunk")):
        for value, trial in AXES[axis].items():
            assert str(getattr(settings[trial.model], field)) == value
