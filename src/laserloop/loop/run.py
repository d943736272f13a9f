"""The closed loop: measure, decide, move, once per tick of the path."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, check_kind
from laserloop.control.controller import Action, Controller, Status, read_answer
from laserloop.control.problem import MpcProblem
from laserloop.loop.disturbances import Disturb, Drift
from laserloop.loop.record import COMPLETED, Run
from laserloop.paths import ScanPath
from laserloop.paths.preview import Preview
from laserloop.plant import Camera, Hottest, Image, Plant, Surface
from laserloop.predict.twin import Counted, find_counted
from laserloop.process.mismatch import HIGHEST, LOWEST

FloatArray = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Rig:
    """Measures before a tick and moves in it; whoever decides in between, a controller or a learner."""

    plant: Plant
    camera: Camera
    path: ScanPath
    bounds: tuple[float, float]  # W
    foresight: int | None = None  # ticks of the way ahead that are told truly; None: all of it
    disturb: Disturb | None = None
    drift: Drift | None = None
    powers: list[float] = field(default_factory=list)  # W, what the laser was told in all ticks so far

    def reset(self) -> Surface:
        """The plate at rest, the camera without images, nothing told to the laser."""
        self.camera.reset()
        self.powers.clear()
        return self.plant.reset()

    def measure(self, k: int, surface: Surface) -> Image | None:
        """The image that comes before tick `k`, however old; None if none does."""
        image: Image | None = self.camera.see(surface)
        if k % self.camera.settings.every:
            return None
        return image if self.disturb is None or image is None else self.disturb(k, image)

    def look_ahead(self, k: int, horizon: int, memory: int = 0) -> Preview:
        """What the scanner knows at tick `k`."""
        return look_ahead(self.path, k, self.powers, horizon, memory, self.foresight)

    def move(self, k: int, command: float) -> Surface:
        """Give a power, W, as far as the laser can and the path is lit; the surface when tick `k` ends."""
        power = bound(command, self.bounds) if self.path.lit[k] else 0.0
        given = power if self.drift is None else self.drift(k, power)
        surface = self.plant.step(given, self.path.spot(k))
        self.powers.append(power)
        return surface


def look_ahead(
    path: ScanPath, k: int, powers: list[float], horizon: int, memory: int = 0, foresight: int | None = None
) -> Preview:
    """What the scanner knows at tick `k` after it gave `powers`: `foresight` ticks of its way, or all."""
    past = min(k, memory)
    way, lit = path.preview(k - past, past + horizon), path.preview_lit(k, horizon)
    if foresight is not None and foresight < horizon:
        way, lit = go_straight(path, k, min(foresight, len(path) - k), way, lit)
    return Preview(
        time=k * path.tick,
        tick=path.tick,
        positions=way,
        powers=np.array(powers[k - past : k]),
        lit=lit,
        was_lit=path.lit[k - past : k],
    )


def go_straight(
    path: ScanPath, k: int, known: int, way: FloatArray, lit: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """A preview at tick `k` that goes straight on, lit as before, after the `known` ticks ahead.

    Whether the laser is on in the coming tick is known in any case. A beam that has not moved yet rests.
    """
    last, unknown = k + known, len(lit) - known
    hop = path.positions[last] - path.positions[last - 1] if last else np.zeros(2)
    beyond = path.positions[last] + np.outer(np.arange(1.0, unknown + 1), hop)
    lit = lit.copy()
    lit[max(known, 1) :] = lit[max(known, 1) - 1]
    return np.concatenate((way[: len(way) - unknown], beyond)), lit


def bound(power: float, bounds: tuple[float, float]) -> float:
    """The laser's own limits; what is no number is the least power."""
    return min(max(power, bounds[0]), bounds[1]) if np.isfinite(power) else bounds[0]


