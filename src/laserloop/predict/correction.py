"""A small learned correction of the twin: u at its peak over what one diffusivity makes of it.

φ  features of the heat at the peak, standardised and clipped      c  factor of u

    ln c = w₀ + w · φ + Σ_{i≤j} W_ij φ_i φ_j

Fitted by ridge regression in one solve. It scales what the twin says at any moment, past or coming, so the
image is compared with the corrected twin and the gain only follows what is not explained.

The features say what the heat is made of, seen along the heading: shares by how far each part has spread.

w  what a Gaussian adds to u at the peak      s²  its variance over σ²      b  hat functions of ln s²
d  from the peak to its centre, σ      ∥, ⊥  along the heading and across it

    level ln(g Σw/u*)    shares Σwb/Σw    ahead Σwb d∥/Σw    aside Σwb d⊥²/Σw    along Σwb d∥²/Σw

None of it changes if the path is shifted, turned or mirrored, nor, but for the level, if all heat is scaled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.paths.path import ScanPath
from laserloop.predict.model import find_origin, load_arrays, save_arrays
from laserloop.predict.twin.heat import Gaussians, find_headings
from laserloop.predict.twin.rollout import follow_heat
from laserloop.process import Process

FloatArray = NDArray[np.float64]

KIND = "correction of the twin"
FARTHEST = 3.0  # standard deviations to which a feature is clipped: no bold claims outside of the data
MOST = 0.05  # of ln c, either way
SPREADS = (1.0, 1.25, 1.6, 2.2, 3.5, 6.0, 12.0, 30.0)  # s² of the hats; with 304 ages of 0 to 300 ticks
FEATURES = 1 + 4 * len(SPREADS)
SMALLEST = 1e-12
NEAR = 0.15  # of ln u over the wanted one: the width of what counts around the window's middle
LEAST = 0.02  # weight below which a tick is left out


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
        features = _describe_heat(heat, points, headings, sigma=sigma, wanted=wanted)
        return np.asarray(np.exp(self.log_factors(features)))

    def log_factors(self, features: FloatArray) -> FloatArray:
        """ln c (n,) of features (n, features)."""
        return np.clip(_expand(features, self.mean, self.std) @ self.weights, -MOST, MOST)


def _expand(features: FloatArray, mean: FloatArray, std: FloatArray) -> FloatArray:
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
    terms = _expand(features, mean, std)
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
    arrays = {name: getattr(correction, name) for name in correction.__slots__}
    save_arrays(folder, arrays, {"kind": KIND, **page, **find_origin()})


def load_correction(folder: Path) -> tuple[HeatCorrection, dict[str, Any]]:
    """A correction and its page."""
    arrays, page = load_arrays(folder, KIND)
    return HeatCorrection(*(arrays[name] for name in HeatCorrection.__slots__)), page


def _describe_heat(
    heat: Gaussians, points: FloatArray, headings: FloatArray, *, sigma: float, wanted: float
) -> FloatArray:
    """(m, features): the heat (m, n) at the peaks (m, 2) of beams with headings (m, 2).

    `wanted`: u*, W/m, over the gain.
    """
    weights = heat.weights(points)
    total = np.maximum(weights.sum(axis=-1), SMALLEST)
    shares = (weights / total[:, np.newaxis])[:, np.newaxis] * _make_hats(heat, sigma)
    dx, dy = (heat.x - points[:, :1]) / sigma, (heat.y - points[:, 1:]) / sigma
    along = dx * headings[:, :1] + dy * headings[:, 1:]
    aside = dy * headings[:, :1] - dx * headings[:, 1:]
    parts = [
        (shares * factor[:, np.newaxis]).sum(axis=-1)
        for factor in (np.ones_like(along), along, aside**2, along**2)
    ]
    return np.concatenate((np.log(total / wanted)[:, np.newaxis], *parts), axis=1)


def _make_hats(heat: Gaussians, sigma: float) -> FloatArray:
    """b (m, hats, n): to which spreads each Gaussian belongs; their sum is 1."""
    spread = -0.5 * np.log(heat.ixx * heat.iyy - heat.ixy**2) - 2.0 * np.log(sigma)
    knots = np.log(SPREADS)
    place = np.interp(np.atleast_2d(spread), knots, np.arange(len(knots)))
    distance = np.abs(place[:, np.newaxis] - np.arange(len(knots))[:, np.newaxis])
    return np.asarray(np.maximum(1.0 - distance, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class HeatSamples:
    """Features (n, features), u true over expected (n,), and how much each counts (n,)."""

    features: FloatArray
    ratio: FloatArray
    weight: FloatArray


def gather_samples(process: Process, path: ScanPath, power: ArrayLike, t_peak: FloatArray) -> HeatSamples:
    """From a path driven with one power, W, for each tick, whose peaks, K, were seen at their ends."""
    features, expected, wanted, seen = [], [], 0.0, np.empty(0)
    for part in follow_heat(process, path, power):
        twin = part.twin
        wanted = twin.wanted
        ends = path.positions[part.ticks.start : part.ticks.stop + 1]
        sigma = twin.body.sigma
        features.append(
            _describe_heat(part.heat, part.places, find_headings(ends), sigma=sigma, wanted=wanted)
        )
        expected.append(part.heat.at(part.places))
        seen = np.append(seen, twin.table.theta_of(t_peak[part.ticks.start : part.ticks.stop]))
    return _keep(np.concatenate(features), np.concatenate(expected) / wanted, seen / wanted, path, power)


def join_samples(parts: list[HeatSamples]) -> HeatSamples:
    """All of them."""
    return HeatSamples(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in HeatSamples.__slots__)
    )


def _keep(
    features: FloatArray, expected: FloatArray, seen: FloatArray, path: ScanPath, power: ArrayLike
) -> HeatSamples:
    """The lit ticks that have settled and are near the window, where the beam was on before, too."""
    count = len(seen)
    lit = path.counted[:count] & (np.asarray(power)[:count] > 0.0)
    weight = np.exp(-0.5 * (np.log(np.maximum(seen, 1e-9)) / NEAR) ** 2)
    chosen = lit & (weight > LEAST) & (expected > 0.0)
    return HeatSamples(features[chosen], (seen / np.maximum(expected, 1e-9))[chosen], weight[chosen])
