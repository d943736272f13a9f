"""The network's solver compiled: a model laid out for it, and one call per tick.

The packed network is an MS-DeepONet with scalers and last trunk layer inside; the C struct `network`.

N  horizon      w  width, padded      f  trunk features      x̄, ȳ  standardised kinematics and trunk features

Once per tick   a = a₀ + Kᵀx̄,  h = σ(T₁ᵀσ(T₀ᵀȳ + t₀) + t₁),  [C | c] = m₀ + MᵀT₂ᵀh
Every plan      T̂ = C σ(Wᵀσ(Aᵀp + a) + b) + c       p plan in units of P_max, T̂ in K

σ(z) = ½(z + √(z² + ε)), the smooth rectifier of the reference, in branch and trunk. The trunk's last layer is
linear, so it is contracted with the branch's when the model is packed; what that makes is of low rank, and is
kept as the product T₂ M of its largest singular values, which is half as much to read in a tick. Matrices are
(in, out): a layer adds up rows, which vectorises without reordering a sum.
"""

import ctypes
from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.problem import Adjusting, MpcProblem, Question, Solution
from laserloop.native.build import NoCompiler, load_library
from laserloop.native.layout import (
    CONFIG,
    ENGINE,
    ITERATIONS,
    STATUSES,
    address,
    aligned,
    define,
    find_dtype,
    make_struct,
    pack_problem,
    read_source,
)

if TYPE_CHECKING:
    from laserloop.predict.model import Model
    from laserloop.predict.networks import MsDeepONet

FloatArray = NDArray[np.float64]

LONGEST = 10  # ticks; the QP's work grows with the cube
LANES = 16  # floats in two AVX2 registers or one cache line
RANK = {"float32": 3e-5, "float64": 1e-9}  # smallest singular value kept, of the largest; 1 mK in single
ASLEEP = -1.0  # bias of a padding unit: no weight leaves it, and it is skipped as inactive
RATIO = 50  # of medians over 360 ticks of closed loops, 1.5 ms in NumPy and 31 µs in C; hard ticks more
PARTS = ("network", "working_set", "qp", "costs", "kinks", "tick", "sqp")
UNIT = ("laserloop.c", "types.h", *(f"{part}.c" for part in PARTS))  # what every build needs
DOORS = ("sizes", "prepare", "reset", "solve", "linearise", "minimise")


class RealtimeSolver:
    """Answers in tens of microseconds; without a compiler, by the readable SQP, about RATIO times later."""

    name = "realtime"

    def __init__(
        self,
        model: "Model",
        problem: MpcProblem,
        *,
        max_iterations: int = ITERATIONS,
        dtype: DTypeLike = np.float32,  # of the network in C; the QP is always double
    ) -> None:
        _check_packable(model, problem)
        self.notes: tuple[str, ...] = ()  # what a person should know of this run
        self._solver: Adjusting
        try:
            self._solver = CEngine(model, problem, max_iterations=max_iterations, dtype=dtype)
        except NoCompiler as missing:
            from laserloop.control.sqp import SqpSolver

            self._solver = SqpSolver(problem, max_iterations=max_iterations)
            self.notes = (
                f"realtime answers by its slow NumPy solver, since there is no compiled one ({missing}); "
                f"with a C compiler it would answer about {RATIO} times faster",
            )
        self.compiled = isinstance(self._solver, CEngine)
        self._warm_up(model, problem)

    def reset(self) -> None:
        """Forget what was learned from earlier questions."""
        self._solver.reset()

    def set_problem(self, problem: MpcProblem) -> None:
        """Solve this from now on; only window and margins may differ."""
        self._solver.set_problem(problem)

    def solve(self, question: Question) -> Solution:
        """The best plan found."""
        return self._solver.solve(question)

    def _warm_up(self, model: "Model", problem: MpcProblem) -> None:
        """Load what is needed before the first tick, not in it."""
        from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

        n = problem.horizon
        known = WindowForecast(
            kinematics=np.zeros((n, 4)),
            temps=np.full(1 + n, 300.0),
            location=np.zeros(2),
            previous=0.0,
            committed=np.empty(0),
            model=model,
            folder=Folding(model, smoothing=SMOOTHING),
        )
        middle = np.full(n, 0.5 * sum(problem.power))
        self.solve(Question(forecast=known, start=middle, lit=np.ones(n, np.bool_)))
        self.reset()


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
        library = load_library(sources or list_sources(net), UNIT[0], defines=ENGINE)
        for name in DOORS:
            getattr(library, f"laserloop_{name}").restype = None
        n = self._horizon = problem.horizon
        sizes = (ctypes.c_size_t * 4)()
        library.laserloop_sizes(sizes)
        wants = pack_problem(problem, max_iterations)
        if [net.nbytes, wants.nbytes] != list(sizes)[:2]:
            raise NoCompiler(f"the library lays its numbers out in {list(sizes)} bytes, not as expected")
        self.library, self.kinks = library, int(sizes[3])
        self._work = aligned(sizes[2])
        self._in, self._out = np.zeros(8 * n + 6), np.zeros(2 * n + 2)
        parts = np.split(self._in, np.cumsum([4 * n, n + 1, 2, 1, n, 1, n]))
        self._ways, self._heat, self._place, self._previous, self._start, self._first, self._lit = parts[:7]
        self._resumes = parts[7]
        self._ways = self._ways.reshape(n, 4)
        self._kept = net, wants  # C has only their addresses
        self._wants, self._workspace = address(wants), address(self._work)
        self._network = address(net)
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
        self._kept[1][...] = pack_problem(problem, self._max_iterations)
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


