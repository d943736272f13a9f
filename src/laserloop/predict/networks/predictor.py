"""The compiled predictor: one window at a time, for a controller that cannot wait."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.networks.architecture import ROW, Weights
from laserloop.predict.networks.deeponet import LAYERS
from laserloop.predict.networks.kernels import run_lstm, run_ms_deeponet, run_ss_ar
from laserloop.predict.networks.lstm import Lstm
from laserloop.predict.networks.model import Model, Scalers
from laserloop.predict.networks.ms_deeponet import MsDeepONet
from laserloop.predict.networks.ss_ar import SsAr

FloatArray = NDArray[np.float64]
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
    layers = [f"{net}.{layer}" for net in ("branch", "trunk") for layer in range(LAYERS)]
    parts = [part for name in layers for part in (weights[f"{name}.weight"].T, weights[f"{name}.bias"])]
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
