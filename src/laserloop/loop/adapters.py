"""Loops of other kinds: controllers written for do-mpc, and several layers one after another.

A pause is a long dark stretch of the way: the controller is told of it as of any other dark ticks, and the
plant takes it in a few large steps. That old heat lies deeper under a fresh layer is not told: after a second
it has spread over millimetres, and a layer is some hundredths of one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Controller, ImageValidator, Status
from laserloop.loop.record import COMPLETED, Entry, Run
from laserloop.loop.run import ClosedLoop, Progress, Testbed
from laserloop.paths import ScanPath
from laserloop.paths.path import Preview
from laserloop.plant import Camera, Image, Plant

FloatArray = NDArray[np.float64]
Describe = Callable[[Image, Preview], ArrayLike]
"""The state that a planner asks for, from what a laserloop controller sees."""


class _MakesSteps(Protocol):
    """As much of do-mpc's MPC as is needed."""

    def make_step(self, x0: Any) -> Any:
        """The input for the coming step."""


class MakeStepController:
    """Anything with `make_step`, such as do-mpc's MPC, as a laserloop controller."""

    def __init__(
        self,
        planner: _MakesSteps,
        describe: Describe | None = None,
        *,
        name: str = "make-step",
        horizon: int = 1,
        memory: int = 0,
    ) -> None:
        """`describe`: the planner's state from image and preview; the peak of the image, K, unless given.

        `horizon` and `memory`: ticks of the way ahead and behind that the preview has.
        """
        self.name, self.horizon, self.memory = name, horizon, memory
        self._planner, self._describe = planner, describe or _take_peak
        self._validator = ImageValidator()
        self._state: FloatArray | None = None

    def reset(self) -> None:
        """Forget; a planner of do-mpc forgets its history, too."""
        self._state = None
        self._validator.reset()
        if hasattr(self._planner, "reset_history"):
            self._planner.reset_history()

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick; without a credible image by the last state."""
        good, mended = self._validator.judge(image)
        if good is not None:
            state = np.asarray(self._describe(good, preview), np.float64).reshape(-1, 1)
            if self._state is None and hasattr(self._planner, "set_initial_guess"):
                self._planner.x0 = state  # type: ignore[attr-defined]
                self._planner.set_initial_guess()
            self._state = state
        if self._state is None:
            return Action(power=0.0, status=Status.EXHAUSTED)
        answer = np.asarray(self._planner.make_step(self._state), np.float64).ravel()
        if answer.size != 1 or not np.isfinite(answer[0]):
            return Action(power=0.0, status=Status.NOT_FINITE)
        status = Status.BLIND if good is None else Status.MENDED if mended else Status.SOLVED
        return Action(power=float(answer[0]), status=status)


def _take_peak(image: Image, preview: Preview) -> ArrayLike:
    return [image.peak.temperature]


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
    loop = ClosedLoop(Testbed(plant, camera, path, bounds), controller)
    if failure := loop.controller.reset():
        return [loop.record(layers[0], [], f"the controller's reset raised {failure}")]
    runs, surface, first = [], plant.reset(), 0
    for n, layer in enumerate(layers):
        camera.reset()
        ticks: list[Entry] = []
        ending = COMPLETED
        try:
            if n > 0:
                first = _wait(loop, first, recoating)
                surface = plant.surface()
            for k in range(first, first + len(layer)):
                tick = loop.step(k, surface)
                ticks.append(tick.entry())
                surface = tick.surface
                if progress is not None:
                    progress(k + 1, len(path))
            first += len(layer)
        except BadInput as failure:
            ending = f"the plant stopped at tick {len(ticks)}: {failure}"
        runs.append(loop.record(layer, ticks, ending))
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


def _wait(loop: ClosedLoop, k: int, recoating: Recoating) -> int:
    """The pause after tick `k` − 1; the first tick of the next layer.

    The controller is called as often as its memory asks for, to hear of every dark tick once.
    """
    testbed, controller = loop.testbed, loop.controller
    wait, memory = recoating.ticks(testbed.path.tick), max(1, controller.memory)
    for waited in range(0, wait, memory):
        if hasattr(controller.inner, "memory") or waited == 0:
            controller.decide(None, loop.look_ahead(k + waited))
        testbed.powers += [0.0] * min(memory, wait - waited)
    testbed.plant.rest(wait * testbed.path.tick)
    testbed.plant.add_layer(recoating.thickness)
    return k + wait
