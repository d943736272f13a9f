"""A written file on the plant: what was planned against what happens.

Layers follow each other on one plate: it cools while the next one is coated, and its surface rises.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.episode import simulate
from laserloop.paths import ScanPath
from laserloop.planning.job import Job, find_rises
from laserloop.planning.plan import Progress
from laserloop.planning.plates import Plates
from laserloop.planning.scores import LayerResult, count_ticks
from laserloop.plant import Plant, Snapshot, make_plant

FloatArray = NDArray[np.float64]

MOST_TICKS = 50_000  # that are simulated unless more are asked for: a minute or two for each round


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Layer:
    """One layer of a written file, and what comes before it."""

    path: ScanPath
    pause: float  # s
    rise: float  # m, of the surface

    def begin(self, plant: Plant) -> None:
        """Bring a plate from the end of the layer before to the start of this one."""
        if self.pause > 0:
            plant.rest(self.pause)
        if self.rise > 0:
            plant.add_layer(self.rise)


def simulate_job(
    job: Job, *, most: int | None = None, progress: Progress | None = None
) -> tuple[LayerResult, ...]:
    """Drive the graded plant with the powers of a job's own file, layer after layer, for `most` ticks or all.

    With a folder, what is done is kept there, and the same job begun again goes on from it.
    """
    layers = _cut(_find_layers(job), most)
    plant = make_plant("graded", job.process)
    for layer in layers:
        plant.check_path(layer.path)
    shelf = job.find_shelf()
    plates = None if shelf is None else Plates(shelf)
    done = [] if plates is None else _take_up(plates.load(plant), layers)
    total = sum(len(layer.path) for layer in layers)
    for k in range(len(done), len(layers)):
        if k:
            layers[k].begin(plant)
        folder = None if plates is None else plates.checkpoint(k, len(layers[k].path))
        start = plant.snapshot() if k else None
        before = sum(len(layer.path) for layer in layers[:k])
        say = None if progress is None else partial(_add, progress, before, total)
        done.append(_simulate_layer(job, layers[k].path, plant, start, folder, say))
        if plates is not None:
            plates.keep(k, done[-1], plant)
    return tuple(done)


def _take_up(kept: list[LayerResult], layers: list[_Layer]) -> list[LayerResult]:
    """The layers that are done, unless they were cut elsewhere."""
    same = all(len(done.temperature) == len(layer.path) for done, layer in zip(kept, layers, strict=False))
    return kept[: len(layers)] if same else []


def _add(progress: Progress, before: int, total: int, ticks: int, _: int) -> None:
    progress("simulating", before + ticks, total)


def _find_layers(job: Job) -> list[_Layer]:
    layers, tracks = list[_Layer](), job.read()
    for track, rise in zip(tracks, find_rises(tracks), strict=True):
        path = job.lay(track).path
        if path.power is None:
            raise BadInput(f"{path.name} must command powers to be simulated, but does not; plan it first.")
        layers.append(_Layer(path=path, pause=job.recoating, rise=rise))
    return layers


def _cut(layers: list[_Layer], most: int | None) -> list[_Layer]:
    """The layers up to so many ticks, the last one of them perhaps in part."""
    kept, left = list[_Layer](), most
    for layer in layers:
        if left is None:
            kept.append(layer)
        elif left > 0:
            path = layer.path if len(layer.path) <= left else _truncate(layer.path, left)
            kept.append(_Layer(path=path, pause=layer.pause, rise=layer.rise))
            left -= len(path)
    return kept


def _truncate(path: ScanPath, ticks: int) -> ScanPath:
    """The first ticks, and on to the first lit one, without which there is nothing to judge."""
    return path.truncated(max(ticks, int(np.argmax(path.lit)) + 1))


def _simulate_layer(
    job: Job,
    path: ScanPath,
    plant: Plant,
    start: Snapshot | None,
    folder: Path | None,
    progress: "partial[None] | None",
) -> LayerResult:
    """One layer from a start, the first from rest."""
    power = np.zeros(len(path)) if path.power is None else path.power
    episode = simulate(plant, path, power, start=start, folder=folder, progress=progress)
    return LayerResult(episode.temperature, *count_ticks(job.process, path, power))
