"""The closed loop: measure, decide, apply, once per tick of the path."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, check_kind
from laserloop.control.controller import Action, Controller, Guarded, Status, read_prediction
from laserloop.control.problem import MpcProblem
from laserloop.loop.disturbances import Fault, Faults
from laserloop.loop.record import COMPLETED, Entry, Run
from laserloop.paths import ScanPath
from laserloop.paths.path import Preview
from laserloop.plant import Camera, Hottest, Image, Plant, Surface
from laserloop.predict.twin import Counted, find_counted
from laserloop.process import Process
from laserloop.process.process import HIGHEST, LOWEST

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]  # ticks done, ticks in all

NOTHING = Hottest(np.nan, np.nan, np.nan)  # of no image
UNUSABLE = (Status.NOT_FINITE, Status.NO_ACTION)


class StopRun(Exception):
    """Raised by who watches a run to end it; its text says why, and becomes the run's ending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tick:
    """One tick of the loop: what was decided, what it led to."""

    action: Action
    power: float  # W, what the laser was told
    wall_s: float  # the whole decision, as the machine has to wait for it
    seen: float  # K, peak of the image that came before the decision; NaN if none did
    seen_at: tuple[float, float]  # m, its place in that image
    surface: Surface  # at the end of the tick
    clipped: bool = False  # was more or less asked for than the laser can give?
    failure: str = ""  # what the controller raised, if it did

    def entry(self) -> Entry:
        """What is kept of it."""
        action = self.action
        return Entry(
            t_node=self.surface.node.temperature,
            t_peak=self.surface.peak.temperature,
            power=self.power,
            wall_s=self.wall_s,
            seen=self.seen,
            seen_at=self.seen_at,
            predicted=read_prediction(action),
            margins=action.margins,
            window=action.window,
            status=action.status,
            iterations=action.iterations,
            solve_s=action.solve_s,
            clipped=self.clipped,
            failure=self.failure,
        )


Watch = Callable[[int, Tick], None]
"""Index and tick as soon as it is done; may wait, and may raise `StopRun`."""


@dataclass(slots=True, eq=False)
class Testbed:
    """Plant, camera and laser along a path: whoever decides in between, a controller or a learner."""

    __test__ = False  # for pytest

    plant: Plant
    camera: Camera
    path: ScanPath
    bounds: tuple[float, float]  # W
    preview_ticks: int | None = None  # of the way ahead that are told truly; None: all of it
    faults: Faults = field(default_factory=Faults)
    absorbed: float = 1.0  # by the plate, over what it took at the start
    powers: list[float] = field(default_factory=list)  # W, what the laser was told in all ticks so far

    def reset(self) -> Surface:
        """The plate at rest, the camera without images, nothing told to the laser."""
        self.camera.reset()
        self.faults.reset()
        self.powers.clear()
        return self.plant.reset()

    def measure(self, k: int, surface: Surface) -> Image | None:
        """The image that comes before tick `k`, however old; None if none does."""
        image: Image | None = self.camera.see(surface)
        if k % self.camera.settings.every:
            return None
        return None if image is None else self.faults.see(k, image)

    def look_ahead(self, k: int, horizon: int, memory: int = 0) -> Preview:
        """What the scanner knows at tick `k`."""
        return look_ahead(self.path, k, self.powers, horizon, memory, self.preview_ticks)

    def apply(self, k: int, command: float) -> Surface:
        """Give a power, W, as far as the laser can and the path is lit; the surface when tick `k` ends."""
        power = bound(command, self.bounds) if self.path.lit[k] else 0.0
        surface = self.plant.step(self.absorbed * self.faults.weaken(k, power), self.path.spot(k))
        self.powers.append(power)
        return surface


