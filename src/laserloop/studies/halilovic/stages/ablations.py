"""Ablations: every model on the seen paths and on the unseen one, noise included."""

from dataclasses import asdict
from typing import Any

from laserloop.predict.model import Model
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.stage import Stage, Task
from laserloop.studies.halilovic.study.ablation_points import NOISY, compare, place_points
from laserloop.studies.halilovic.study.ablations import run_ablations
from laserloop.studies.halilovic.study.long_rollouts import run_rollouts
from laserloop.studies.halilovic.study.recipes import find_models


def list_tasks(folder: Folder) -> list[Task]:
    """One model each; scores that are on disk are not taken again."""
    return [Task(score_one, (name, model, folder), False) for name, model in _models(folder).items()]


def score_one(name: str, model: Model, folder: Folder) -> None:
    """The task of a worker."""
    _score({name: model}, folder)


def _models(folder: Folder) -> dict[str, Model]:
    return find_models(folder.size.recipes(), folder.models)


def _score(models: dict[str, Model], folder: Folder) -> list[dict[str, Any]]:
    return run_ablations(models, folder.cases, noisy=NOISY, realisations=folder.size.realisations)


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """The rows, their places on the paper's axes, and where ours differ from the paper's."""
    rows = _score(_models(folder), folder)
    points = place_points(rows)
    return {
        "ablations": {
            "schedule": asdict(folder.size.short),
            "rows": rows,
            "rollouts": run_rollouts(_models(folder), folder.cases, realisations=folder.size.realisations),
            "points": [asdict(point) for point in points],
            "differences": [asdict(one) | {"ratio": one.ratio} for one in compare(points)],
        }
    }


STAGE = Stage(name="ablations", title="Score the ablations", list_tasks=list_tasks, conclude=conclude)
