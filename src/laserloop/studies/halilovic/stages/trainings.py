"""Trainings: the two deployed models by the full protocol, those of the ablations by a shorter one."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from laserloop.predict.model import MODEL_FILE, WEIGHTS_FILE, Model, describe
from laserloop.predict.training import peek_epochs
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.stage import Stage, Task
from laserloop.studies.halilovic.study.recipes import Recipe, find_models, train_recipes

CLOCKED = ("seconds", "windows_per_s")

# only for the time left, from a full run: where early stopping ends a training, and what one of its epochs
# costs beside one of most others
USUAL_EPOCHS = {"paper-base": 2630, "paper-corner": 711}
COSTS = {"corner-lstm": 5.0, "corner-w256": 2.2, "corner-nh10": 1.6}


def list_tasks(folder: Folder) -> list[Task]:
    """One training each; one that was begun goes on."""
    return [
        Task(
            train_one,
            (recipe, folder.ensembles, folder.models),
            (folder.models / recipe.name / MODEL_FILE).exists(),
        )
        for recipe in folder.size.recipes()
    ]


def train_one(recipe: Recipe, ensembles: Path, models: Path) -> None:
    """The task of a worker."""
    train_recipes([recipe], ensembles, models)


def measure_progress(folder: Folder) -> float:
    """The share of the work that is done."""
    done = total = 0.0
    for recipe in folder.size.recipes():
        home = folder.models / recipe.name
        usual = min(recipe.settings.max_epochs, USUAL_EPOCHS.get(recipe.name, recipe.settings.max_epochs))
        cost = COSTS.get(recipe.name, 1.0)
        total += cost * usual
        done += cost * (usual if (home / MODEL_FILE).exists() else min(peek_epochs(home), usual))
    return done / total


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """What each model was made from and how well it does on its held-out part; times apart."""
    models = find_models(folder.size.recipes(), folder.models)
    return {
        "trainings": {name: _describe(folder.models / name, model) for name, model in models.items()},
        "clock/trainings": {
            name: {key: model.provenance["metrics"][key] for key in CLOCKED} for name, model in models.items()
        },
    }


def _describe(home: Path, model: Model) -> Mapping[str, Any]:
    origin = model.provenance
    return {
        "architecture": describe(model.architecture),
        "metrics": {key: value for key, value in origin["metrics"].items() if key not in CLOCKED},
        "sampling": model.sampling,
        "weights_sha256": hashlib.sha256((home / WEIGHTS_FILE).read_bytes()).hexdigest(),
        **{key: origin[key] for key in ("identity", "training", "data")},
    }


STAGE = Stage(
    name="trainings",
    title="Train the surrogates",
    list_tasks=list_tasks,
    conclude=conclude,
    progress=measure_progress,
)