class ClosedLoop:
    """A testbed and a controller that meet once per tick; window and absorptivity may change on the way."""

    def __init__(
        self,
        testbed: Testbed,
        controller: Controller,
        *,
        process: Process | None = None,  # as the controller was told it; None: the plant's
        problem: MpcProblem | None = None,  # what it was asked for; None: what it says
        model: str | None = None,  # by name
        notes: tuple[str, ...] = (),
    ) -> None:
        self.testbed, self.controller = testbed, Guarded(controller)
        self.window: tuple[float, float] | None = None  # K, if it may change: every tick says which it had
        self._process, self._problem, self._model, self._notes = process, problem, model, notes

    def set_window(self, low: float, high: float) -> None:
        """What is wanted from the next tick on, K; scores follow it, whether the controller can or not."""
        if self.controller.aims:
            self.controller.set_window(low, high)
        self.window = low, high

    def set_absorbed(self, factor: float) -> None:
        """Another absorptivity from the next tick on, as a share of what it was at the start."""
        if not LOWEST <= factor <= HIGHEST:
            raise BadInput(
                f"absorptivity may change by a factor of {LOWEST:g} to {HIGHEST:g}, got {factor:g}: change it"
            )
        self.testbed.absorbed = factor

    def run(self, progress: Progress | None = None, watch: Watch | None = None) -> Run:
        """From rest along the whole path; whatever a tick brings, it ends with a run that says why."""
        path = self.testbed.path
        self.testbed.plant.check_path(path)
        entries: list[Entry] = []
        if failure := self.controller.reset():
            return self.record(path, entries, f"the controller's reset raised {failure}")
        ending = COMPLETED
        try:
            for k, tick in enumerate(self.follow()):
                entries.append(tick.entry())
                if progress is not None:
                    progress(k + 1, len(path))
                if watch is not None:
                    watch(k, tick)
        except StopRun as wish:
            ending = str(wish)
        except BadInput as failure:
            ending = f"the plant stopped at tick {len(entries)}: {failure}"
        return self.record(path, entries, ending)

    def follow(self) -> Iterator[Tick]:
        """The power decided at t_k acts on [t_k, t_{k+1}]."""
        surface = self.testbed.reset()
        for k in range(len(self.testbed.path)):
            tick = self.step(k, surface)
            surface = tick.surface
            yield tick

    def step(self, k: int, surface: Surface) -> Tick:
        """Measure, decide, apply."""
        image = self.testbed.measure(k, surface)
        action, failure, wall = self.controller.decide(image, self.look_ahead(k))
        if self.window is not None:
            action = replace(action, window=self.window)
        surface = self.testbed.apply(k, action.power)
        power, lit = self.testbed.powers[-1], bool(self.testbed.path.lit[k])
        seen = NOTHING if image is None else image.peak
        return Tick(
            action=action,
            power=power,
            wall_s=wall,
            seen=seen.temperature,
            seen_at=(seen.x, seen.y),
            surface=surface,
            clipped=lit and power != action.power,
            failure=failure,
        )

    def look_ahead(self, k: int) -> Preview:
        """What the controller is told at tick `k`."""
        return self.testbed.look_ahead(k, self.controller.horizon, self.controller.memory)

    def record(self, path: ScanPath, ticks: list[Entry], ending: str) -> Run:
        """The run of the ticks that were done along a path."""
        n, settings = len(ticks), self.testbed.plant.settings
        power = np.array([tick.power for tick in ticks])
        windows = _list_pairs([tick.window for tick in ticks])
        t_node, t_peak = (np.array([getattr(tick, name) for tick in ticks]) for name in ("t_node", "t_peak"))
        run = Run(
            path=path.name,
            controller=self.controller.name,
            plant=settings.name,
            process=self._process or settings.process,
            subgrid=settings.subgrid,
            t=path.times[1 : n + 1],
            positions=path.positions[1 : n + 1].copy(),
            lit=path.lit[:n],
            counted=_count(self.testbed.plant, path, power, windows),
            power=power,
            clipped=sum(tick.clipped for tick in ticks),
            t_node=t_node,
            t_peak=t_peak,
            measured=np.array([tick.seen for tick in ticks[1:]] + [np.nan] * min(n, 1)),
            measured_at=np.array(
                [tick.seen_at for tick in ticks[1:]] + [(np.nan, np.nan)] * min(n, 1)
            ).reshape(n, 2),
            predicted=np.array([tick.predicted for tick in ticks]),
            margins=_list_pairs([tick.margins for tick in ticks]),
            windows=windows,
            statuses=tuple(tick.status if path.lit[k] else Status.DARK for k, tick in enumerate(ticks)),
            iterations=np.array([tick.iterations for tick in ticks], dtype=np.intp),
            solve_s=np.array([tick.solve_s for tick in ticks]),
            wall_s=np.array([tick.wall_s for tick in ticks]),
            ending=ending,
            problem=self._problem or self.controller.problem,
            model=self._model,
        )
        outside = _note_range(self.testbed.plant, run)
        return replace(run, notes=(*path.notes, *_note_failures(ticks, path), *self._notes, *outside))


