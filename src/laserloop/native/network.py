"""The packed network: an MS-DeepONet laid out for the compiled solver, scalers and last trunk layer inside.

N  horizon      w  width, padded      f  trunk features      x̄, ȳ  standardised kinematics and trunk features

Once per tick   a = a₀ + Kᵀx̄,  h = σ(T₁ᵀσ(T₀ᵀȳ + t₀) + t₁),  [C | c] = m₀ + MᵀT₂ᵀh
Every plan      T̂ = C σ(Wᵀσ(Aᵀp + a) + b) + c       p plan in units of P_max, T̂ in K

σ(z) = ½(z + √(z² + ε)), the smooth rectifier of the reference, in branch and trunk. The trunk's last layer is
linear, so it is contracted with the branch's when the model is packed; what that makes is of low rank, and is
kept as the product T₂ M of its largest singular values, which is half as much to read in a tick. Matrices are
(in, out): a layer adds up rows, which vectorises without reordering a sum.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem

if TYPE_CHECKING:
    from laserloop.predict.model import Model
    from laserloop.predict.networks import MsDeepONet

FloatArray = NDArray[np.float64]
RealArray = NDArray[np.floating]

LONGEST = 10  # ticks; the QP's work grows with the cube
MATRICES = ("K", "a", "T0", "t0", "T1", "t1", "T2", "M", "m", "A", "W", "b")  # as in the C struct
LANES = 16  # floats in two AVX2 registers or one cache line
RANK = {"float32": 3e-5, "float64": 1e-9}  # smallest singular value kept, of the largest; 1 mK in single
ASLEEP = -1.0  # bias of a padding unit: no weight leaves it, and it is skipped as inactive


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackedNetwork:
    """Symbols as in the header; `real` arrays have the dtype of the network's arithmetic."""

    horizon: int
    width: int  # padded
    kinematics_stats: FloatArray  # (2, 4N): mean and 1/std
    trunk_stats: FloatArray  # (2, f)
    seen: NDArray[np.int64]  # (f,): the trunk's entries of temperatures and peak, side by side
    K: RealArray  # (4N, w)
    a: RealArray  # (w,)
    T0: RealArray  # (f, w)
    t0: RealArray  # (w,)
    T1: RealArray  # (w, w)
    t1: RealArray  # (w,)
    T2: RealArray  # (w, rank, padded)
    M: RealArray  # (rank, padded, N w + pad): C row by row, then c
    m: RealArray  # (N w + pad,)
    A: RealArray  # (N, w)
    W: RealArray  # (w, w)
    b: RealArray  # (w,)


def pack_network(model: "Model", problem: MpcProblem, dtype: DTypeLike) -> PackedNetwork:
    """Lay a model out for a problem."""
    architecture = check_packable(model, problem)
    horizon = architecture.horizon
    weights, scalers = model.double, model.scalers
    width = pad(architecture.width)
    first = weights["branch.0.weight"].T  # (5N, w)
    from laserloop.predict.networks import ROW

    ways = np.arange(ROW * horizon) % ROW > 0
    mean, std = scalers.branch.mean, scalers.branch.std
    a = weights["branch.0.bias"] - (mean / std)[~ways] @ first[~ways]
    real = np.dtype(dtype)
    full, m = _contract(model, architecture, width)
    T2, M = _factor(full, RANK[real.name])

    def lay(matrix: FloatArray, rows: int | None = None, fill: float = 0.0) -> RealArray:
        """Pad the last axis to `width` and, if asked, the first to `rows`."""
        full = np.full((*matrix.shape[:-1], width), fill)
        full[..., : matrix.shape[-1]] = matrix
        if rows is not None:
            full = np.concatenate((full, np.zeros((rows - len(full), width))))
        return np.ascontiguousarray(full, real)

    return PackedNetwork(
        horizon=horizon,
        width=width,
        kinematics_stats=np.stack((mean[ways], 1.0 / std[ways])),
        trunk_stats=np.stack((scalers.trunk.mean, 1.0 / scalers.trunk.std)),
        seen=np.array(architecture.seen, np.int64),
        K=lay(first[ways]),
        a=lay(a, fill=ASLEEP),
        T0=lay(weights["trunk.0.weight"].T),
        t0=lay(weights["trunk.0.bias"], fill=ASLEEP),
        T1=lay(weights["trunk.1.weight"].T, rows=width),
        t1=lay(weights["trunk.1.bias"], fill=ASLEEP),
        T2=np.ascontiguousarray(T2, real),
        M=np.ascontiguousarray(M, real),
        m=np.ascontiguousarray(m, real),
        A=lay(first[~ways] / std[~ways, np.newaxis] * problem.power[1]),
        W=lay(weights["branch.1.weight"].T, rows=width),
        b=lay(weights["branch.1.bias"], fill=ASLEEP),
    )


def check_packable(model: "Model", problem: MpcProblem) -> "MsDeepONet":
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


def pad(count: int) -> int:
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
    full = np.zeros((width + 1, horizon * width + pad(horizon)))
    for row, (matrix, offset) in zip((*range(units), width), zip(C, c, strict=True), strict=True):
        full[row, : horizon * width].reshape(horizon, width)[:, :units] = matrix
        full[row, horizon * width : horizon * width + horizon] = offset
    return full[:-1], full[-1]


def _factor(full: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """T₂ (w, r) and M (r, N w + pad) with T₂M = `full`, but for its smallest singular values."""
    if not np.isfinite(full).all():  # such a model predicts NaN, and the solver leaves the laser off
        return np.eye(len(full), pad(len(full))), np.pad(full, ((0, pad(len(full)) - len(full)), (0, 0)))
    left, values, right = np.linalg.svd(full, full_matrices=False)
    rank = pad(max(1, int((values > least * values[0]).sum())))
    T2, M = np.zeros((len(full), rank)), np.zeros((rank, full.shape[1]))
    kept = min(rank, len(values))
    root = np.sqrt(values[:kept])
    T2[:, :kept], M[:kept] = left[:, :kept] * root, root[:, np.newaxis] * right[:kept]
    return T2, M
