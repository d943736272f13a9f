"""The twin compiled: the process and the problem as C has them, one call per tick or for many.

`TwinController` looks at images; `TwinPlayer` goes along a path without a camera, its own forecast as truth.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import exp
from time import perf_counter

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.control.controller import Action, Controller, ImageValidator, Status
from laserloop.control.problem import MpcProblem
from laserloop.native.build import NoCompiler, find_prebuilt, load_library
from laserloop.native.layout import (
    CONFIG,
    ENGINE,
    STATUSES,
    address,
    aligned,
    define,
    find_dtype,
    make_struct,
    pack_problem,
    read_source,
)
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.predict.twin import gain as gains
from laserloop.predict.twin import heat as heats
from laserloop.predict.twin.twin import (
    ENOUGH,
    FARTHEST,
    FEW,
    FRAMES,
    START_ERROR,
    START_TICKS,
    STEEP,
    SUBPIXEL,
    SURE_OF_PLACE,
)
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Memory = tuple[NDArray[np.uint8], int]  # of C, and ticks that it was told of

PARTS = ("working_set", "qp", "costs", "tick")
OWN = ("field", "far", "newest", "history", "forecast", "gain", "image", "plan", "act")
UNIT = (
    "twin.c",
    "types.h",
    "twin_types.h",
    *(f"{part}.c" for part in PARTS),
    *(f"twin_{part}.c" for part in OWN),
)
LEVELS = 1024  # steps of the tables of twin_types.h
USUAL = heats.CAPACITY - heats.MERGED  # ticks kept one by one, up to which one library does
QPS = 4  # most in a tick, as in twin_plan.c; two are usual
SMOOTH = 2.25  # widths of heat over the distance around the peaks, from which on it is a polynomial there
RATIO = 100  # median time of a decision in NumPy over that in C
LEFT_OUT, MISPLACED = 0, -2  # what became of an image
DOORS = ("sizes", "start", "act", "plan", "follow", "pause", "trust")


def pack_process(twin: TwinPredictor) -> NDArray[np.void]:
    """The numbers of a twin: the C struct `process`."""
    process, rule, body = twin.process, twin.rule, twin.body
    camera, laser, gain = process.camera, process.laser, twin.filter_settings
    left = exp(-process.tick / laser.lag) if laser.lag > 0 else 0.0
    packed = make_struct("twin_types.h", "process")
    most = twin.table.theta_of(np.array([twin.hottest]))[0]
    u = np.linspace(0.0, most, LEVELS + 1)
    T = np.linspace(process.ambient, twin.hottest, LEVELS + 1)
    values: dict[str, object] = {
        **{"sigma": body.sigma, "alpha": body.alpha, "plate": body.plate, "tick": process.tick},
        **{"absorptivity": process.beam.absorptivity, "lag_left": left, "ambient": process.ambient},
        "lag_mean": (1.0 - left) * laser.lag / process.tick,
        **{"worth": twin.merge_tolerance, "faded": heats.FADED * twin.merge_tolerance},
        **{"prior": gain.prior, "walk": gain.walk, "error": gain.floor, "gate": gain.gate},
        **dict(zip(("gain_low", "gain_high"), camera.heat_ratio, strict=True)),
        **{"fall": gains.FALL, "placed": gains.OFFSET, "stamp": gains.STAMP, "apart": gains.LAG},
        **{"drift": gains.DRIFT, "most_late": gains.MOST_LATE, "crude": gains.CRUDE, "rough": gains.ROUGH},
        "flat": gains.FLAT,
        "doubt": gains.DOUBT,
        **{"turned": gains.TURNED, "sure": gains.SURE, "dim": twin.dim},
        **{"start_error": START_ERROR, "start_ticks": START_TICKS},
        **{"telling": SURE_OF_PLACE, "enough": ENOUGH, "farthest": FARTHEST},
        **{"noise": camera.noise, "pixel": camera.pixel or 0.0, "few": FEW * twin.wanted},
        **{
            "subpixel": SUBPIXEL,
            "slender": twin.diffusivity_correction,
            "behind": heats.BEHIND,
            "longest": heats.LONGEST,
            "reach": heats.REACH,
            "smooth": SMOOTH,
        },
        **{"recent": twin.memory, "lags": rule.lags, "points": len(rule.lag)},
        **{"exposure": camera.exposure, "frames": FRAMES},
        "steep": STEEP[camera.noise > 0.0],
        "temperature": (0.0, LEVELS / most, twin.table.temperature_of(u)),
        "heat": (process.ambient, LEVELS / (twin.hottest - process.ambient), twin.table.theta_of(T)),
    }
    for name, value in values.items():
        packed[name] = value
    columns = {"lag": rule.lag, "age": rule.tau / process.tick, "share": rule.share, "way": rule.way}
    for name, column in columns.items():
        packed[name][: len(column)] = column
    return packed


class TwinController:
    """Image in, power out, by the compiled twin; raises NoCompiler where there is none."""

    name = "twin"

    def __init__(self, twin: TwinPredictor, problem: MpcProblem, *, dtype: DTypeLike = np.float32) -> None:
        self.problem = self._built = problem
        self._twin = twin
        self.horizon, self.memory = problem.horizon, twin.memory
        self.library, laid, wants, self.state = _load_twin(twin, problem, dtype)
        self.library.laserloop_act.argtypes = 8 * (ctypes.c_void_p,)
        self._kept = laid, wants
        n = self.horizon
        self._in = np.zeros(5 + 2 * (n + 1) + n + 3 * self.memory + 2)
        self._out = np.zeros(2 * n + 14)
        self._act = partial(
            self.library.laserloop_act, address(laid), address(wants), address(self.state), address(self._in)
        )
        self._start = partial(
            self.library.laserloop_start, address(laid), address(wants), address(self.state)
        )
        self._answer = address(self._out)
        self._lines = np.zeros(0), np.zeros(0)  # x and y of the last image
        self._places = 0, 0  # where they lie
        self._tick = twin.process.tick
        self._oldest = twin.process.camera.delay + 1  # ticks
        self._validator = ImageValidator(mark=True)
        self.reset()

    def reset(self) -> None:
        """A plate at rest; the next tick is the first."""
        self._start()
        self._validator.reset()
        self._now = 0
        self._seen = -1.0

    def save(self) -> Memory:
        """All that is known now."""
        return self.state.copy(), self._now

    def restore(self, saved: Memory) -> None:
        """Back to what was known then, but for images."""
        self.state[...], self._now = saved

    def trust(self, gain: float) -> None:
        """Take g, measured over expected, as known."""
        self.library.laserloop_trust(address(self.state), ctypes.c_double(gain))

    @property
    def gain(self) -> float:
        """g, measured over expected."""
        return float(self._out[2 * self.horizon + 2])

    @property
    def late(self) -> tuple[float, float]:
        """Ticks by which places and power come later than they are told to, as the images show them."""
        power, places = self._out[2 * self.horizon + 10 : 2 * self.horizon + 12]
        return float(places), float(power)

    @property
    def offset(self) -> FloatArray:
        """Of the images from where the scanner says the beam is, m."""
        return self._out[2 * self.horizon + 12 :].copy()

    @property
    def innovation(self) -> float:
        """T_max of the newest image over what was expected of it, K; NaN if none was taken in."""
        used, innovation = self._out[2 * self.horizon + 8 : 2 * self.horizon + 10]
        return float(innovation) if used > 0.0 else float("nan")

    def set_margins(self, above: float, below: float) -> None:
        """Keep predictions this far inside the window, K, from the next tick on."""
        self._built = replace(self.problem, margin_above=above, margin_below=below)
        self._pursue(self._built)

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on; margins for which it has no room shrink."""
        self._pursue(self._built.aim((low, high)))

    def _pursue(self, problem: MpcProblem) -> None:
        """Another window or other margins, as C has them."""
        self.problem = problem
        wants = self._kept[1]
        wants["low"], wants["high"] = problem.window
        wants["margin_above"], wants["margin_below"] = problem.margin_above, problem.margin_below
        wants["floor"], wants["ceiling"], wants["middle"] = problem.floor, problem.ceiling, problem.middle
        wants["tracking"] = problem.tracking_cost / problem.half_width**2
        self._twin.aim(*problem.window)
        self._kept[0]["few"] = FEW * self._twin.wanted

    @property
    def peak(self) -> FloatArray:
        """Where T_max of the coming tick is expected, m."""
        return self._out[2 * self.horizon + 4 : 2 * self.horizon + 6].copy()

    @property
    def gaussians(self) -> int:
        """How many stand for the old heat."""
        return int(self._out[2 * self.horizon + 6])

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        began = perf_counter()
        good, mended = self._validator.judge(image)
        self._take(good, preview)
        places = self._point_at(good)
        self._act(*places, self._answer)
        n = self.horizon
        out = self._out.copy()
        status = STATUSES[int(out[2 * n])]
        unused = good is None or self._is_unused(good, preview)
        if status is Status.SOLVED and (unused or mended):
            status = Status.BLIND if unused else Status.MENDED
        return Action(
            power=float(out[0]),
            status=status,
            plan=out[:n],
            predicted=out[n : 2 * n],
            iterations=int(out[2 * n + 1]),
            solve_s=perf_counter() - began,
        )

    def _is_unused(self, image: Image, preview: Preview) -> bool:
        """Was an image not believed: of the future, too old, of another place, or far off?"""
        age = round((preview.time - image.time) / self._tick)
        return not 0 <= age <= self._oldest or self._out[2 * self.horizon + 8] in (LEFT_OUT, MISPLACED)

    def _take(self, image: Image | None, preview: Preview) -> None:
        """Copy a tick to where C finds it."""
        n, given, positions = self.horizon, self._in, preview.positions
        past = len(preview.powers)
        news = min(round(preview.time / preview.tick) - self._now, past)
        self._now += news
        given[0] = news
        given[1] = -1.0
        if image is not None and image.time != self._seen:
            self._seen = image.time
            given[1] = round((preview.time - image.time) / self._tick)
            given[3], given[2] = image.temperature.shape
        given[4] = past > 0 and not preview.was_lit[-1]
        given[5 : 7 + 2 * n] = positions[past : past + n + 1].ravel()
        given[7 + 2 * n : 7 + 3 * n] = preview.lit[:n]
        for k in range(news):
            at = 7 + 3 * n + 3 * k
            given[at] = preview.powers[past - news + k]
            given[at + 1 : at + 3] = positions[past - news + k + 1]
        at = 7 + 3 * n + 3 * news
        given[at : at + 2] = positions[past - news]

    def _point_at(self, image: Image | None) -> tuple[object, ...]:
        """The addresses of an image's arrays, which live as long as the call."""
        if image is None:
            return (None, None, None)
        x, y = self._lines
        if len(x) != len(image.x) or len(y) != len(image.y):
            self._lines = x, y = image.x.copy(), image.y.copy()
            self._places = find(x), find(y)
        else:  # a copy is quicker than an address
            x[:], y[:] = image.x, image.y
        return *self._places, find(image.temperature)


