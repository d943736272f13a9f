"""Bench of the twin: whole decisions in Python and steps of the exported C, on loops of `graded`."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from time import process_time
from typing import Any

import numpy as np

from laserloop.bench.laps import Laps
from laserloop.control.controller import Action, Controller, Guarded
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.loop.controllers import choose_camera
from laserloop.loop.run import ClosedLoop, Testbed
from laserloop.loop.scenario import Scenario, make_problem, prepare
from laserloop.native.build import NoCompiler, load_library
from laserloop.native.deployed import PEAK, Deployed, Frame, TickInput
from laserloop.native.twin import UNIT, TwinController, make_twin
from laserloop.native.twin_export import list_texts
from laserloop.paths.path import Preview
from laserloop.plant import Camera, make_plant
from laserloop.plant.camera import Image
from laserloop.process import Process

PATHS = ("diagonal", "spiral", "polyline:5")
TICKS = 320  # of each recorded loop
LONG = 1667  # ticks of C alone for each problem: 10⁶ for 600
EARLY = 400  # ticks of history that a long one is compared with
STRETCH = 1000  # ticks that are timed there
SIDE = 16  # pixels along a side of the frame that C is given
QUICK = 1e-5  # s, the tick of scanner cards at 100 kHz
ROUNDS = 10  # of the same loop of such ticks


def _compare_with_plant(controller: Controller, process: Process, path: str, ticks: int) -> float:
    """CPU time of a loop, camera and record included, over that of a second plant given the same powers.

    The two take turns tick by tick, so that whatever else the machine does falls on both.
    """
    case = Scenario(path=path, plant="graded", controller="twin", ticks=ticks, process=process)
    scan = case.find_path()
    plant, alone = (make_plant(case.plant, process) for _ in range(2))
    testbed = Testbed(plant, Camera(choose_camera(plant, None)), scan, process.laser.power)
    loop = ClosedLoop(testbed, controller).follow()
    controller.reset()
    alone.reset()
    looped = replayed = 0.0
    for k in range(len(scan)):
        began = process_time()
        tick = next(loop)
        decided = process_time()
        alone.step(tick.power, scan.spot(k))
        looped += decided - began
        replayed += process_time() - decided
    return looped / replayed


@dataclass(frozen=True, slots=True, eq=False)
class _Recorded:
    """What one tick of a loop brought."""

    image: Image | None
    preview: Preview


class Watcher:
    """A controller that keeps what it is told."""

    def __init__(self, controller: Controller, kept: list[_Recorded]) -> None:
        self.name, self.horizon, self.memory = controller.name, controller.horizon, controller.memory
        self.reset = controller.reset
        self._controller, self._kept = controller, kept

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Keep it and pass it on."""
        self._kept.append(_Recorded(image, preview))
        return self._controller.act(image, preview)


def record(path: str, ticks: int, process: Process) -> list[_Recorded]:
    """A loop of the twin on the graded plant."""
    kept: list[_Recorded] = []
    case = Scenario(path=path, plant="graded", controller="twin", ticks=ticks, process=process)
    loop = prepare(case).loop()
    loop.controller = Guarded(Watcher(loop.controller.inner, kept))
    loop.run()
    return kept


class _CLoop:
    """Recorded ticks as C has them, step after step."""

    def __init__(self, process: Process, problem: MpcProblem, ticks: list[_Recorded]) -> None:
        texts, horizon = list_texts(process, problem)
        self.door = Deployed(load_library(texts, UNIT[0]), horizon)
        self._ticks = [_pose(tick, horizon) for tick in ticks]  # C has only their addresses
        laid = [self.door.lay(replace(tick, tick=k)) for k, tick in enumerate(self._ticks)]
        self._calls = [(tick, self.door.bind(given)) for tick, given in zip(self._ticks, laid, strict=True)]
        self._kept = laid

    def __len__(self) -> int:
        return len(self._calls)

    def run(self, laps: Laps, k: int) -> None:
        """Time step k of the loop."""
        tick, call = self._calls[k]
        if k == 0:
            self.door.init()
            self.door.begin(float(tick.way[0, 0]), float(tick.way[0, 1]))
        laps.run(call)


def _pose(tick: _Recorded, horizon: int) -> TickInput:
    """A recorded tick as a machine says it, with the pixels around the peak."""
    now, image = tick.preview, tick.image
    told = TickInput(way=now.ahead[: horizon + 1], dark=[not lit for lit in now.lit], commanded=now.power)
    if image is None:
        return told
    return replace(told, age=now.age(image.time), frame=_crop(image))


def _crop(image: Image) -> Frame:
    half = SIDE // 2
    middles = np.searchsorted(image.y, image.peak.y), np.searchsorted(image.x, image.peak.x)
    rows, columns = (slice(max(0, int(at) - half), int(at) + half) for at in middles)
    x, y, T = image.x[columns], image.y[rows], image.temperature[rows, columns]
    return np.ascontiguousarray(x), np.ascontiguousarray(y), np.ascontiguousarray(T)


