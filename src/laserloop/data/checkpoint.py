"""A checkpoint: how far a long simulation has come, in one file that is replaced now and then.

Killed at any moment, the same simulation goes on from the file to the same bytes as an unbroken one.
"""

import json
import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import ScanPath
from laserloop.plant import Plant, Snapshot
from laserloop.process.camera import Sampling

EVERY = 30.0  # s between two checkpoints
FILE = "checkpoint.npz"

Arrays = dict[str, NDArray[np.generic]]


class Checkpoint:
    """One simulation's file in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        plant: Plant,
        path: ScanPath,
        power: NDArray[np.float64],
        sampling: Sampling | None = None,
        start: Snapshot | None = None,
    ) -> None:
        """The folder is made; one that belongs to another simulation is refused."""
        self._file = folder / FILE
        self._name = _name(plant, path, power, sampling) + _name_start(start)
        self._last = monotonic()
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, plant: Plant) -> Mapping[str, NDArray[np.generic]] | None:
        """Bring the plant to where the file left it: the record so far, or None without a file."""
        if not self._file.exists():
            return None
        try:
            with np.load(self._file) as kept:
                arrays = dict(kept)
        except (OSError, ValueError, EOFError, BadZipFile):
            raise BadInput(f"{self._file} must be a checkpoint, but it cannot be read; delete it") from None
        if str(arrays.get("name")) != self._name:
            raise BadInput(
                f"{self._file.parent} must belong to this simulation, but it holds one of another path, "
                "power, process, plant or start; take another folder."
            )
        plant.restore(Snapshot.from_arrays(arrays))
        return arrays

    def is_due(self) -> bool:
        """Has enough time passed since the last one?"""
        return monotonic() - self._last >= EVERY

    def save(self, plant: Plant, record: Arrays) -> None:
        """Replace the file by the state of now and the record so far, all at once."""
        beside = self._file.with_suffix(".new")
        with beside.open("wb") as file:
            arrays: dict[str, Any] = {"name": np.array(self._name), **plant.snapshot().to_arrays(), **record}
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._file)
        self._last = monotonic()


def _name(plant: Plant, path: ScanPath, power: NDArray[np.float64], sampling: Sampling | None) -> str:
    """What the file belongs to: plant, path and powers, whatever the path is called."""
    digest = blake2b(digest_size=16)
    s = plant.settings
    told = (s.name, s.process.to_json(), s.absorbed, s.refine, s.tolerance, plant.identity)
    digest.update(json.dumps(told, sort_keys=True).encode())
    digest.update((sampling or "").encode())
    for array in (path.positions, path.lit, power):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _name_start(start: Snapshot | None) -> str:
    """What the plate was like before; nothing for one at rest."""
    if start is None:
        return ""
    digest = blake2b(digest_size=16)
    for name, part in sorted(start.to_arrays().items()):
        digest.update(name.encode() + np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
