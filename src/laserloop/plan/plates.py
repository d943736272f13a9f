"""Simulated layers and the plate after the last of them, on disk: a simulation that was stopped goes on."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plan.shelf import Shelf
from laserloop.plant import Plant
from laserloop.plant.snapshot_file import from_arrays, to_arrays


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """What the plant did in one layer."""

    temperature: NDArray[np.float64]  # (ticks,), K, T_max at the end of each
    counted: NDArray[np.bool_]  # (ticks,), those that scores count


class Plates:
    """One small file for each layer, one with the plate, and a checkpoint of the layer under way."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._plate = shelf.place("plate.npz")

    def load(self, plant: Plant) -> list[Simulated]:
        """The layers that are done; the plant is then as the last of them left it."""
        if not self._plate.exists():
            return []
        try:
            with np.load(self._plate) as kept:
                arrays = dict(kept)
            done = [self._read(self._layer(k)) for k in range(int(arrays["layers"]))]
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            raise BadInput(
                f"{self._plate} and the layers beside it must be of this job, but cannot be read; delete."
            ) from None
        plant.restore(from_arrays(arrays))
        return done

    def keep(self, layer: int, done: Simulated, plant: Plant) -> None:
        """A layer, counted from 0, then the plate after it: stopped in between, the layer is taken again."""
        _replace(self._layer(layer), {"temperature": done.temperature, "counted": done.counted})
        _replace(self._plate, {"layers": np.array(layer + 1), **to_arrays(plant.snapshot())})
        shutil.rmtree(self.checkpoint(layer), ignore_errors=True)

    def checkpoint(self, layer: int) -> Path:
        """The folder of a layer under way; each its own, since two layers may be the same."""
        return self._shelf.place(f"under-way-{layer + 1:05d}")

    def _layer(self, layer: int) -> Path:
        return self._shelf.place(f"simulated-{layer + 1:05d}.npz")

    @staticmethod
    def _read(file: Path) -> Simulated:
        with np.load(file) as kept:
            return Simulated(kept["temperature"], kept["counted"])


def _replace(file: Path, arrays: dict[str, Any]) -> None:
    """Write beside a file's place and move it there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.tmp")
    with beside.open("wb") as stream:
        np.savez(stream, **arrays)
    os.replace(beside, file)
