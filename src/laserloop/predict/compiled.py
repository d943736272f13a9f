"""The compiled predictor: one window at a time, for who cannot wait.

A network is computed as matrix-vector products that skip what ReLU made zero.

A network lies in one flat vector, layer by layer: the matrix (in, out), then the bias (out). The weights are
float32, as they come from memory, and all arithmetic is double: float32 sums would differ by 1e-4 K.

x, y standardised features      w width      p basis      m outputs      H hidden units of the LSTM
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from laserloop.predict.model import Model, Scalers
from laserloop.predict.networks import BRANCH, ROW, TRUNK, FloatArray, Lstm, MsDeepONet, SsAr, Weights

Vector = NDArray[np.float32]
Double = NDArray[np.float64]
Sizes = tuple[int, int, int]
Stats = tuple[Double, Double, Double]  # means (row 0) and spreads (row 1) of branch, trunk and target
FAST = {"contract", "reassoc", "nsz"}  # sums in any order; NaN and infinity stay what they are


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_rows(flat: Vector, first: int, x: Double, out: Double) -> None:
    """out += Wᵀx, four rows of W at a time, so that `out` is read and written a quarter as often."""
    n, count = len(out), 0
    active = np.empty(len(x) + 1, np.int64)
    for i in range(len(x)):
        active[count] = i
        count += x[i] != 0
    for k in range(0, count - 3, 4):
        i0, i1, i2, i3 = active[k], active[k + 1], active[k + 2], active[k + 3]
        row0 = flat[first + i0 * n : first + (i0 + 1) * n]
        row1 = flat[first + i1 * n : first + (i1 + 1) * n]
        row2 = flat[first + i2 * n : first + (i2 + 1) * n]
        row3 = flat[first + i3 * n : first + (i3 + 1) * n]
        x0, x1, x2, x3 = x[i0], x[i1], x[i2], x[i3]
        for j in range(n):
            out[j] += (x0 * row0[j] + x1 * row1[j]) + (x2 * row2[j] + x3 * row3[j])
    for k in range(count // 4 * 4, count):
        i0 = active[k]
        row0, x0 = flat[first + i0 * n : first + (i0 + 1) * n], x[i0]
        for j in range(n):
            out[j] += x0 * row0[j]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def layer(flat: Vector, first: int, x: Double, n: int) -> Double:
    """Wᵀx + b, (n,), with W and b from `first` on."""
    bias = first + len(x) * n
    out = flat[bias : bias + n].astype(np.float64)
    add_rows(flat, first, x, out)
    return out


@njit(cache=True, error_model="numpy", fastmath=FAST)
def perceptron(flat: Vector, first: int, x: Double, width: int, n: int) -> Double:
    """Two hidden layers with ReLU and a linear one, (n,)."""
    one = np.maximum(layer(flat, first, x, width), 0.0)
    first += (len(x) + 1) * width
    two = np.maximum(layer(flat, first, one, width), 0.0)
    return layer(flat, first + (width + 1) * width, two, n)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def deeponet_window(flat: Vector, sizes: Sizes, x: Double, y: Double) -> Double:
    """Σ_j B_ij(x) T_j(y) + b_i, (m,); `sizes` are w, p and m."""
    width, p, m = sizes
    trunk = (len(x) + 1) * width + (width + 1) * (width + m * p)
    B = perceptron(flat, 0, x, width, m * p)
    T = perceptron(flat, trunk, y, width, p)
    out = flat[len(flat) - m :].astype(np.float64)
    for i in range(m):
        row = B[i * p : (i + 1) * p]
        for j in range(p):
            out[i] += row[j] * T[j]
    return out


@njit(cache=True, error_model="numpy", fastmath=FAST)
def lstm_window(flat: Vector, sizes: Sizes, x: Double, y: Double) -> Double:
    """The read-out after every row of x, (m,); `sizes` are H, the row's length and m.

    `flat`: the state's rows and both biases, the plan's rows, the hidden rows, the read-out and its bias.
    """
    H, row, m = sizes
    plan = (len(y) + 1) * 4 * H
    hidden = plan + row * 4 * H
    readout = flat[hidden + H * 4 * H :]
    state = layer(flat, 0, y, 4 * H)  # the same at every tick
    h, c, out = np.zeros(H), np.zeros(H), np.empty(m)
    for k in range(m):
        gates = state.copy()
        add_rows(flat, plan, x[k * row : (k + 1) * row], gates)
        add_rows(flat, hidden, h, gates)
        out[k] = readout[H]
        for u in range(H):
            enter, forget, leave = logistic(gates[u]), logistic(gates[H + u]), logistic(gates[3 * H + u])
            c[u] = forget * c[u] + enter * math.tanh(gates[2 * H + u])
            h[u] = leave * math.tanh(c[u])
            out[k] += readout[u] * h[u]
    return out


@njit(cache=True, error_model="numpy", fastmath=FAST)
def logistic(x: float) -> float:
    """1/(1 + e⁻ˣ) = (1 + tanh(x/2))/2, which cannot overflow."""
    return 0.5 * math.tanh(0.5 * x) + 0.5


@njit(cache=True, error_model="numpy")
def scale(values: Double, stats: Double) -> Double:
    """(values − mean)/std; `stats` are the means (row 0) and spreads (row 1)."""
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = (values[i] - stats[0, i]) / stats[1, i]
    return out


@njit(cache=True, error_model="numpy")
def unscale(values: Double, stats: Double) -> Double:
    """values · std + mean."""
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = values[i] * stats[1, i] + stats[0, i]
    return out


@njit(cache=True, error_model="numpy")
def observe(seen: NDArray[np.int64], temps: Double, location: Double) -> Double:
    """The trunk's raw features: the entries `seen` of the temperatures and the peak's place, side by side."""
    out = np.empty(len(seen))
    for i in range(len(seen)):
        beyond = seen[i] - len(temps)
        out[i] = temps[seen[i]] if beyond < 0 else location[beyond]
    return out


@njit(cache=True, error_model="numpy")
def run_ms_deeponet(
    flat: Vector,
    sizes: Sizes,
    stats: Stats,
    seen: NDArray[np.int64],
    branch: Double,
    temps: Double,
    location: Double,
) -> Double:
    """The horizon in one evaluation."""
    x, y = scale(branch.ravel(), stats[0]), scale(observe(seen, temps, location), stats[1])
    return unscale(deeponet_window(flat, sizes, x, y), stats[2])


@njit(cache=True, error_model="numpy")
def run_ss_ar(
    flat: Vector,
    sizes: Sizes,
    stats: Stats,
    seen: NDArray[np.int64],
    branch: Double,
    temps: Double,
    location: Double,
) -> Double:
    """Tick by tick, each from the prediction of the one before."""
    out = np.empty(len(branch))
    hottest = temps[:1]
    for k in range(len(branch)):
        x, y = scale(branch[k], stats[0]), scale(hottest, stats[1])
        hottest = unscale(deeponet_window(flat, sizes, x, y), stats[2])
        out[k] = hottest[0]
    return out


@njit(cache=True, error_model="numpy")
def run_lstm(
    flat: Vector,
    sizes: Sizes,
    stats: Stats,
    seen: NDArray[np.int64],
    branch: Double,
    temps: Double,
    location: Double,
) -> Double:
    """The horizon in one pass."""
    x, y = scale(branch.ravel(), stats[0]), scale(temps, stats[1])
    return unscale(lstm_window(flat, sizes, x, y), stats[2])


Predict = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def make_predictor(model: Model) -> Predict:
    """A function of one window: plan (N_h, 5), temperatures (1 + N_h), peak (2) → T_max (N_h), K.

    Compiled where the architecture has a kernel, otherwise by NumPy.
    The arrays must be contiguous float64.
    """
    architecture, weights = model.architecture, model.weights
    horizon = architecture.horizon
    match architecture:
        case MsDeepONet(width=width, basis=basis, seen=seen):
            run, flat, sizes = run_ms_deeponet, pack_deeponet(weights), (width, basis, horizon)
        case SsAr(width=width, basis=basis):
            run, flat, sizes, seen = run_ss_ar, pack_deeponet(weights), (width, basis, 1), range(1)
        case Lstm(hidden=hidden):
            run, flat, sizes, seen = run_lstm, pack_lstm(weights), (hidden, ROW, horizon), range(1 + horizon)
        case _:
            return partial(_predict_one, model)
    stats = pack_scalers(model.scalers)
    places = np.array(seen, np.int64)

    def predict(branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        return run(flat, sizes, stats, places, branch, temps, location)

    return predict


def _predict_one(model: Model, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
    (found,) = model.predict(branch[np.newaxis], temps[np.newaxis], location[np.newaxis])
    return np.asarray(found)


def pack_deeponet(weights: Weights) -> NDArray[np.float32]:
    """Both networks and the last bias as one vector in the order of the kernels."""
    parts = [part for weight, bias in (*BRANCH, *TRUNK) for part in (weights[weight].T, weights[bias])]
    return _join(*parts, weights["bias"])


def pack_lstm(weights: Weights) -> NDArray[np.float32]:
    """The recurrent layer and the read-out as one vector in the order of the kernels."""
    rows = weights["input.weight"].T
    bias = weights["input.bias"] + weights["hidden.bias"]
    readout = weights["readout.weight"], weights["readout.bias"]
    return _join(rows[ROW:], bias, rows[:ROW], weights["hidden.weight"].T, *readout)


def pack_scalers(scalers: Scalers) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means and spreads of the branch, the trunk and the target."""
    branch, trunk, target = (
        np.stack((scaler.mean, scaler.std)) for scaler in (scalers.branch, scalers.trunk, scalers.target)
    )
    return branch, trunk, target


def _join(*parts: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.concatenate([part.ravel() for part in parts])