def list_sources(net: NDArray[np.void]) -> dict[str, str]:
    """The texts of a library, by file name."""
    names = (*UNIT, "engine.c")
    return {CONFIG: define(size_network(net)), **{name: read_source(name) for name in names}}


def size_network(net: NDArray[np.void]) -> dict[str, object]:
    """What a compiler must know of a network."""
    from laserloop.predict.window import SMOOTHING

    return {
        "HORIZON": len(net["A"]),
        "WIDTH": len(net["a"]),
        "FEATURES": len(net["seen"]),
        "RANK": len(net["M"]),
        "DOUBLE": int(net["W1"].dtype == np.float64),
        "SMOOTHING": repr(SMOOTHING),
    }


def pack_network(model: "Model", problem: MpcProblem, dtype: DTypeLike) -> NDArray[np.void]:
    """A model laid out for a problem: the C struct `network`, with symbols as in the header."""
    architecture = _check_packable(model, problem)
    horizon, seen = architecture.horizon, architecture.seen
    weights, scalers = model.double, model.scalers
    width = _pad(architecture.width)
    first = weights["branch.0.weight"].T  # (5N, w)
    from laserloop.predict.networks import ROW

    ways = np.arange(ROW * horizon) % ROW > 0
    mean, std = scalers.branch.mean, scalers.branch.std
    real = np.dtype(dtype)
    full, m = _contract(model, architecture, width)
    T2, M = _factor(full, RANK[real.name])
    sizes = {"N": horizon, "W": width, "F": len(seen), "RANK": len(M), "S": len(m)}
    net = make_struct("types.h", "network", sizes, real=real)
    for name in "a", "t0", "t1", "b":
        net[name] = ASLEEP
    parts = {
        "K": first[ways],
        "a": weights["branch.0.bias"] - (mean / std)[~ways] @ first[~ways],
        "T0": weights["trunk.0.weight"].T,
        "t0": weights["trunk.0.bias"],
        "T1": weights["trunk.1.weight"].T,
        "t1": weights["trunk.1.bias"],
        **{"T2": T2, "M": M, "m": m},
        "A": first[~ways] / std[~ways, np.newaxis] * problem.power[1],
        "W1": weights["branch.1.weight"].T,
        "b": weights["branch.1.bias"],
        **{"way_mean": mean[ways], "way_scale": 1.0 / std[ways]},
        **{"heat_mean": scalers.trunk.mean, "heat_scale": 1.0 / scalers.trunk.std, "seen": seen},
    }
    for name, part in parts.items():
        net[name][tuple(map(slice, np.shape(part)))] = part
    return net


def _check_packable(model: "Model", problem: MpcProblem) -> "MsDeepONet":
    """The architecture of a model that the solver takes for a problem; others are refused."""
    from laserloop.predict.window import check_foldable

    architecture = check_foldable(model)
    horizon = architecture.horizon
    if problem.horizon != horizon:
        raise BadInput(
            f"the problem must have the model's horizon of {horizon} ticks, got {problem.horizon}: change one"
        )
    if horizon > LONGEST:
        raise BadInput(
            f"the realtime solver takes horizons of 1 to {LONGEST} ticks, got {horizon}: use ipopt"
        )
    return architecture


def _pad(count: int) -> int:
    """The next multiple of LANES."""
    return -(-count // LANES) * LANES


def _contract(model: "Model", architecture: "MsDeepONet", width: int) -> tuple[FloatArray, FloatArray]:
    """T₂M (w, N w + pad) and m₀: [C | c] as an affine function of the trunk's second hidden layer."""
    weights, target = model.double, model.scalers.target
    horizon, units = architecture.horizon, architecture.width
    last = weights["branch.2.weight"].reshape(horizon, architecture.basis, units)
    bias = weights["branch.2.bias"].reshape(horizon, architecture.basis)
    t = np.column_stack(
        (weights["trunk.2.weight"], weights["trunk.2.bias"])
    ).T  # (w + 1, p): rows of h, then 1
    C = np.einsum("kp,ipw->kiw", t, last) * target.std[:, np.newaxis]
    c = t @ bias.T * target.std
    c[-1] += weights["bias"] * target.std + target.mean
    full = np.zeros((width + 1, horizon * width + _pad(horizon)))
    for row, (matrix, offset) in zip((*range(units), width), zip(C, c, strict=True), strict=True):
        full[row, : horizon * width].reshape(horizon, width)[:, :units] = matrix
        full[row, horizon * width : horizon * width + horizon] = offset
    return full[:-1], full[-1]


def _factor(full: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """T₂ (w, r) and M (r, N w + pad) with T₂M = `full`, but for its smallest singular values."""
    if not np.isfinite(full).all():  # such a model predicts NaN, and the solver leaves the laser off
        return np.eye(len(full), _pad(len(full))), np.pad(full, ((0, _pad(len(full)) - len(full)), (0, 0)))
    left, values, right = np.linalg.svd(full, full_matrices=False)
    rank = _pad(max(1, int((values > least * values[0]).sum())))
    T2, M = np.zeros((len(full), rank)), np.zeros((rank, full.shape[1]))
    kept = min(rank, len(values))
    root = np.sqrt(values[:kept])
    T2[:, :kept], M[:kept] = left[:, :kept] * root, root[:, np.newaxis] * right[:kept]
    return T2, M
