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
from laserloop.loop.record import COMPLETED, Run
from laserloop.loop.run import (
    Entry,
    Progress,
    Rig,
    Turn,
    bound,
    collect,
    decide,
    look_ahead,
    reset,
    write_down,
)
from laserloop.paths import ScanPath
from laserloop.paths.preview import Preview
from laserloop.plant import Camera, Image, Plant, Surface
from laserloop.plant.camera import develop

FloatArray = NDArray[np.float64]
Describe = Callable[[Image, Preview], ArrayLike]
"""The state that a planner asks for, from what a laserloop controller sees."""


class MakesSteps(Protocol):
    """As much of do-mpc's MPC as is needed."""

    def make_step(self, x0: Any) -> Any:
        """The input for the coming step."""


class StepController:
    """A laserloop controller on its way along a path, for loops written for do-mpc.

    Its state x0 is the camera's image, K: len(y) · len(x) numbers in any shape, or None if no image came.
    """

    def __init__(
        self,
        controller: Controller,
        path: ScanPath,
        x: ArrayLike,
        y: ArrayLike,
        *,
        power: tuple[float, float],
    ) -> None:
        """`x` and `y`: where the columns and rows of pixels are, m; `power`: the laser's limits, W."""
        self.controller, self._path, self._bounds = controller, path, power
        self._x, self._y = np.array(x, np.float64), np.array(y, np.float64)
        self.reset()

    def reset(self) -> None:
        """Back to the start of the path, on a plate at rest."""
        if failure := reset(self.controller):
            raise BadInput(f"the controller's reset raised {failure}: correct it")
        self.powers: list[float] = []  # W, of all steps so far
        self.last: Action | None = None  # the whole answer behind the last step

    def make_step(self, x0: ArrayLike | None, *, age: int = 0) -> FloatArray:
        """(1, 1): the power of the coming tick, W; `age`: ticks since the image was taken."""
        k = len(self.powers)
        if k >= len(self._path):
            raise BadInput(f"the path {self._path.name} has ended after {k} steps: reset the controller")
        horizon, memory = getattr(self.controller, "horizon", 1), getattr(self.controller, "memory", 0)
        preview = look_ahead(self._path, k, self.powers, horizon, memory)
        image = None if x0 is None else self._develop(x0, (k - age) * self._path.tick)
        self.last, _ = decide(self.controller, image, preview)
        self.powers.append(bound(self.last.power, self._bounds) if self._path.lit[k] else 0.0)
        return np.array([[self.powers[-1]]])

    def _develop(self, x0: ArrayLike, time: float) -> Image:
        T = np.asarray(x0, np.float64)
        if T.size != len(self._x) * len(self._y):
            raise BadInput(
                f"a state must have {len(self._y)} · {len(self._x)} temperatures, K, one for each pixel, got "
                f"{T.size}: give the whole image"
            )
        seen = Surface(self._x, self._y, T.reshape(len(self._y), len(self._x)), time)
        return develop(seen, sampling="smooth", subgrid=True)


class MakeStepController:
    """Anything with `make_step`, such as do-mpc's MPC, as a laserloop controller."""

    def __init__(
        self,
        planner: MakesSteps,
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
