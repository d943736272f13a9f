"""The functions of an exported twin, called from Python: for its test vectors, its bench and its tests."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.native.layout import address, aligned, make_struct

FloatArray = NDArray[np.float64]
Frame = tuple[FloatArray, FloatArray, FloatArray]  # x, y and T of a few pixels
NOTHING, PEAK, FRAME = 0, 1, 2  # what a measurement is
PREFIX = "laserloop_twin_"
COUNTS = ("faults", "units", "status", "measurement", "missed", "unmeasured", "iterations")  # in an answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TickInput:
    """`laserloop_twin_input` of laserloop_twin.h."""

    way: FloatArray  # (N_h + 1, 2), m
    dark: Sequence[bool]  # (N_h,)
    commanded: float = 0.0  # W, in the tick that ends now
    measured: float | None = None  # W, in it, by a meter
    age: int = 0  # ticks, of the measurement
    peak: float | None = None  # K, where there is no frame
    frame: Frame | None = None
    tick: int | None = None  # None: one more than the last


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TickAnswer:
    """`laserloop_twin_output` of laserloop_twin.h."""

    power: float  # W
    plan: FloatArray  # W
    predicted: FloatArray  # K
    place: tuple[float, float]  # m, of the peak
    gain: float
    faults: int
    units: int
    status: int
    measurement: int
    missed: int
    unmeasured: int
    iterations: int


class Deployed:
    """The functions of a library compiled from an exported folder, and one handle."""

    def __init__(self, library: ctypes.CDLL, horizon: int) -> None:
        double, whole, pointer = ctypes.c_double, ctypes.c_int, ctypes.c_void_p
        self._horizon = {"LASERLOOP_TWIN_HORIZON": horizon}
        self.out = self._make("output")  # of the last step
        self._library = library
        self._tick = 0  # of the last step
        signatures: dict[str, tuple[Any, tuple[Any, ...]]] = {
            **{"init": (whole, ()), "begin": (whole, 3 * (double,)), "end": (None, (pointer,))},
            **{"step": (double, 2 * (pointer,)), "set_window": (whole, 2 * (double,))},
            **{
                "status": (whole, (pointer,)),
                "measurement": (whole, (pointer,)),
                "faults": (ctypes.c_ulong, ()),
            },
        }
        self._functions = {name: library[PREFIX + name] for name in signatures}
        for name, (result, arguments) in signatures.items():
            self._functions[name].restype = result
            self._functions[name].argtypes = (pointer, *arguments)
        self._units = library[f"{PREFIX}units"]
        self._units.restype, self._units.argtypes = ctypes.c_long, (double,)
        size = library[f"{PREFIX}size"]
        size.restype = ctypes.c_size_t
        self.handle = aligned(size())
        self.init()

    def init(self) -> bool:
        """A plate at rest; False if this cannot work."""
        return bool(self._call("init") == 0)

    def begin(self, x: float, y: float, pause: float = 0.0) -> bool:
        """A layer, part or vector begins; False if that is no place or no pause."""
        return bool(self._call("begin", x, y, pause) == 0)

    def end(self, commanded: float | None = None, measured: float | None = None) -> None:
        """It is done; what the laser gave in the tick that ends now, W, if that was not the last answer."""
        last = None if commanded is None else self._lay_power(commanded, measured)
        self._call("end", None if last is None else address(last))

    def set_window(self, low: float, high: float) -> bool:
        """Another window, K; False if that is none."""
        return bool(self._call("set_window", low, high) == 0)

    def units(self, power: float) -> int:
        """A power in units of the laser's converter."""
        return int(self._units(power))

    def status(self) -> tuple[int, str]:
        """How the power of the last step was decided, and what that means."""
        return self._ask("status")

    def measurement(self) -> tuple[int, str]:
        """What became of the last measurement, and what that means."""
        return self._ask("measurement")

    @property
    def faults(self) -> int:
        """Bits of what was ever wrong since begin."""
        return int(self._call("faults"))

    def step(self, tick: TickInput) -> TickAnswer:
        """The power of the coming tick, and all that was thought about it."""
        given, out = self.lay(tick), self.out
        self._tick = int(given["tick"])
        power = self._call("step", address(given), address(out))
        return TickAnswer(
            power=float(power),
            plan=out["plan"].copy(),
            predicted=out["predicted"].copy(),
            place=(float(out["place"][0]), float(out["place"][1])),
            gain=float(out["gain"]),
            **{name: int(out[name]) for name in COUNTS},
        )

    def lay(self, tick: TickInput) -> NDArray[np.void]:
        """An input as C has it; it refers to the arrays of the frame, which must outlive it."""
        given = self._make("input")
        given["tick"] = (self._tick + 1 if tick.tick is None else tick.tick) % 2**32
        given["way"], given["dark"], given["age"] = tick.way, tick.dark, tick.age
        given["power"] = self._lay_power(tick.commanded, tick.measured)
        if tick.frame is not None:
            x, y, T = tick.frame
            given["seen"], given["columns"], given["rows"] = FRAME, len(x), len(y)
            given["x"], given["y"], given["T"] = x.ctypes.data, y.ctypes.data, T.ctypes.data
        elif tick.peak is not None:
            given["seen"], given["peak"] = PEAK, tick.peak
        return given

    def bind(self, given: NDArray[np.void]) -> Any:
        """A call without arguments that answers an input laid out before, into `out`: hardly more than C."""
        step = self._library[f"{PREFIX}step"]  # without types, because its arguments need no conversion
        step.restype = ctypes.c_double
        return partial(step, address(self.handle), address(given), address(self.out))

    def _make(self, name: str) -> NDArray[np.void]:
        """An empty struct of laserloop_twin.h."""
        return make_struct("laserloop_twin.h", PREFIX + name, self._horizon)

    def _lay_power(self, commanded: float, measured: float | None) -> NDArray[np.void]:
        power = self._make("power")
        metered = measured is not None
        power["commanded"], power["measured"], power["metered"] = commanded, measured or 0.0, metered
        return power

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._functions[name](address(self.handle), *arguments)

    def _ask(self, name: str) -> tuple[int, str]:
        sentence = ctypes.c_char_p()
        code = self._call(name, ctypes.byref(sentence))
        return int(code), (sentence.value or b"").decode()
