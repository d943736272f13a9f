"""A small learned correction of the twin: what u really is at its peak, over what one diffusivity makes of it.

φ  features of the heat at the peak (heat_features.py), standardised and clipped      c  factor of u

    ln c = w₀ + w · φ + Σ_{i≤j} W_ij φ_i φ_j

Fitted by ridge regression in one solve. It scales what the twin says at any moment, past or coming, so the
image is compared with the corrected twin and the gain only follows what is not explained.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.learned.heat_features import FEATURES, describe_heat
from laserloop.predict.twin.heat import Gaussians

FloatArray = NDArray[np.float64]

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
        terms = expand(features, self.mean, self.std)
        return np.asarray(np.exp(np.clip(terms @ self.weights, -MOST, MOST)))


def expand(features: FloatArray, mean: FloatArray, std: FloatArray) -> FloatArray:
    """(n, terms): 1, the standardised features, and their products."""
    scaled = np.clip((features - mean) / std, -FARTHEST, FARTHEST)
    rows, columns = np.triu_indices(scaled.shape[1])
    return np.concatenate(
        (np.ones((len(scaled), 1)), scaled, scaled[:, rows] * scaled[:, columns]), axis=1
    )


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
