"""The hottest point near the beam, by Newton's method on the field."""

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.twin.heat import Gaussians

FloatArray = NDArray[np.float64]

BEHIND = 0.7  # σ behind the beam, where the search begins
SHORTEST = 1e-12  # m, below which the beam rests
LONGEST = 0.5  # σ, of a step
LOST = 1.5  # σ between beam and peak, from which on a peak is not of this light but of old heat


def guess_peak(beam: FloatArray, before: FloatArray, sigma: float) -> FloatArray:
    """(…, 2): a little behind the beam, which came from `before`."""
    back = before - beam
    length = np.linalg.norm(back, axis=-1, keepdims=True)
    return np.asarray(beam + BEHIND * sigma * back / np.maximum(length, 1e-12))


def climb(heat: Gaussians, points: FloatArray, beam: FloatArray, sigma: float, rounds: int) -> FloatArray:
    """Points (…, 2) moved uphill, but never away from the beam (…, 2) to old heat.

    Where the field is no hill yet, they move along its slope.
    """
    for _ in range(rounds):
        u, slope, bend = heat.field(points)
        xx, xy, yy = np.moveaxis(bend, -1, 0)
        det = xx * yy - xy * xy
        hill = (xx < 0.0) & (det > 0.0)
        safe = np.where(hill, det, 1.0)
        sx, sy = slope[..., 0], slope[..., 1]
        newton = np.stack(((xy * sy - yy * sx) / safe, (xy * sx - xx * sy) / safe), axis=-1)
        ascent = slope * (sigma**2 / np.maximum(u, 1e-12))[..., np.newaxis]
        step = np.where(hill[..., np.newaxis], newton, ascent)
        length = np.linalg.norm(step, axis=-1, keepdims=True)
        points = points + step * np.minimum(1.0, LONGEST * sigma / np.maximum(length, 1e-12))
        off = points - beam
        length = np.linalg.norm(off, axis=-1, keepdims=True)
        points = beam + off * np.minimum(1.0, LOST * sigma / np.maximum(length, 1e-12))
    return points


def find_headings(ends: FloatArray) -> FloatArray:
    """(n, 2): unit vectors from each of n + 1 positions, m, to the next; x where the beam rests."""
    way = np.diff(ends, axis=0)
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    return np.where(length > SHORTEST, way / np.maximum(length, SHORTEST), np.array([1.0, 0.0]))
