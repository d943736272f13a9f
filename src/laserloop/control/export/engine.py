"""The exported C inside this process: one call per tick on buffers that are set up once."""

import ctypes
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.control.action import Status
from laserloop.control.export.compiler import NoCompiler, build_library
from laserloop.control.export.source import (
    ITERATIONS,
    find_blocks,
    find_dtype,
    problem_numbers,
    render_source,
)
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution
from laserloop.control.realtime_network import MATRICES, PackedNetwork, pack_network
from laserloop.predict.networks.model import Model

STATUSES = (Status.SOLVED, Status.STOPPED, Status.INFEASIBLE, Status.NO_PREDICTION)
ALIGNMENT = 64  # bytes, a cache line


class CEngine:
    """Answers questions like any solver. The library depends on the model's shape only."""

    name = "realtime"

    def __init__(
        self,
        model: Model,
        problem: MpcProblem,
        *,
        max_iterations: int = ITERATIONS,
        dtype: DTypeLike = np.float32,
        source: str | None = None,  # instead of what is exported: the same with clocks or counters in it
    ) -> None:
        """Raises NoCompiler where the library can be neither found nor built."""
        net = pack_network(model, problem, find_dtype(dtype))
        library = _load(source or render_source(net))
        horizon = net.horizon
        sizes = (ctypes.c_size_t * 3)()
        library.laserloop_sizes(sizes)
        network, wants = _lay_network(net), _lay_problem(problem, max_iterations)
        if [network.nbytes, wants.nbytes] != list(sizes)[:2]:
            raise NoCompiler(f"the library lays its numbers out in {list(sizes)} bytes, not as expected")
        self._work = _aligned(sizes[2])
        self._in, self._out = np.zeros(4 * horizon + horizon + 5 + horizon), np.zeros(2 * horizon + 2)
        self._ways, self._heat, rest = np.split(self._in, (4 * horizon, 5 * horizon + 1))
        self._ways = self._ways.reshape(horizon, 4)
        self._place, self._rest, self._start = rest[:2], rest[2:4], rest[4:]
        self.library = library
        self._kept = network, wants  # C has only their addresses
        buffers = network, wants, self._work, self._in, self._out
        self._solve = partial(library.laserloop_solve, *(ctypes.c_void_p(b.ctypes.data) for b in buffers))
        self._reset = partial(library.laserloop_reset, ctypes.c_void_p(self._work.ctypes.data))
        library.laserloop_prepare(ctypes.c_void_p(wants.ctypes.data))
        self._horizon = horizon
        self.reset()

    def reset(self) -> None:
        """Forget what was learned from earlier questions."""
        self._reset()

    def solve(self, question: Question) -> Solution:
        """The best plan found."""
        started = perf_counter()
        self.take(question)
        self.answer()
        answer, horizon = self._out.copy(), self._horizon
        return Solution(
            plan=answer[:horizon],
            predicted=answer[horizon : 2 * horizon],
            status=STATUSES[int(answer[-2])],
            iterations=int(answer[-1]),
            solve_s=perf_counter() - started,
        )

    def take(self, question: Question) -> None:
        """Copy a question to where C finds it."""
        known = question.network(self._horizon)
        self._ways[...] = known.kinematics
        self._heat[...] = known.temps
        self._place[...] = known.location
        self._start[...] = question.start
        count = len(question.committed)
        if count:
            count = min(count, self._horizon)
            self._start[:count] = question.committed[:count]
        self._rest[0] = question.previous
        self._rest[1] = count

    def answer(self) -> None:
        """The question taken, in C alone: what a machine without Python has to wait for."""
        self._solve()


def _load(source: str) -> Any:
    """The library of a source."""
    try:
        library = ctypes.CDLL(str(build_library(source, defines=("-DLASERLOOP_ENGINE",))))
    except OSError as error:
        raise NoCompiler(f"the library does not load: {error}") from error
    for name in ("laserloop_sizes", "laserloop_prepare", "laserloop_reset", "laserloop_solve"):
        getattr(library, name).restype = None
    return library


def _lay_network(net: PackedNetwork) -> NDArray[np.uint8]:
    """The bytes of the C struct `network`."""
    parts: list[NDArray[Any]] = [getattr(net, name) for name in MATRICES]
    parts += [net.kinematics_stats, net.trunk_stats, net.seen.astype(np.intc)]
    return _join(parts)


def _lay_problem(problem: MpcProblem, max_iterations: int) -> NDArray[np.uint8]:
    """The bytes of the C struct `problem`."""
    return _join(
        [np.array(problem_numbers(problem)), np.array([*find_blocks(problem), max_iterations], np.intc)]
    )


def _join(parts: list[NDArray[Any]]) -> NDArray[np.uint8]:
    """Arrays one after another, the whole padded as C pads a struct of doubles."""
    data = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    block = _aligned(-(-len(data) // 8) * 8)
    block[: len(data)] = np.frombuffer(data, np.uint8)
    return block


def _aligned(count: int) -> NDArray[np.uint8]:
    """Zeroed bytes that begin at a cache line."""
    block = np.zeros(count + ALIGNMENT, np.uint8)
    first = -block.ctypes.data % ALIGNMENT
    return block[first : first + count]
