"""Calibration: how far a model's one-tick prediction falls short of the truth, as a margin in kelvin."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data import open_store
from laserloop.data.ensemble import EXCITATIONS
from laserloop.data.windows import Windows, cut_windows, split_windows
from laserloop.predict.model import Model

FloatArray = NDArray[np.float64]

QUANTILE = 0.95
CHUNK = 20_000  # windows predicted at once


def calibrate(model: Model, data: str | Path, *, quantile: float = QUANTILE) -> dict[str, Any]:
    """δ on the held-out part of the windows of a store: over all of them and for each excitation, K.

    The split is the one of the model's training, so that no window it learned from is counted.
    """
    if not 0 < quantile < 1:
        raise BadInput(f"the quantile must lie between 0 and 1, got {quantile:g}: choose 0.95")
    training = model.provenance.get("training", {})
    windows = cut_windows(
        open_store(data),
        model.architecture.horizon,
        reading=model.reading,
        sampling=model.sampling,
    )
    _, held = split_windows(
        windows,
        seed=training.get("seed", 0),
        by=training.get("split", "window"),
        share=training.get("held_out", 0.2),
    )
    kept = windows.take(held)
    residual = find_residuals(model, kept)
    per_excitation = {
        str(kind): margins(residual[kept.excitation == code], quantile)
        for code, kind in enumerate(EXCITATIONS)
        if (kept.excitation == code).any()
    }
    return {
        **margins(residual, quantile),
        "windows": len(residual),
        "quantile": quantile,
        "per_excitation": per_excitation,
        "largest_under_prediction_k": float(max(residual.max(), 0.0)),
    }


def find_residuals(model: Model, windows: Windows) -> FloatArray:
    """Truth minus prediction of T_max one tick ahead, K; positive is under-predicted."""
    parts = []
    for first in range(0, len(windows), CHUNK):
        part = windows.take(slice(first, first + CHUNK))
        predicted = model.predict(part.branch, part.temps, part.location)
        parts.append(part.target[:, 0] - predicted[:, 0])
    return np.concatenate(parts)


def margins(residual: FloatArray, quantile: float) -> dict[str, float]:
    """One-sided: the quantile of max(0, r); symmetric: of |r|."""
    return {
        "delta_one_sided_k": float(np.quantile(np.maximum(residual, 0.0), quantile)),
        "delta_symmetric_k": float(np.quantile(np.abs(residual), quantile)),
    }