class TwinPlayer:
    """Plans powers, or follows given ones; raises NoCompiler where it cannot be built."""

    def __init__(self, twin: TwinPredictor, problem: MpcProblem, *, gain: float = 1.0) -> None:
        """`gain`: measured over expected, where it is known beforehand."""
        self.horizon, self.tick = problem.horizon, twin.process.tick
        self._gain = gain
        self._library, self._process, self._problem, self._memory = _load_twin(twin, problem)
        self.reset()

    def reset(self) -> None:
        """A plate at rest."""
        self._library.laserloop_start(*self._parts())
        self._library.laserloop_trust(address(self._memory), ctypes.c_double(self._gain))

    def save(self) -> NDArray[np.uint8]:
        """All that is known now."""
        return self._memory.copy()

    def restore(self, state: NDArray[np.uint8]) -> None:
        """Back to what was known then."""
        self._memory[...] = state

    def plan(
        self, positions: FloatArray, lit: NDArray[np.bool_], count: int
    ) -> tuple[FloatArray, FloatArray]:
        """Powers, W, and T_max, K, of the next `count` ticks; a horizon more must be known of the way."""
        way = np.ascontiguousarray(positions[: count + self.horizon + 1], np.float64)
        light = np.ascontiguousarray(lit[: count + self.horizon], np.uint8)
        if len(way) != count + self.horizon + 1 or len(light) != count + self.horizon:
            raise ValueError(f"{count} ticks need a way of {count + self.horizon} ticks")
        power, temperature = np.empty(count), np.empty(count)
        self._library.laserloop_plan(
            *self._parts(), count, *(address(array) for array in (way, light, power, temperature))
        )
        return power, temperature

    def follow(self, positions: FloatArray, power: FloatArray) -> FloatArray:
        """T_max, K, at the end of each tick that has a power, W."""
        way, given = np.ascontiguousarray(positions, np.float64), np.ascontiguousarray(power, np.float64)
        if len(way) < len(given) + 1:
            raise ValueError(f"{len(given)} ticks need {len(given) + 1} positions")
        temperature = np.empty(len(given))
        self._library.laserloop_follow(
            address(self._process),
            address(self._memory),
            len(given),
            *(address(array) for array in (way, given, temperature)),
        )
        return temperature

    def pause(self, seconds: float, place: FloatArray) -> None:
        """The plate cools while the beam goes dark to a place, m."""
        numbers = (round(seconds / self.tick), *place)
        self._library.laserloop_pause(
            address(self._process), address(self._memory), *(ctypes.c_double(value) for value in numbers)
        )

    def _parts(self) -> tuple[ctypes.c_void_p, ...]:
        return tuple(address(array) for array in (self._process, self._problem, self._memory))