class TwinBench:
    """Takes its turns between other solvers; without a compiler only the twin in NumPy does."""

    def __init__(self, problems: int, process: Process | None = None) -> None:
        self._process = process or Process()
        self._problem = make_twin_problem(make_problem(self._process, None))
        self._problems = problems
        loops = [record(path, TICKS, self._process) for path in PATHS]
        self._ticks = loops[0]
        self._controller = make_twin(self._problem, self._process)
        self._laps = {"twin": Laps()}
        self._loops: list[_CLoop] = []
        try:
            self._loops = [_CLoop(self._process, self._problem, ticks) for ticks in loops]
            self._laps["twin_c"] = Laps()
        except NoCompiler:
            pass
        self._next = cycle(range(len(self._ticks)))

    def turn(self, ticks: int) -> None:
        """A few ticks, in their order."""
        for _ in range(ticks):
            k = next(self._next)
            if k == 0:
                self._controller.reset()
            tick = self._ticks[k]
            self._laps["twin"].run(partial(self._controller.act, tick.image, tick.preview))
            if self._loops:
                self._loops[0].run(self._laps["twin_c"], k)

    def report(self, reference_us: float) -> dict[str, Any]:
        """Times of both, and of C alone: in 10⁶ ticks of loops, after a long history, and in short ticks."""
        found: dict[str, Any] = {name: laps.describe() for name, laps in self._laps.items()}
        ticks = min(TICKS, 10 * self._problems)
        found["loop_over_plant"] = _compare_with_plant(self._controller, self._process, PATHS[0], ticks)
        if not self._loops:
            return found
        found["ratio_median_twin_c"] = reference_us / found["twin_c"]["median_us"]
        found["twin_c_alone"] = self._run_long().describe()
        found["twin_c"]["worst_us"] = found["twin_c_alone"]["worst_us"]
        found["twin_c_history"] = self._age()
        found["twin_c_10us"] = self._hurry()
        controller = self._controller
        if isinstance(controller, TwinController):
            found["twin_state_bytes"] = int(controller.state.nbytes)
        return found

    def _run_long(self) -> Laps:
        """The loops over and over on a core that does nothing else."""
        laps = Laps()
        while len(laps.seconds) < LONG * self._problems:
            for loop in self._loops:
                for k in range(len(loop)):
                    loop.run(laps, k)
        return laps

    def _age(self) -> dict[str, float]:
        """A step after 400 ticks of a raster, and after all of them."""
        loop, step = _RasterLoop(self._process, self._loops[0].door), self._loops[0].door.bind
        ticks = max(LONG * self._problems, 2 * (EARLY + STRETCH))
        early, late = Laps(), Laps()
        call = step(loop.given)
        for k in range(ticks):
            watched = early if EARLY <= k < EARLY + STRETCH else late if k >= ticks - STRETCH else None
            loop.step(k, call if watched is None else partial(watched.run, call))
        first, last = (laps.describe()["median_us"] for laps in (early, late))
        return {"ticks": ticks, "early_us": first, "late_us": last, "ratio": last / first}

    def _hurry(self) -> dict[str, float]:
        """A loop whose ticks are as short as those of scanner cards."""
        process = replace(self._process, tick=QUICK)
        loop, laps = _CLoop(process, self._problem, record(PATHS[0], TICKS, process)), Laps()
        for _ in range(ROUNDS):
            for k in range(len(loop)):
                loop.run(laps, k)
        quickest = np.reshape(laps.seconds, (ROUNDS, -1)).min(axis=0)  # of each tick: no noise
        return laps.describe() | {
            "over_tick_fraction": laps.share_over(QUICK),
            "over_tick_fraction_quiet": laps.share_over(QUICK, quiet=True),
            "over_tick_fraction_quickest": float(np.mean(quickest > QUICK)),
            "quickest_worst_us": 1e6 * float(quickest.max()),
        }


class _RasterLoop:
    """A raster without end, whose peak is measured as it was predicted."""

    def __init__(self, process: Process, door: Deployed) -> None:
        x, y, _ = process.plate
        hop, width, hatch = process.speed * process.tick, 0.5 * x, process.beam.sigma
        across = int(width / hop)
        lines = int(0.5 * y / hatch)
        sweep = np.linspace(-0.5 * width, 0.5 * width, across)
        heights = hatch * (np.concatenate((np.arange(lines), np.arange(lines)[::-1])) - 0.5 * lines)
        rows = [
            np.column_stack((sweep[:: 1 - 2 * (i % 2)], np.full(across, at))) for i, at in enumerate(heights)
        ]
        self._way = np.ascontiguousarray(np.concatenate((*rows, rows[0][:6])))  # it ends where it begins
        self._count = len(self._way) - 6
        self._door = door
        self.given = door.lay(TickInput(way=self._way[:6], dark=5 * [False]))
        self._power = 0.0
        door.init()
        door.begin(float(self._way[0, 0]), float(self._way[0, 1]))

    def step(self, k: int, call: Callable[[], float]) -> None:
        """Tick k of it."""
        place = self._way.ctypes.data + 16 * (k % self._count)
        ctypes.memmove(self.given["way"].ctypes.data, place, 96)
        self.given["tick"], self.given["power"]["commanded"] = k % 2**32, self._power
        self._power = call()
        self.given["seen"], self.given["peak"] = PEAK, self._door.out["predicted"][0]
