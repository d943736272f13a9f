"""Trajectories that no surrogate was trained on: fresh excitation along given paths, recorded once."""

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.data.ensemble import EXCITATIONS, PREVIEW
from laserloop.data.excitation import Excitation, draw_power
from laserloop.data.record import COLUMNS, record_path
from laserloop.paths import ScanPath, find_path, names_file
from laserloop.plant import make_plant
from laserloop.process import Process
from laserloop.versions import hash_code

FloatArray = NDArray[np.float64]

TICKS = 400
FRESH = 20_260_000  # seeds of ensembles are small numbers; these streams are of their own


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Records (states, columns) by path, excitation and realisation; kept in a folder if one is given.

    All models are scored on the same trajectories, so that every difference is the model's. The files' names
    tell the process and the code that made them.
    """

    plant: str = "paper"
    process: Process = field(default_factory=Process)
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
        name = f"{self.plant}_{path.replace(':', '-')}_{excitation}_{realisation}_{self.ticks}"
        return self.folder / f"{name}_{self.process.hash}_{hash_code()}.npy"

    def _record(self, path: str, excitation: Excitation, realisation: int) -> FloatArray:
        scan = self._long_enough(path)
        rng = np.random.default_rng([FRESH, realisation, EXCITATIONS.index(excitation)])
        power_max = self.process.laser.power[1]
        power = draw_power(excitation, min(self.ticks, len(scan)), rng, power_max=power_max)
        return record_path(make_plant(self.plant, self.process), scan, power)

    def _long_enough(self, path: str) -> ScanPath:
        """Built-in paths go on as long as asked, also for the preview; a file's path is as long as it is."""
        process = self.process
        find = partial(find_path, path, tick=process.tick, plate=process.plate[:2])
        if names_file(path):
            whole = find()
            return whole if len(whole) <= self.ticks else whole.truncated(self.ticks)
        return find(ticks=self.ticks + PREVIEW, speed=process.speed)