@runtime_checkable
class Aiming(Protocol):
    """A controller that takes another window between two ticks."""

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on."""


class SteeredController:
    """A controller whose window may change; every action says which one it was decided for."""

    def __init__(self, inner: Controller, window: tuple[float, float]) -> None:
        self.inner = inner
        self.name, self.horizon = inner.name, getattr(inner, "horizon", 1)
        self.memory = getattr(inner, "memory", 0)
        self.notes: tuple[str, ...] = getattr(inner, "notes", ())
        self.window = window  # K

    @property
    def aims(self) -> bool:
        """Does the controller look at the window at all? Constant power does not."""
        return isinstance(self.inner, Aiming)

    def set_window(self, low: float, high: float) -> None:
        """What is wanted from the next tick on, K; scores follow it, whether the controller can or not."""
        if isinstance(self.inner, Aiming):
            self.inner.set_window(low, high)
        self.window = low, high

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        if hasattr(self.inner, "reset"):
            self.inner.reset()

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        answer = self.inner.act(image, preview)
        return replace(answer, window=self.window) if isinstance(answer, Action) else answer


class Steering:
    """The wheel of a run: `wrap` and `drift` go into its hooks, the verbs are for who holds it."""

    def __init__(self, window: tuple[float, float]) -> None:
        self.window = window  # K, at the start
        self.absorbed = 1.0  # of what the plate took at the start
        self.controller: SteeredController | None = None

    def wrap(self, controller: Controller) -> Controller:
        """Take hold of a controller."""
        self.controller = SteeredController(controller, self.window)
        return self.controller

    def drift(self, k: int, power: float) -> float:
        """The power that the plate gets, W."""
        return self.absorbed * power

    def aim(self, low: float, high: float) -> None:
        """Another window, K, from the next tick on."""
        if self.controller is not None:
            self.controller.set_window(low, high)
        self.window = low, high

    def absorb(self, factor: float) -> None:
        """Another absorptivity from the next tick on, as a share of what it was at the start."""
        if not LOWEST <= factor <= HIGHEST:
            raise BadInput(
                f"absorptivity may change by a factor of {LOWEST:g} to {HIGHEST:g}, got {factor:g}: change it"
            )
        self.absorbed = factor


Progress = Callable[[int, int], None]  # ticks done, ticks in all

NOTHING = Hottest(np.nan, np.nan, np.nan)  # of no image
UNUSABLE = (Status.NOT_FINITE, Status.NO_ACTION)


class StopRun(Exception):
    """Raised by who watches a run to end it; its text says why, and becomes the run's ending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tick:
    """One turn of the loop: what was decided, what it led to."""

    action: Action
    power: float  # W, what the laser was told
    wall_s: float  # the whole decision, as the machine has to wait for it
    seen: float  # K, peak of the image that came before the decision; NaN if none did
    seen_at: tuple[float, float]  # m, its place in that image
    surface: Surface  # at the end of the tick
    clipped: bool = False  # was more or less asked for than the laser can give?
    failure: str = ""  # what the controller raised, if it did


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """What a run keeps of a tick: numbers, neither the surface nor the plan."""

    t_node: float  # K
    t_peak: float  # K
    power: float  # W
    wall_s: float
    seen: float  # K
    seen_at: tuple[float, float]  # m
    predicted: float  # K
    margins: tuple[float, float] | None
    window: tuple[float, float] | None
    status: Status
    iterations: int
    solve_s: float
    clipped: bool
    failure: str


Watch = Callable[[int, Tick], None]
"""Index and tick as soon as it is done; may wait, and may raise `StopRun`."""