def _load_twin(
    twin: TwinPredictor, problem: MpcProblem, dtype: DTypeLike = np.float32
) -> tuple[ctypes.CDLL, NDArray[np.void], NDArray[np.void], NDArray[np.uint8]]:
    """The library of a horizon; then process, problem and an empty memory as it has them."""
    single = find_dtype(dtype) is np.float32
    sources = list_sources(size_twin(problem.horizon, max(twin.memory, USUAL), single=single))
    library = load_library(sources, UNIT[0], defines=ENGINE)
    for door in DOORS:
        getattr(library, f"laserloop_{door}").restype = None
    sizes = (ctypes.c_size_t * 3)()
    library.laserloop_sizes(sizes)
    laid, wants = pack_process(twin), pack_problem(problem, 1)
    if [laid.nbytes, wants.nbytes] != list(sizes)[:2]:
        raise NoCompiler(f"the library lays its numbers out in {list(sizes)} bytes, not as expected")
    return library, laid, wants, aligned(sizes[2])


def find(array: FloatArray) -> int:
    """Where an array lies; a few times as fast as `array.ctypes`."""
    place: int = array.__array_interface__["data"][0]
    return place


def make_twin(problem: MpcProblem, process: Process, settings: TwinSettings | None = None) -> Controller:
    """The twin of a process over its own horizon: compiled where it can be, otherwise in NumPy."""
    predictor = TwinPredictor(process, settings)
    own = replace(problem, horizon=predictor.horizon)
    if not predictor.settings.history:
        return _plan_in_numpy(predictor, own)
    try:
        return TwinController(predictor, own)
    except NoCompiler as missing:
        note = (
            f"the twin plans in NumPy, since there is no compiled one ({missing}); with a C compiler it "
            f"would decide about {RATIO} times faster"
        )
        return _plan_in_numpy(predictor, own, note)


