"""The compiled twin along a path without a camera: many ticks in one call, its own forecast as truth."""

import ctypes

import numpy as np
from numpy.typing import NDArray

from laserloop.control.problem import MpcProblem
from laserloop.native.engine import address
from laserloop.native.twin import load_twin
from laserloop.predict.twin import TwinPredictor

FloatArray = NDArray[np.float64]
State = NDArray[np.uint8]


class TwinPlayer:
    """Plans powers, or follows given ones; raises NoCompiler where it cannot be built."""

    def __init__(self, twin: TwinPredictor, problem: MpcProblem, *, gain: float = 1.0) -> None:
        """`gain`: measured over expected, where it is known beforehand."""
        self.horizon, self.tick = problem.horizon, twin.process.tick
        self._gain = gain
        self._library, self._process, self._problem, self._memory = load_twin(twin, problem)
        self.reset()

    def reset(self) -> None:
        """A plate at rest."""
        self._library.laserloop_start(*self._parts())
        self._library.laserloop_trust(address(self._memory), ctypes.c_double(self._gain))

    def save(self) -> State:
        """All that is known now."""
        return self._memory.copy()

    def restore(self, state: State) -> None:
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