def run_closed_loop(
    plant: Plant,
    camera: Camera,
    controller: Controller,
    path: ScanPath,
    *,
    power_bounds: tuple[float, float] | None = None,
    foresight: int | None = None,
    disturb: Disturb | None = None,
    drift: Drift | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Run:
    """Drive `plant` from rest along `path` with the powers that `controller` finds.

    Whatever a tick brings, the loop ends with a run: its `ending` says why, if not at the end of the path.
    The powers stay within `power_bounds`, W, those of the plant's process unless given; dark ticks get none.
    Previews tell the truth about `foresight` ticks of the way ahead, or about all of it.
    """
    check_kind(path, ScanPath, "the path of a loop", "take find_path('diagonal') or read a file with it")
    bounds = power_bounds or plant.settings.process.laser.power
    return run_rig(Rig(plant, camera, path, bounds, foresight, disturb, drift), controller, progress, watch)


def run_rig(
    rig: Rig, controller: Controller, progress: Progress | None = None, watch: Watch | None = None
) -> Run:
    """Drive what stands on a rig from rest along its path."""
    plant, path = rig.plant, rig.path
    plant.check_path(path)
    ticks: list[Entry] = []
    if failure := reset(controller):
        return collect(plant, controller, path, ticks, f"the controller's reset raised {failure}")
    ending = COMPLETED
    try:
        for tick in follow(Turn(rig, controller)):
            ticks.append(write_down(tick))
            if progress is not None:
                progress(len(ticks), len(path))
            if watch is not None:
                watch(len(ticks) - 1, tick)
    except StopRun as wish:
        ending = str(wish)
    except BadInput as failure:
        ending = f"the plant stopped at tick {len(ticks)}: {failure}"
    return collect(plant, controller, path, ticks, ending)


def follow(turn: "Turn") -> Iterator[Tick]:
    """Measure, decide, move: the power decided at t_k acts on [t_k, t_{k+1}]."""
    surface = turn.rig.reset()
    for k in range(len(turn.rig.path)):
        tick = turn.take(k, surface)
        surface = tick.surface
        yield tick


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """Those who meet once per tick."""

    rig: Rig
    controller: Controller

    def take(self, k: int, surface: Surface) -> Tick:
        """Measure, decide, move."""
        image = self.rig.measure(k, surface)
        preview = self.look_ahead(k)
        began = perf_counter()
        action, failure = decide(self.controller, image, preview)
        wall = perf_counter() - began - getattr(self.controller, "overhead_s", 0.0)  # of reaching it
        surface = self.rig.move(k, action.power)
        power, lit = self.rig.powers[-1], bool(self.rig.path.lit[k])
        seen = NOTHING if image is None else image.peak
        return Tick(
            action=action,
            power=power,
            wall_s=max(wall, 0.0),
            seen=seen.temperature,
            seen_at=(seen.x, seen.y),
            surface=surface,
            clipped=lit and power != action.power,
            failure=failure,
        )

    def look_ahead(self, k: int) -> Preview:
        """What the controller is told at tick `k`."""
        horizon, memory = getattr(self.controller, "horizon", 1), getattr(self.controller, "memory", 0)
        return self.rig.look_ahead(k, horizon, memory)


def reset(controller: Controller) -> str:
    """Make a controller forget; what it raised, if it did. A user's own may do with `act` alone."""
    try:
        if hasattr(controller, "reset"):
            controller.reset()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def decide(controller: Controller, image: Image | None, preview: Preview) -> tuple[Action, str]:
    """What a controller answers, whatever that is, as an action; and what it raised, if it did."""
    try:
        answer: object = controller.act(image, preview)
    except Exception as error:  # a user's own controller; a bad tick is data
        return Action(power=0.0, status=Status.RAISED), f"{type(error).__name__}: {error}"
    return read_answer(answer), ""


def read_prediction(action: Action) -> float:
    """What an action says of the end of its tick, K; NaN if nothing."""
    try:
        return float(np.ravel(action.predicted)[0])
    except (IndexError, TypeError, ValueError):
        return float("nan")


def _list_pairs(pairs: list[tuple[float, float] | None]) -> FloatArray | None:
    """Margins or windows of each tick, if they may change."""
    if all(pair is None for pair in pairs):
        return None
    return np.array([pair or (np.nan, np.nan) for pair in pairs])


def write_down(tick: Tick) -> Entry:
    """What is kept of a tick."""
    action = tick.action
    return Entry(
        t_node=tick.surface.node.temperature,
        t_peak=tick.surface.peak.temperature,
        power=tick.power,
        wall_s=tick.wall_s,
        seen=tick.seen,
        seen_at=tick.seen_at,
        predicted=read_prediction(action),
        margins=action.margins,
        window=action.window,
        status=action.status,
        iterations=action.iterations,
        solve_s=action.solve_s,
        clipped=tick.clipped,
        failure=tick.failure,
    )


def collect(plant: Plant, controller: Controller, path: ScanPath, ticks: list[Entry], ending: str) -> Run:
    """The record of the ticks that were done."""
    n = len(ticks)
    power = np.array([tick.power for tick in ticks])
    windows = _list_pairs([tick.window for tick in ticks])
    failures = [
        f"the controller raised at tick {k}: {tick.failure}" for k, tick in enumerate(ticks) if tick.failure
    ]
    return Run(
        path=path.name,
        controller=getattr(controller, "name", type(controller).__name__),
        plant=plant.settings.name,
        process=plant.settings.process,
        subgrid=plant.settings.subgrid,
        t=path.times[1 : n + 1],
        positions=path.positions[1 : n + 1].copy(),
        lit=path.lit[:n],
        counted=_count(plant, path, power, windows),
        power=power,
        clipped=sum(tick.clipped for tick in ticks),
        t_node=np.array([tick.t_node for tick in ticks]),
        t_peak=np.array([tick.t_peak for tick in ticks]),
        measured=np.array([tick.seen for tick in ticks[1:]] + [np.nan] * min(n, 1)),
        measured_at=np.array([tick.seen_at for tick in ticks[1:]] + [(np.nan, np.nan)] * min(n, 1)).reshape(
            n, 2
        ),
        predicted=np.array([tick.predicted for tick in ticks]),
        margins=_list_pairs([tick.margins for tick in ticks]),
        windows=windows,
        statuses=tuple(tick.status if path.lit[k] else Status.DARK for k, tick in enumerate(ticks)),
        iterations=np.array([tick.iterations for tick in ticks], dtype=np.intp),
        solve_s=np.array([tick.solve_s for tick in ticks]),
        wall_s=np.array([tick.wall_s for tick in ticks]),
        ending=ending,
        notes=(*path.notes, *failures[:1], *_tell_unusable(ticks, path)),
        problem=asked if isinstance(asked := getattr(controller, "problem", None), MpcProblem) else None,
    )


def _tell_unusable(ticks: list[Entry], path: ScanPath) -> tuple[str, ...]:
    """A note if the controller answered no power that a laser could give."""
    bad = [k for k, tick in enumerate(ticks) if path.lit[k] and tick.status in UNUSABLE]
    if not bad:
        return ()
    return (
        f"the controller answered no finite power in {len(bad)} of {np.count_nonzero(path.lit)} lit ticks, "
        f"first at tick {bad[0]}; the least power was applied there",
    )


def _count(plant: Plant, path: ScanPath, power: FloatArray, windows: FloatArray | None) -> Counted:
    """The ticks that count; on the paper's plant as in the publication, from k = 10 on."""
    if plant.settings.name == "paper":
        settled = path.counted[: len(power)]
        return Counted(above=settled, below=settled)
    process = plant.settings.process
    floor = None if windows is None else np.nan_to_num(windows[:, 0], nan=process.window[0])
    return find_counted(process, path, power, floor)