def run_closed_loop(
    plant: Plant,
    camera: Camera,
    controller: Controller,
    path: ScanPath,
    *,
    power_bounds: tuple[float, float] | None = None,
    preview_ticks: int | None = None,
    faults: Sequence[Fault] | Faults = (),
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Run:
    """Drive `plant` from rest along `path` with the powers that `controller` finds.

    Whatever a tick brings, the loop ends with a run: its `ending` says why, if not at the end of the path.
    The powers stay within `power_bounds`, W, those of the plant's process unless given; dark ticks get none.
    Previews tell the truth about `preview_ticks` of the way ahead, or about all of it. `faults` may be of a
    class of your own, made from `laserloop.loop.disturbances.Faults`.
    """
    check_kind(path, ScanPath, "the path of a loop", "take find_path('diagonal') or read a file with it")
    bounds = power_bounds or plant.settings.process.laser.power
    met = faults if isinstance(faults, Faults) else Faults(*faults)
    return ClosedLoop(Testbed(plant, camera, path, bounds, preview_ticks, met), controller).run(
        progress, watch
    )


def look_ahead(
    path: ScanPath,
    k: int,
    powers: list[float],
    horizon: int,
    memory: int = 0,
    preview_ticks: int | None = None,
) -> Preview:
    """What the scanner knows at tick `k` after it gave `powers`: `preview_ticks` ticks of its way, or all."""
    past = min(k, memory)
    way, lit = path.preview(k - past, past + horizon), path.preview_lit(k, horizon)
    if preview_ticks is not None and preview_ticks < horizon:
        way, lit = _go_straight(path, k, min(preview_ticks, len(path) - k), way, lit)
    return Preview(
        time=k * path.tick,
        tick=path.tick,
        positions=way,
        powers=np.array(powers[k - past : k]),
        lit=lit,
        was_lit=path.lit[k - past : k],
    )


def _go_straight(
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


def _list_pairs(pairs: list[tuple[float, float] | None]) -> FloatArray | None:
    """Margins or windows of each tick, if they may change."""
    if all(pair is None for pair in pairs):
        return None
    return np.array([pair or (np.nan, np.nan) for pair in pairs])


def _note_failures(ticks: list[Entry], path: ScanPath) -> tuple[str, ...]:
    """Notes if the controller raised, or answered no power that a laser could give."""
    raised = [
        f"the controller raised at tick {k}: {tick.failure}" for k, tick in enumerate(ticks) if tick.failure
    ]
    bad = [k for k, tick in enumerate(ticks) if path.lit[k] and tick.status in UNUSABLE]
    if not bad:
        return tuple(raised[:1])
    return (
        *raised[:1],
        f"the controller answered no finite power in {len(bad)} of {np.count_nonzero(path.lit)} lit ticks, "
        f"first at tick {bad[0]}; the least power was applied there",
    )


def _note_range(plant: Plant, run: Run) -> tuple[str, ...]:
    """A note if the material's range of validity was left."""
    process = plant.settings.process
    hottest = float(run.t_max.max()) if len(run) else process.ambient
    complaint = process.material.outside(process.ambient, hottest)
    return () if complaint is None else (complaint,)


def _count(plant: Plant, path: ScanPath, power: FloatArray, windows: FloatArray | None) -> Counted:
    """The ticks that count; on the paper's plant as in the publication, from k = 10 on."""
    if plant.settings.name == "paper":
        settled = path.counted[: len(power)]
        return Counted(above=settled, below=settled)
    process = plant.settings.process
    floor = None if windows is None else np.nan_to_num(windows[:, 0], nan=process.window[0])
    return find_counted(process, path, power, floor)
