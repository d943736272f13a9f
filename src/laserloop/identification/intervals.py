"""How sure a fit is: intervals from residuals that are correlated in time, and what moves together.

Z  slopes of the readings, (m, p)      e  residuals, K      G = ZᵀZ + Λ, Λ a weak prior
V = G⁻¹ (Σ_{|l|≤L} (1 − |l|/(L+1)) Σ_i z_i e_i e_{i+l} z_{i+l}ᵀ) G⁻¹, at least s² G⁻¹
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

FloatArray = NDArray[np.float64]

LEVEL = 0.95
TOGETHER = 0.95  # correlation beyond which two parameters are not told apart


def find_covariance(slopes: FloatArray, residuals: FloatArray, prior: FloatArray) -> FloatArray:
    """(p, p): covariance of the parameters; `prior` (p,) are standard deviations."""
    m, p = slopes.shape
    white = float(residuals @ residuals) / max(m - p, 1)
    bread = np.linalg.inv(slopes.T @ slopes + np.diag(white / prior**2))
    scores = slopes * residuals[:, np.newaxis]
    meat = scores.T @ scores
    lags = max(4, round(m ** (1 / 3)))
    for lag in range(1, lags + 1):
        cross = scores[lag:].T @ scores[:-lag]
        meat = meat + (1.0 - lag / (lags + 1.0)) * (cross + cross.T)
    found, least = bread @ meat @ bread, white * bread
    scale = np.sqrt(np.maximum(1.0, np.diag(least) / np.maximum(np.diag(found), 1e-300)))
    spread = np.sqrt(np.maximum(np.diag(found), 0.0)) * scale
    tied = np.sqrt(np.diag(least))
    return np.asarray(least / np.outer(tied, tied) * np.outer(spread, spread))


def find_half_widths(covariance: FloatArray, readings: int) -> FloatArray:
    """(p,): half the length of each interval."""
    freedom = max(readings - len(covariance), 1)
    return np.asarray(student.ppf(0.5 + 0.5 * LEVEL, freedom) * np.sqrt(np.diag(covariance)))


def correlate(covariance: FloatArray) -> FloatArray:
    """(p, p): correlation of the parameters."""
    spread = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(spread, spread))


def tell_inseparable(names: tuple[str, ...], covariance: FloatArray, vague: Sequence[str]) -> list[str]:
    """Sentences about what the data cannot tell; `vague`: the parameters about which they say little."""
    told = ["conductivity, heat capacity and absorptivity times one number give the same temperatures: "
            "conductivity is taken from the process, so absorptivity is relative to it"]  # fmt: skip
    tied = correlate(covariance)
    for i, j in combinations(range(len(names)), 2):
        if abs(tied[i, j]) > TOGETHER:
            way = "together" if tied[i, j] > 0 else "against each other"
            told.append(
                f"{names[i]} and {names[j]} can be changed {way} without the readings telling (correlation "
                f"{tied[i, j]:+.3f}): their combination is known better than each"
            )
    told += [
        f"the readings say hardly anything about {name}: it is held near the process's own value"
        for name in vague
    ]
    return told
