"""Simulated layers and the plate after the last of them, on disk: a simulation that was stopped goes on."""

import os
import shutil
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.planning.scores import LayerResult
from laserloop.planning.shelf import Shelf
from laserloop.plant import Plant, Snapshot

FIELDS = ("temperature", "above", "below")


class Plates:
    """One small file for each layer, one with the plate, and a checkpoint of the layer under way."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._plate = shelf.place("plate.npz")

    def load(self, plant: Plant) -> list[LayerResult]:
        """The layers that are done; the plant is then as the last of them left it."""
        if not self._plate.exists():
            return []
        try:
            with np.load(self._plate) as kept:
                arrays = dict(kept)
            done = [self._read(self._layer(k)) for k in range(int(arrays["layers"]))]
            plate = Snapshot.from_arrays(arrays)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            raise BadInput(
                f"{self._plate} and the layers beside it must be of this job, but cannot be read; delete."
            ) from None
        plant.restore(plate)
        return done

    def keep(self, layer: int, done: LayerResult, plant: Plant) -> None:
        """A layer, counted from 0, then the plate after it: stopped in between, the layer is taken again."""
        _replace(self._layer(layer), {name: getattr(done, name) for name in FIELDS})
        _replace(self._plate, {"layers": np.array(layer + 1), **plant.snapshot().to_arrays()})
        shutil.rmtree(self.checkpoint(layer, len(done.temperature)), ignore_errors=True)

    def checkpoint(self, layer: int, ticks: int) -> Path:
        """The folder of a layer under way, of so many ticks; each its own, as two layers may be the same."""
        return self._shelf.place(f"under-way-{layer + 1:05d}-{ticks}")

    def _layer(self, layer: int) -> Path:
        return self._shelf.place(f"simulated-{layer + 1:05d}.npz")

    @staticmethod
    def _read(file: Path) -> LayerResult:
        with np.load(file) as kept:
            return LayerResult(*(kept[name] for name in FIELDS))


def _replace(file: Path, arrays: dict[str, Any]) -> None:
    """Write beside a file's place and move it there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.tmp")
    with beside.open("wb") as stream:
        np.savez(stream, **arrays)
    os.replace(beside, file)
