"""A small learned correction of the twin: u at its peak over what one diffusivity makes of it.

φ  features of the heat at the peak (heat_features.py), standardised and clipped      c  factor of u

    ln c = w₀ + w · φ + Σ_{i≤j} W_ij φ_i φ_j

Fitted by ridge regression in one solve. It scales what the twin says at any moment, past or coming, so the
image is compared with the corrected twin and the gain only follows what is not explained.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.learned.folder import load_folder, save_folder
from laserloop.predict.learned.heat_features import FEATURES, describe_heat
from laserloop.predict.twin.heat import Gaussians

FloatArray = NDArray[np.float64]

KIND = "correction of the twin"
FARTHEST = 3.0  # standard deviations to which a feature is clipped: no bold claims outside of the data
MOST = 0.05  # of ln c, either way


@dataclass(frozen=True, slots=True, eq=False)
class HeatCorrection:
    """Means and spreads of the features, and the weights of a constant, the features and their products."""

    mean: FloatArray  # (features,)
    std: FloatArray  # (features,)
    weights: FloatArray  # (terms,)

    def factors(
        self, heat: Gaussians, points: FloatArray, headings: FloatArray, *, sigma: float, wanted: float
    ) -> FloatArray:
        """c (m,) at the peaks (m, 2) of beams with headings (m, 2)."""
        features = describe_heat(heat, points, headings, sigma=sigma, wanted=wanted)
        return np.asarray(np.exp(self.log_factors(features)))

    def log_factors(self, features: FloatArray) -> FloatArray:
        """ln c (n,) of features (n, features)."""
        return np.clip(expand(features, self.mean, self.std) @ self.weights, -MOST, MOST)


def expand(features: FloatArray, mean: FloatArray, std: FloatArray) -> FloatArray:
    """(n, terms): 1, the standardised features, and their products."""
    scaled = np.clip((features - mean) / std, -FARTHEST, FARTHEST)
    rows, columns = np.triu_indices(scaled.shape[1])
    return np.concatenate((np.ones((len(scaled), 1)), scaled, scaled[:, rows] * scaled[:, columns]), axis=1)


def fit_correction(
    features: FloatArray, ratio: FloatArray, weight: FloatArray, *, ridge: float
) -> HeatCorrection:
    """The correction whose ln c is nearest to ln `ratio`, true over expected u, where `weight` lies."""
    share = weight / weight.sum()
    mean = share @ features
    std = np.sqrt(share @ (features - mean) ** 2)
    std = np.where(std > 1e-9, std, 1.0)
    terms = expand(features, mean, std)
    normal = terms.T @ (share[:, np.newaxis] * terms)
    price = np.full(len(normal), ridge)
    price[0] = 0.0
    found = np.linalg.solve(normal + np.diag(price), terms.T @ (share * np.log(ratio)))
    return HeatCorrection(mean, std, found)


def no_correction() -> HeatCorrection:
    """The bare twin."""
    terms = 1 + FEATURES + FEATURES * (FEATURES + 1) // 2
    return HeatCorrection(np.zeros(FEATURES), np.ones(FEATURES), np.zeros(terms))


def save_correction(correction: HeatCorrection, folder: Path, page: Mapping[str, Any]) -> None:
    """Write it to a folder; `page` tells where it comes from."""
    save_folder(folder, KIND, {name: getattr(correction, name) for name in correction.__slots__}, page)


def load_correction(folder: Path) -> tuple[HeatCorrection, dict[str, Any]]:
    """A correction and its page."""
    arrays, page = load_folder(folder, KIND)
    return HeatCorrection(*(arrays[name] for name in HeatCorrection.__slots__)), page
