"""The closed loop: measure, decide, move, once per tick of the path."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Action, Controller, Status
from laserloop.loop.faults import Disturb
from laserloop.paths import ScanPath
from laserloop.paths.preview import Preview
from laserloop.plant import Camera, Plant, Surface

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]  # ticks done, ticks in all

COMPLETED = "path completed"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tick:
    """One turn of the loop: what was decided, what it led to."""

    action: Action
    wall_s: float  # the whole decision, as the machine has to wait for it
    surface: Surface  # at the end of the tick


# No slots: arrays are frozen after birth.
@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A closed loop's record; entry k belongs to t = (k+1)Δt and to the power of the tick that ends then."""

    path: str
    controller: str
    plant: str
    tick: float  # s
    power_bounds: tuple[float, float]  # W
    t: FloatArray  # (n,), s
    positions: FloatArray  # (n, 2), m, of the beam
    power: FloatArray  # (n,), W
    t_max: FloatArray  # (n,), K, of the hottest node
    t_peak: FloatArray  # (n,), K, between the nodes
    predicted: FloatArray  # (n,), K, one tick before; NaN where nothing was predicted
    statuses: tuple[Status, ...]
    iterations: NDArray[np.intp]  # (n,)
    solve_s: FloatArray  # (n,), inside the solver
    wall_s: FloatArray  # (n,), the whole decision
    ending: str = COMPLETED  # why the run ended; a sentence

    def __len__(self) -> int:
        return len(self.t)


def run_closed_loop(
    plant: Plant,
    camera: Camera,
    controller: Controller,
    path: ScanPath,
    *,
    power_bounds: tuple[float, float] = (0.0, 20.0),
    disturb: Disturb | None = None,
    progress: Progress | None = None,
) -> Run:
    """Drive `plant` from rest along `path` with the powers that `controller` finds.

    Whatever a tick brings, the loop ends with a run: its `ending` says why, if not at the end of the path.
    """
    ticks: list[Tick] = []
    ending = COMPLETED
    try:
        for tick in follow(plant, camera, controller, path, power_bounds, disturb):
            ticks.append(tick)
            if progress is not None:
                progress(len(ticks), len(path))
    except BadInput as failure:
        ending = f"the plant stopped at tick {len(ticks)}: {failure}"
    return _collect(plant, controller, path, power_bounds, ticks, ending)


def follow(
    plant: Plant,
    camera: Camera,
    controller: Controller,
    path: ScanPath,
    power_bounds: tuple[float, float],
    disturb: Disturb | None = None,
) -> Iterator[Tick]:
    """Measure, decide, move: the power decided at t_k acts on [t_k, t_{k+1}]."""
    powers: list[float] = []
    camera.reset()
    controller.reset()
    surface = plant.reset()
    for k in range(len(path)):
        image = camera.see(surface)
        seen = image if disturb is None else disturb(k, image)
        preview = look_ahead(path, k, powers, controller.horizon, controller.memory)
        began = perf_counter()
        action = controller.act(seen, preview)
        wall = perf_counter() - began
        power = bound(action.power, power_bounds)
        surface = plant.step(power, path.spot(k))
        powers.append(power)
        yield Tick(action=action, wall_s=wall, surface=surface)


def look_ahead(path: ScanPath, k: int, powers: list[float], horizon: int, memory: int = 0) -> Preview:
    """What the scanner knows at tick `k`, after it gave `powers`."""
    past = min(k, memory)
    return Preview(
        time=k * path.tick,
        tick=path.tick,
        positions=path.preview(k - past, past + horizon),
        powers=np.array(powers[k - past : k]),
    )


def bound(power: float, bounds: tuple[float, float]) -> float:
    """The laser's own limits; what is no number is the least power."""
    return min(max(power, bounds[0]), bounds[1]) if np.isfinite(power) else bounds[0]


def _collect(
    plant: Plant,
    controller: Controller,
    path: ScanPath,
    bounds: tuple[float, float],
    ticks: list[Tick],
    ending: str,
) -> Run:
    n = len(ticks)
    actions = [tick.action for tick in ticks]
    predicted = [float(a.predicted[0]) if len(a.predicted) else np.nan for a in actions]
    return Run(
        path=path.name,
        controller=controller.name,
        plant=plant.settings.name,
        tick=path.tick,
        power_bounds=bounds,
        t=path.times[1 : n + 1],
        positions=path.positions[1 : n + 1].copy(),
        power=np.array([bound(a.power, bounds) for a in actions]),
        t_max=np.array([tick.surface.node.temperature for tick in ticks]),
        t_peak=np.array([tick.surface.peak.temperature for tick in ticks]),
        predicted=np.array(predicted),
        statuses=tuple(a.status for a in actions),
        iterations=np.array([a.iterations for a in actions], dtype=np.intp),
        solve_s=np.array([a.solve_s for a in actions]),
        wall_s=np.array([tick.wall_s for tick in ticks]),
        ending=ending,
    )
