"""Ensembles: the episodes that every training learns from."""

from typing import Any

from laserloop.data.ensemble import EnsembleSettings
from laserloop.data.store import create_store, data_hash, make_episode, missing, open_store, read_episode
from laserloop.data.windows import cut_episode
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.stage import Stage, Task


def list_ensembles(folder: Folder) -> dict[str, EnsembleSettings]:
    """Name of the store → settings, each once."""
    return {recipe.store: recipe.ensemble for recipe in folder.size.recipes()}


def list_tasks(folder: Folder) -> list[Task]:
    """One episode each."""
    tasks = []
    for name, settings in list_ensembles(folder).items():
        store = create_store(folder.ensembles / name, settings)
        lacking = set(missing(store))
        tasks += [
            Task(make_episode, (str(store.directory), settings.to_json(), index), index not in lacking)
            for index in range(settings.runs)
        ]
    return tasks


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """How many episodes and windows each store holds, and the hash of all of it."""
    found = {}
    for name, settings in list_ensembles(folder).items():
        store = open_store(folder.ensembles / name)
        windows = len(cut_episode(read_episode(store, 0), store.columns))
        found[name] = {
            "episodes": settings.runs,
            "windows": settings.runs * windows,
            "data_hash": data_hash(store),
            "settings": settings.to_json(),
        }
    return {"ensembles": found}


STAGE = Stage(name="ensembles", title="Run the ensembles", list_tasks=list_tasks, conclude=conclude)
