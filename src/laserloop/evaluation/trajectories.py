"""Trajectories that no surrogate was trained on: fresh excitation along given paths, recorded once."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.data.ensemble import EXCITATIONS, PREVIEW
from laserloop.data.excitation import Excitation, draw_power
from laserloop.data.record import COLUMNS, record_path
from laserloop.paths import ScanPath, find_path, names_file
from laserloop.plant import make_plant

FloatArray = NDArray[np.float64]

TICKS = 400
FRESH = 20_260_000  # seeds of ensembles are small numbers; these streams are of their own


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Records (states, columns) by path, excitation and realisation; kept in a folder if one is given.

    All models are scored on the same trajectories, so that every difference is the model's.
    """

    plant: str = "paper"
    folder: Path | None = None
    ticks: int = TICKS

    def get(self, path: str, excitation: Excitation, realisation: int) -> FloatArray:
        """The record of one trajectory."""
        file = self.find_file(path, excitation, realisation)
        if file is None:
            return self._record(path, excitation, realisation)
        if file.exists():
            kept = np.load(file, allow_pickle=False)
            if kept.shape == (self.ticks + 1, len(COLUMNS)):
                return np.asarray(kept, dtype=np.float64)
        values = self._record(path, excitation, realisation)
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f".{file.name}.{os.getpid()}.tmp.npy")
        np.save(beside, values)
        beside.replace(file)
        return values

    def find_file(self, path: str, excitation: Excitation, realisation: int) -> Path | None:
        """Where a trajectory is kept; None if it is not, as a path's file may change under its name."""
        if self.folder is None or names_file(path):
            return None
        name = f"{self.plant}_{path.replace(':', '-')}_{excitation}_{realisation}_{self.ticks}.npy"
        return self.folder / name

    def _record(self, path: str, excitation: Excitation, realisation: int) -> FloatArray:
        scan = _long_enough(path, self.ticks)
        rng = np.random.default_rng([FRESH, realisation, EXCITATIONS.index(excitation)])
        power = draw_power(excitation, min(self.ticks, len(scan)), rng)
        return record_path(make_plant(self.plant, scan), scan, power)


def _long_enough(path: str, ticks: int) -> ScanPath:
    """Built-in paths go on as long as asked, also for the preview; a file's path is as long as it is."""
    if names_file(path):
        whole = find_path(path)
        return whole if len(whole) <= ticks else whole.truncated(ticks)
    return find_path(path, ticks=ticks + PREVIEW)
