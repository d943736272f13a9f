"""A small ensemble, made once in this process, that tests read or copy."""

import shutil
from pathlib import Path

import pytest

from laserloop.data import EnsembleSettings, EpisodeStore, open_store, run_ensemble

SMALL = EnsembleSettings(kind="corner", runs=6, states=15, seed=3)


@pytest.fixture(scope="session")
def small() -> EnsembleSettings:
    return SMALL


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> EpisodeStore:
    """Read only."""
    directory = tmp_path_factory.mktemp("ensemble") / "small"
    run_ensemble(directory, SMALL, workers=1)
    return open_store(directory)


@pytest.fixture
def copied(made: EpisodeStore, tmp_path: Path) -> EpisodeStore:
    """To be damaged."""
    shutil.copytree(made.directory, tmp_path / "copy")
    return open_store(tmp_path / "copy")
