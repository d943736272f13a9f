"""The door of an exported twin, called from Python: for its test vectors, its bench and its tests."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Frame = tuple[FloatArray, FloatArray, FloatArray]  # x, y and T of a few pixels


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TickInput:
    """`laserloop_input` of laserloop_twin.h."""

    way: FloatArray  # (N_h + 1, 2), m
    dark: Sequence[bool]  # (N_h,)
    given: float = 0.0  # W, in the last tick
    age: int = -1  # ticks, of the measurement; negative: none
    peak: float = 0.0  # K, where there is no frame
    frame: Frame | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TickAnswer:
    """`laserloop_output` of laserloop_twin.h."""

    power: float  # W
    plan: FloatArray  # W
    predicted: FloatArray  # K
    place: tuple[float, float]  # m, of the peak
    gain: float
    units: int
    status: int
    iterations: int


class Deployed:
    """The functions of a library compiled from an exported folder."""

    def __init__(self, library: ctypes.CDLL, horizon: int) -> None:
        double, whole, pointer = ctypes.c_double, ctypes.c_int, ctypes.c_void_p
        self._library, self._n = library, horizon
        self._input: Any = type("Input", (ctypes.Structure,), {"_fields_": (
            ("way", double * (2 * horizon + 2)), ("dark", whole * horizon), ("given", double), ("age", whole),
            ("peak", double), ("columns", whole), ("rows", whole),
            *((name, pointer) for name in ("x", "y", "T")),
        )})  # fmt: skip
        output: Any = type("Output", (ctypes.Structure,), {"_fields_": (
            ("plan", double * horizon), ("predicted", double * horizon), ("place", double * 2),
            ("gain", double), ("units", ctypes.c_long), ("status", whole), ("iterations", whole),
        )})  # fmt: skip
        self.out = output()  # of the last step
        library.laserloop_step.restype = double
        library.laserloop_step.argtypes = (pointer, pointer)
        library.laserloop_begin.argtypes = (double, double, double)
        library.laserloop_set_window.argtypes = (double, double)
        library.laserloop_units.argtypes = (double,)
        library.laserloop_units.restype = ctypes.c_long
        self.init()

    def init(self) -> None:
        """A plate at rest."""
        self._library.laserloop_init()

    def begin(self, x: float, y: float, pause: float = 0.0) -> bool:
        """A layer or part begins; False if that is no place or no pause."""
        return bool(self._library.laserloop_begin(x, y, pause) == 0)

    def end(self) -> None:
        """The layer or part is done."""
        self._library.laserloop_end()

    def cleanup(self) -> None:
        """Forget everything."""
        self._library.laserloop_cleanup()

    def set_window(self, low: float, high: float) -> bool:
        """Another window, K; False if that is none."""
        return bool(self._library.laserloop_set_window(low, high) == 0)

    def units(self, power: float) -> int:
        """A power in units of the laser's converter."""
        return int(self._library.laserloop_units(power))

    def status(self) -> tuple[int, str]:
        """Of the last step, and what it means."""
        sentence = ctypes.c_char_p()
        code = self._library.laserloop_status(ctypes.byref(sentence))
        return int(code), (sentence.value or b"").decode()

    def step(self, tick: TickInput) -> TickAnswer:
        """The power of the coming tick, and all that was thought about it."""
        given, out = self.lay(tick), self.out
        power = self._library.laserloop_step(ctypes.byref(given), ctypes.byref(out))
        return TickAnswer(
            power=float(power),
            plan=np.array(out.plan),
            predicted=np.array(out.predicted),
            place=(out.place[0], out.place[1]),
            gain=out.gain,
            units=out.units,
            status=out.status,
            iterations=out.iterations,
        )

    def lay(self, tick: TickInput) -> Any:
        """An input as C has it; it refers to the arrays of the frame, which must outlive it."""
        given = self._input(given=tick.given, age=tick.age, peak=tick.peak)
        given.way[:] = np.ravel(tick.way).tolist()
        given.dark[:] = [int(dark) for dark in tick.dark]
        if tick.frame is not None:
            x, y, T = tick.frame
            given.columns, given.rows = len(x), len(y)
            given.x, given.y, given.T = x.ctypes.data, y.ctypes.data, T.ctypes.data
        return given

    def bind(self, given: Any) -> Any:
        """A call without arguments that answers an input laid out before, into `out`: C alone."""
        return partial(self._library.laserloop_step, ctypes.addressof(given), ctypes.addressof(self.out))
