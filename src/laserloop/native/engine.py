"""The compiled C inside this process: one call per tick on buffers that are set up once."""

import ctypes
from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question, Solution
from laserloop.native.build import NoCompiler, load_library
from laserloop.native.network import MATRICES, PackedNetwork, pack_network
from laserloop.native.render import (
    CONFIG,
    ITERATIONS,
    UNIT,
    find_dtype,
    problem_numbers,
    read_source,
    render_sizes,
)

if TYPE_CHECKING:
    from laserloop.predict.model import Model

FloatArray = NDArray[np.float64]

STATUSES = (Status.SOLVED, Status.STOPPED, Status.INFEASIBLE, Status.NO_PREDICTION)
ALIGNMENT = 64  # bytes, a cache line
DOORS = ("sizes", "prepare", "reset", "solve", "linearise", "minimise")


class CEngine:
    """Answers questions like any solver. The library depends on the model's shape only."""

    name = "realtime"

    def __init__(
        self,
        model: "Model",
        problem: MpcProblem,
        *,
        max_iterations: int = ITERATIONS,
        dtype: DTypeLike = np.float32,  # of the network; the QP is always double
        sources: Mapping[str, str] | None = None,  # instead of the package's: with clocks or counters in them
    ) -> None:
        """Raises NoCompiler where the library can be neither found nor built."""
        net = pack_network(model, problem, find_dtype(dtype))
        library = _load(sources or list_sources(net))
        n = self._horizon = net.horizon
        sizes = (ctypes.c_size_t * 4)()
        library.laserloop_sizes(sizes)
        network, wants = _lay_network(net), lay_problem(problem, max_iterations)
        if [network.nbytes, wants.nbytes] != list(sizes)[:2]:
            raise NoCompiler(f"the library lays its numbers out in {list(sizes)} bytes, not as expected")
        self.library, self.kinks = library, int(sizes[3])
        self._work = aligned(sizes[2])
        self._in, self._out = np.zeros(8 * n + 6), np.zeros(2 * n + 2)
        parts = np.split(self._in, np.cumsum([4 * n, n + 1, 2, 1, n, 1, n]))
        self._ways, self._heat, self._place, self._previous, self._start, self._first, self._lit = parts[:7]
        self._resumes = parts[7]
        self._ways = self._ways.reshape(n, 4)
        self._kept = network, wants  # C has only their addresses
        self._wants, self._workspace = address(wants), address(self._work)
        self._network = address(network)
        self._solve = partial(
            library.laserloop_solve,
            *(self._network, self._wants, self._workspace),
            *(address(self._in), address(self._out)),
        )
        self._reset = partial(library.laserloop_reset, self._workspace)
        self._max_iterations = max_iterations
        library.laserloop_prepare(self._wants)
        self.reset()

    def set_problem(self, problem: MpcProblem) -> None:
        """Solve this from now on; only window and margins may differ."""
        self._kept[1][:] = lay_problem(problem, self._max_iterations)
        self.library.laserloop_prepare(self._wants)

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
        count = min(len(question.committed), self._horizon)
        if count:
            self._start[:count] = question.committed[:count]
        self._previous[0] = question.previous
        self._first[0] = count
        self._lit[...] = question.lit
        self._resumes[0] = question.resumes

    def answer(self) -> None:
        """The question taken, in C alone: what a machine without Python has to wait for."""
        self._solve()

    def linearise(self, question: Question, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂ (N,), K, of a plan in units of P_max, and its slopes (N, N), K."""
        n = self._horizon
        out, at = np.zeros(n + n * n), np.ascontiguousarray(plan, np.float64)
        self.take(question)
        self.library.laserloop_linearise(
            self._network, self._workspace, address(self._in), address(at), address(out)
        )
        return out[:n], out[n:].reshape(n, n)

    def minimise(self, asked: FloatArray) -> FloatArray:
        """The QP alone, numbers in and out as in engine.c."""
        out = np.zeros(self._horizon + 2 * (2 * self._horizon + self.kinks) + 1)
        self.library.laserloop_minimise(self._wants, self._workspace, address(asked), address(out))
        return out


def list_sources(net: PackedNetwork) -> dict[str, str]:
    """The texts of a library, by file name."""
    names = (*UNIT, "engine.c")
    return {CONFIG: render_sizes(net), **{name: read_source(name) for name in names}}


def address(array: NDArray[Any]) -> ctypes.c_void_p:
    """Where an array lies; it must outlive the address."""
    return ctypes.c_void_p(array.ctypes.data)


def _load(sources: Mapping[str, str]) -> Any:
    library = load_library(sources, UNIT[0], defines=("-DLASERLOOP_ENGINE",))
    for name in DOORS:
        getattr(library, f"laserloop_{name}").restype = None
    return library


def _lay_network(net: PackedNetwork) -> NDArray[np.uint8]:
    """The bytes of the C struct `network`."""
    parts: list[NDArray[Any]] = [getattr(net, name) for name in MATRICES]
    parts += [net.kinematics_stats, net.trunk_stats, net.seen.astype(np.intc)]
    return _join(parts)


def lay_problem(problem: MpcProblem, max_iterations: int) -> NDArray[np.uint8]:
    """The bytes of the C struct `problem`."""
    return _join(
        [np.array(problem_numbers(problem)), np.array([*range(problem.horizon), max_iterations], np.intc)]
    )


def _join(parts: list[NDArray[Any]]) -> NDArray[np.uint8]:
    """Arrays one after another, the whole padded as C pads a struct of doubles."""
    data = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    block = aligned(-(-len(data) // 8) * 8)
    block[: len(data)] = np.frombuffer(data, np.uint8)
    return block


def aligned(count: int) -> NDArray[np.uint8]:
    """Zeroed bytes that begin at a cache line."""
    block = np.zeros(count + ALIGNMENT, np.uint8)
    first = -block.ctypes.data % ALIGNMENT
    return block[first : first + count]
