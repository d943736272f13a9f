"""The closed loop: measure, decide, move, once per tick of the path."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, check_kind
from laserloop.control.action import Action, Controller, Status
from laserloop.control.problem import MpcProblem
from laserloop.loop.faults import Disturb, Drift
from laserloop.loop.rig import Rig
from laserloop.paths import ScanPath
from laserloop.paths.path import mark_settled
from laserloop.paths.preview import Preview
from laserloop.plant import Camera, Hottest, Image, Plant, Surface
from laserloop.predict.twin import Counted, find_counted
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]  # ticks done, ticks in all

COMPLETED = "path completed"
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


# No slots: arrays are frozen after birth.
@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A closed loop's record; entry k belongs to t = (k+1)Δt and to the power of the tick that ends then."""

    path: str
    controller: str
    plant: str
    process: Process
    subgrid: bool  # is this plant's T_max the peak between the nodes, or the hottest node?
    t: FloatArray  # (n,), s
    positions: FloatArray  # (n, 2), m, of the beam
    lit: NDArray[np.bool_]  # (n,), may the laser be on?
    counted: Counted  # which ticks count above and below the window
    power: FloatArray  # (n,), W
    clipped: int = 0  # lit ticks in which more or less was asked for than the laser can give
    t_node: FloatArray  # (n,), K, of the hottest node
    t_peak: FloatArray  # (n,), K, between the nodes
    measured: FloatArray  # (n,), K, peak of the image that came then, however old; NaN where none did
    measured_at: FloatArray | None = None  # (n, 2), m, where in the image that peak lay
    predicted: FloatArray  # (n,), K, one tick before; NaN where nothing was predicted
    margins: FloatArray | None = None  # (n, 2), K, above and below, where they may change from tick to tick
    windows: FloatArray | None = None  # (n, 2), K, low and high, where they may change likewise
    statuses: tuple[Status, ...]
    iterations: NDArray[np.intp]  # (n,)
    solve_s: FloatArray  # (n,), inside the solver
    wall_s: FloatArray  # (n,), the whole decision
    ending: str = COMPLETED  # why the run ended; a sentence
    notes: tuple[str, ...] = ()  # what a reader should know; sentences without their full stop
    problem: MpcProblem | None = None  # what the controller was asked for, if it plans

    def __repr__(self) -> str:
        low, high = self.t_max[self.counted.below], self.t_max[self.counted.above]
        known = f"{low.min():.1f}–{high.max():.1f} K" if len(low) and len(high) else "no tick that counts"
        end = "" if self.ending == COMPLETED else f", {self.ending}"
        return f"Run({self.path!r}: {self.controller} on {self.plant}, {len(self)} ticks, {known}{end})"

    def __len__(self) -> int:
        return len(self.t)

    def table(self) -> dict[str, list[Any]]:
        """The run tick by tick, a list for each quantity with its unit in the name; for pandas.DataFrame."""
        from laserloop.loop.scores import series_of

        return {name: list(values) for name, values in series_of(self).items()}

    @property
    def tick(self) -> float:
        """The control period, s."""
        return self.process.tick

    @property
    def t_max(self) -> FloatArray:
        """What this plant calls T_max: between the nodes, or at the hottest node as in the paper, K."""
        return self.t_peak if self.subgrid else self.t_node

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Lit ticks long after a start: gains are tuned and margins calibrated for these, not scored."""
        return mark_settled(self.lit)


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


def read_answer(answer: object) -> Action:
    """An answer as an action, whatever it is."""
    power: object = answer.power if isinstance(answer, Action) else answer
    if isinstance(power, bool) or not isinstance(power, Real):
        return Action(power=0.0, status=Status.NO_ACTION)
    if not np.isfinite(float(power)):
        return Action(power=0.0, status=Status.NOT_FINITE)
    return answer if isinstance(answer, Action) else Action(power=float(power), status=Status.BARE)


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
