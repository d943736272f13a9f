"""Several layers under one controller: between them the plate cools and its surface rises.

A pause is a long dark stretch of the way: the controller is told of it as of any other dark ticks, and the
plant takes it in a few large steps. That old heat lies deeper under a fresh layer is not told: after a second
it has spread over millimetres, and a layer is some hundredths of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.action import Controller
from laserloop.loop.rig import Rig
from laserloop.loop.run import COMPLETED, Entry, Progress, Run, Turn, collect, decide, reset, write_down
from laserloop.paths import ScanPath
from laserloop.plant import Camera, Plant


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoating:
    """What happens between two layers."""

    pause: float  # s, with the laser off; whole ticks are taken
    thickness: float  # m, of the fresh layer

    def __post_init__(self) -> None:
        for name in ("pause", "thickness"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise BadInput(
                    f"the {name} between layers must be a positive number, got {value}: correct it"
                )

    def ticks(self, tick: float) -> int:
        """The pause in control periods."""
        return max(1, round(self.pause / tick))


def run_layers(
    plant: Plant,
    camera: Camera,
    controller: Controller,
    layers: Sequence[ScanPath],
    recoating: Recoating,
    *,
    power_bounds: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> list[Run]:
    """Drive `plant` from rest along one path after the other: a run for each layer that was begun."""
    bounds = power_bounds or plant.settings.process.laser.power
    path = join_layers(layers, recoating)
    plant.check_path(path)
    turn = Turn(Rig(plant, camera, path, bounds), controller)
    if failure := reset(controller):
        return [collect(plant, controller, layers[0], [], f"the controller's reset raised {failure}")]
    runs, surface, first = [], plant.reset(), 0
    for n, layer in enumerate(layers):
        camera.reset()
        ticks: list[Entry] = []
        ending = COMPLETED
        try:
            if n > 0:
                first = _wait(turn, first, recoating)
                surface = plant.surface()
            for k in range(first, first + len(layer)):
                tick = turn.take(k, surface)
                ticks.append(write_down(tick))
                surface = tick.surface
                if progress is not None:
                    progress(k + 1, len(path))
            first += len(layer)
        except BadInput as failure:
            ending = f"the plant stopped at tick {len(ticks)}: {failure}"
        runs.append(collect(plant, controller, layer, ticks, ending))
        if ending != COMPLETED:
            break
    return runs


def join_layers(layers: Sequence[ScanPath], recoating: Recoating) -> ScanPath:
    """One path through all layers, dark in the pauses between them."""
    if not layers or any(layer.tick != layers[0].tick for layer in layers):
        raise BadInput("layers must be at least one path, and all of one tick: sample them alike")
    wait = recoating.ticks(layers[0].tick)
    positions, lit = [layers[0].positions], [layers[0].lit]
    for before, layer in pairwise(layers):
        way = np.linspace(before.positions[-1], layer.positions[0], wait + 1)
        positions += [way[1:], layer.positions[1:]]
        lit += [np.zeros(wait, np.bool_), layer.lit]
    return ScanPath(
        name=f"{len(layers)} layers of {layers[0].name}",
        positions=np.concatenate(positions),
        lit=np.concatenate(lit),
        tick=layers[0].tick,
    )


def _wait(turn: Turn, k: int, recoating: Recoating) -> int:
    """The pause after tick `k` − 1; the first tick of the next layer.

    The controller is called as often as its memory asks for, to hear of every dark tick once.
    """
    wait, memory = recoating.ticks(turn.rig.path.tick), max(1, getattr(turn.controller, "memory", 0))
    for told in range(0, wait, memory):
        if hasattr(turn.controller, "memory") or told == 0:
            decide(turn.controller, None, turn.look_ahead(k + told))
        turn.rig.powers += [0.0] * min(memory, wait - told)
    turn.rig.plant.rest(wait * turn.rig.path.tick)
    turn.rig.plant.add_layer(recoating.thickness)
    return k + wait
