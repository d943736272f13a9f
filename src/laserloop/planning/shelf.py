"""Layers that are planned already: kept on disk, so that a job that was stopped goes on where it was."""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.planning.commands import Commands
from laserloop.planning.powers import Course
from laserloop.planning.settings import PlanSettings
from laserloop.process import Process
from laserloop.versions import hash_code

FloatArray = NDArray[np.float64]
FIELDS = ("starts", "ends", "powers", "power", "temperature", "speeds")


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What has to be known of a planned layer to go on after it."""

    commands: Commands
    powers: FloatArray  # (commands,), W
    course: Course
    speeds: FloatArray  # (stretches,), m/s; NaN: as the file says


class Shelf:
    """A folder with one file for each layer, named by everything that it depends on."""

    def __init__(
        self, folder: Path, content: bytes, process: Process, settings: PlanSettings, more: dict[str, object]
    ) -> None:
        told = {
            "file": hashlib.sha256(content).hexdigest(),
            "process": process.hash,
            "settings": asdict(settings),
            "code": hash_code(),
            **more,
        }
        self._folder = folder
        self._name = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]

    def find(self, layer: int) -> Kept | None:
        """A layer, counted from 0, if it is there."""
        file = self._file(layer)
        if not file.exists():
            return None
        with np.load(file) as kept:
            starts, ends, powers, power, temperature, speeds = (kept[name] for name in FIELDS)
        return Kept(Commands(starts, ends), powers, Course(power, temperature), speeds)

    def keep(self, layer: int, kept: Kept) -> None:
        """Write a layer beside its place and move it there."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._file(layer)
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        course, commands = kept.course, kept.commands
        values = (commands.starts, commands.ends, kept.powers, course.power, course.temperature, kept.speeds)
        with temporary.open("wb") as stream:
            np.savez(stream, **dict(zip(FIELDS, values, strict=True)))  # type: ignore[arg-type]
        os.replace(temporary, file)

    def place(self, what: str) -> Path:
        """Where something of this job lies."""
        return self._folder / f"{self._name}-{what}"

    def _file(self, layer: int) -> Path:
        return self.place(f"{layer + 1:05d}.npz")