def _plan_in_numpy(predictor: TwinPredictor, problem: MpcProblem, *notes: str) -> Controller:
    """The same twin by the generic solver."""
    from laserloop.control.mpc import MpcController
    from laserloop.control.sqp import SqpSolver

    solver = SqpSolver(problem, max_iterations=QPS, halvings=0)
    return MpcController(predictor, solver, problem, resume=True, until_dark=True, name="twin", notes=notes)


def came_compiled() -> bool:
    """Does the usual twin lie compiled in the package, as in a platform wheel?"""
    return any(find_prebuilt(list_sources(size_twin(TwinSettings().horizon)), UNIT[0], ENGINE))


def list_sources(sizes: Mapping[str, int]) -> Mapping[str, str]:
    """The files of a library, by name."""
    names = (*UNIT, "twin_engine.c")
    return {name: read_source(name) for name in names} | {CONFIG: define(sizes)}


def size_twin(horizon: int, kept: int = USUAL, *, single: bool = True) -> dict[str, int]:
    """What a compiler must know of a twin that keeps so many ticks one by one."""
    return {
        "HORIZON": horizon,
        "DOUBLE": int(not single),
        "NODES": max(heats.CAPACITY, _round_up(heats.MERGED + kept)),
        "RECENT": _round_up(kept),
    }


def _round_up(count: int) -> int:
    return -(-count // 16) * 16
