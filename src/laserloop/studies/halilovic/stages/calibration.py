"""Calibration: the margin of each deployed model, from the held-out part of what it was trained on."""

from functools import partial
from pathlib import Path
from typing import Any

from laserloop.evaluation import calibrate
from laserloop.predict.model import find_model
from laserloop.store import has_case, solve_case
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.size import DEPLOYED
from laserloop.studies.halilovic.stage import Stage, Task


def list_tasks(folder: Folder) -> list[Task]:
    """One model each."""
    return [
        Task(
            calibrate_one,
            (folder.model(name), folder.ensembles / f"{kind}-fixed", folder.cases),
            has_case(folder.cases / "margins", _name(folder.model(name))),
        )
        for kind, name in DEPLOYED.items()
    ]


def calibrate_one(model: str, store: Path, root: Path) -> dict[str, Any]:
    """The margin of a model, from disk if it is there: the task of a worker."""
    return solve_case(root / "margins", _name(model), partial(calibrate, find_model(model), store))


def _name(model: str) -> dict[str, Any]:
    return {"study": "margin", "model": find_model(model).provenance["identity"]}


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """The margins by model."""
    return {
        "calibration": {
            name: calibrate_one(folder.model(name), folder.ensembles / f"{kind}-fixed", folder.cases)
            for kind, name in DEPLOYED.items()
        }
    }


def find_margin(folder: Folder) -> float:
    """δ of the deployed corner model, one-sided, to a tenth of a kelvin."""
    found = folder.read("calibration")[DEPLOYED["corner"]]
    return round(float(found["delta_one_sided_k"]), 1)


STAGE = Stage(name="calibration", title="Calibrate the margin", list_tasks=list_tasks, conclude=conclude)
