"""Offline accuracy: Table 1, on fresh trajectories that no model was trained on."""

from itertools import product
from pathlib import Path
from typing import Any

from laserloop.data.ensemble import Excitation
from laserloop.evaluation import Trajectories, track
from laserloop.predict.model import find_model
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.size import DEPLOYED
from laserloop.studies.halilovic.stage import Stage, Task
from laserloop.studies.halilovic.study.ablations import SEEN, UNSEEN
from laserloop.studies.halilovic.study.table_1 import measure_excitations, run_table_1

TRACKED = tuple(product(("spiral", "diagonal"), (Excitation.PERSISTENT, Excitation.BANG_BANG)))


def find_trajectories(folder: Folder) -> Trajectories:
    """Those of this reproduction; all studies share them."""
    return Trajectories(folder=folder.cases / "trajectories")


def list_tasks(folder: Folder) -> list[Task]:
    """One trajectory each."""
    kept = find_trajectories(folder)
    wanted = product((*SEEN, UNSEEN), Excitation, range(folder.size.realisations))
    return [Task(record, (kept, *which), _is_there(kept.find_file(*which))) for which in wanted]


def record(trajectories: Trajectories, path: str, excitation: Excitation, realisation: int) -> None:
    """The task of a worker."""
    trajectories.get(path, excitation, realisation)


def _is_there(file: Path | None) -> bool:
    return file is not None and file.exists()


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """Table 1, what each excitation asks for, and the truth beside the prediction."""
    models = {name: find_model(folder.model(name)) for name in DEPLOYED.values()}
    kept = find_trajectories(folder)
    return {
        "table_1": {
            "rows": run_table_1(models, folder.cases, realisations=folder.size.realisations),
            "excitations": measure_excitations(folder.cases, realisations=folder.size.realisations),
            "tracking": [
                track(models[DEPLOYED["corner"]], path, kind, trajectories=kept) for path, kind in TRACKED
            ],
        }
    }


STAGE = Stage(name="offline", title="Score the surrogates", list_tasks=list_tasks, conclude=conclude)
