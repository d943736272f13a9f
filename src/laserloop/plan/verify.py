"""A written file on the plant: what was planned against what happens.

Layers follow each other on one plate: it cools while the next one is coated, and its surface rises.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.episode import simulate
from laserloop.paths import ScanPath
from laserloop.plan.job import Job
from laserloop.plan.plan import Progress
from laserloop.plan.plates import Plates, Simulated
from laserloop.plan.route import Route
from laserloop.plant import Plant, Snapshot, make_plant

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Layer:
    """One layer of a written file, and what comes before it."""

    route: Route
    pause: float  # s
    rise: float  # m, of the surface

    def begin(self, plant: Plant) -> None:
        """Bring a plate from the end of the layer before to the start of this one."""
        if self.pause > 0:
            plant.rest(self.pause)
        if self.rise > 0:
            plant.add_layer(self.rise)


def verify(job: Job, record: dict[str, Any], *, progress: Progress | None = None) -> list[Simulated]:
    """Simulate a written file; the account of its plan gets scores, of all and of each layer."""
    layers = simulate_job(job, progress=progress)
    record["verified"] = score_layers(layers, job.process.window)
    for told, layer in zip(record["layers"], layers, strict=True):
        told["verified"] = score_layers([layer], job.process.window)
    return layers


def simulate_job(job: Job, *, progress: Progress | None = None) -> list[Simulated]:
    """Drive the graded plant with the powers of a job's own file, layer after layer.

    With a folder, what is done is kept there, and the same job begun again goes on from it.
    """
    layers = _find_layers(job)
    plant = make_plant("graded", join_ways([layer.route.path for layer in layers]), job.process)
    shelf = job.shelf
    plates = None if shelf is None else Plates(shelf)
    done = [] if plates is None else plates.load(plant)
    for k in range(len(done), len(layers)):
        if k:
            layers[k].begin(plant)
        folder = None if plates is None else plates.checkpoint(k)
        start = plant.snapshot() if k else None
        done.append(_simulate_layer(layers[k].route, plant, start, folder, progress))
        if plates is not None:
            plates.keep(k, done[-1], plant)
    return done


def _find_layers(job: Job) -> list[_Layer]:
    layers, below = list[_Layer](), None
    for track in job.read():
        route = job.lay(track)
        if route.path.power is None:
            raise BadInput(
                f"{route.path.name} must command powers to be simulated, but does not; plan it first."
            )
        rise = 0.0 if below is None else track.level - below
        layers.append(_Layer(route=route, pause=job.recoating, rise=rise))
        below = track.level
    return layers


def _simulate_layer(
    route: Route, plant: Plant, start: Snapshot | None, folder: Path | None, progress: Progress | None
) -> Simulated:
    """One layer from a start, the first from rest."""
    say = None if progress is None else partial(progress, "simulating")
    power = np.zeros(len(route.path)) if route.path.power is None else route.path.power
    episode = simulate(plant, route.path, power, start=start, folder=folder, progress=say)
    return Simulated(episode.temperature, route.counted)


def join_ways(layers: list[ScanPath]) -> ScanPath:
    """All layers as one path with a dark tick between two: where a grid has to be fine, and how fast."""
    lit = [part for layer in layers for part in ([False], layer.lit)]
    return ScanPath(
        name=layers[0].name,
        positions=np.concatenate([layer.positions for layer in layers]),
        lit=np.concatenate(lit[1:]).astype(np.bool_),
        tick=layers[0].tick,
    )


def score_layers(layers: list[Simulated], window: tuple[float, float]) -> dict[str, Any]:
    """T_max against a window over all ticks that count."""
    T = np.concatenate([layer.temperature[layer.counted] for layer in layers])
    return {
        "plant": "graded",
        "ticks": sum(len(layer.temperature) for layer in layers),
        "t_max_k": float(T.max()),
        "t_min_k": float(T.min()),
        "below_fraction": float(np.mean(window[0] > T)),
        "n_over": int(np.count_nonzero(window[1] < T)),
        "rms_k": float(np.sqrt(np.mean((T - 0.5 * sum(window)) ** 2))),
    }
