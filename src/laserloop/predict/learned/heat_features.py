"""What the heat at the twin's peak is made of, seen along the heading: shares by how far each has spread.

w  what a Gaussian adds to u at the peak      s²  its variance over σ²      b  hat functions of ln s²
d  from the peak to its centre, σ      ∥, ⊥  along the heading and across it

    level ln(g Σw/u*)    shares Σwb/Σw    ahead Σwb d∥/Σw    aside Σwb d⊥²/Σw    along Σwb d∥²/Σw

None of it changes if the path is shifted, turned or mirrored, nor, but for the level, if all heat is scaled.
"""

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.twin.heat import Gaussians

FloatArray = NDArray[np.float64]

SPREADS = (1.0, 1.25, 1.6, 2.2, 3.5, 6.0, 12.0, 30.0)  # s² of the hats; with 304 ages of 0 to 300 ticks
FEATURES = 1 + 4 * len(SPREADS)
SMALLEST = 1e-12


def describe_heat(
    heat: Gaussians, points: FloatArray, headings: FloatArray, *, sigma: float, wanted: float
) -> FloatArray:
    """(m, features): the heat (m, n) at the peaks (m, 2) of beams with headings (m, 2).

    `wanted`: u*, W/m, over the gain.
    """
    weights = heat.weights(points)
    total = np.maximum(weights.sum(axis=-1), SMALLEST)
    shares = (weights / total[:, np.newaxis])[:, np.newaxis] * make_hats(heat, sigma)
    dx, dy = (heat.x - points[:, :1]) / sigma, (heat.y - points[:, 1:]) / sigma
    along = dx * headings[:, :1] + dy * headings[:, 1:]
    aside = dy * headings[:, :1] - dx * headings[:, 1:]
    parts = [
        (shares * factor[:, np.newaxis]).sum(axis=-1)
        for factor in (np.ones_like(along), along, aside**2, along**2)
    ]
    return np.concatenate((np.log(total / wanted)[:, np.newaxis], *parts), axis=1)


def make_hats(heat: Gaussians, sigma: float) -> FloatArray:
    """b (m, hats, n): to which spreads each Gaussian belongs; their sum is 1."""
    spread = -0.5 * np.log(heat.ixx * heat.iyy - heat.ixy**2) - 2.0 * np.log(sigma)
    knots = np.log(SPREADS)
    place = np.interp(np.atleast_2d(spread), knots, np.arange(len(knots)))
    distance = np.abs(place[:, np.newaxis] - np.arange(len(knots))[:, np.newaxis])
    return np.asarray(np.maximum(1.0 - distance, 0.0))
