"""Where peaks were seen, against where they should be.

x(t)  told place of the beam, m      b(t)  way from the beam to the peak, m      h  heading of the beam
d, l  ticks by which images and the scanner are late      c  offset of the images, m      a  arrival, ticks

    seen = x(a − d − l) + b(a − d) + c + r h        by a camera that looks along the beam without x

r is what the plant may tell wrongly of b. Along a straight line at one speed c and l move places alike.
"""

import numpy as np
from numpy.typing import NDArray

from laserloop.identification.experiment import Experiment

FloatArray = NDArray[np.float64]

MISPLACED = 0.05  # σ, by which the plant may tell a place wrongly, whatever the noise
SURE = 0.1  # σ, standard error of an offset above which it is not told
START = 8  # ticks of light, before which the spot still forms
HALF = 0.5  # tick, to either side, for slopes
RESTS = 1e-9  # m in a tick


def find_settled(do: Experiment, delay: float) -> NDArray[np.bool_]:
    """(m,): readings that have a place, and were taken when the laser had been on for some time."""
    if do.places is None:
        return np.zeros(len(do.arrived), np.bool_)
    n = np.arange(len(do.path) + 1)
    dark = np.concatenate(([True], ~do.path.lit))  # by the end of each tick
    since = n - np.maximum.accumulate(np.where(dark, n, 0))
    tick = np.clip(np.ceil(do.arrived - delay - 1e-6).astype(np.intp), 0, len(do.path))
    return np.asarray((since[tick] > START) & np.isfinite(do.places).all(axis=1))


def expect(do: Experiment, behind: FloatArray, delay: float, late: float) -> FloatArray:
    """(m, 2): where peaks are seen, m, by images that do not lie off; `behind` (n, 2): b, m."""
    return _find_beam(do, delay + late) + interpolate(do, behind, delay)


def interpolate(do: Experiment, behind: FloatArray, delay: float) -> FloatArray:
    """(m, …): b (n, …) when the readings that arrived were taken."""
    line = np.concatenate((np.zeros_like(behind[:1]), behind)).reshape(len(do.path) + 1, -1)
    n = np.arange(len(line), dtype=np.float64)
    at = [np.interp(do.arrived - delay, n, values) for values in line.T]
    return np.stack(at, axis=1).reshape(-1, *behind.shape[1:])


def find_beam_slopes(do: Experiment, late: float) -> FloatArray:
    """(m, 2): change of the beam's part of a place with a tick of delay, m."""
    return np.asarray((_find_beam(do, late + HALF) - _find_beam(do, late - HALF)) / (2.0 * HALF))


def find_headings(do: Experiment, late: float) -> FloatArray:
    """(m, 2): h when the readings that arrived were taken; 0 where the beam rested."""
    hop = _told(do, late - HALF) - _told(do, late + HALF)
    length = np.linalg.norm(hop, axis=1, keepdims=True)
    return np.where(length > RESTS, hop / np.maximum(length, RESTS), 0.0)


def doubt_offset(offset: FloatArray, covariance: FloatArray, sigma: float) -> str:
    """A sentence about an offset (2,), σ, that the places do not tell."""
    (least, _), ways = np.linalg.eigh(covariance)
    across, along = (way * np.sign(way[np.argmax(np.abs(way))]) for way in ways.T)
    off, error = 1e6 * sigma * float(across @ offset), 1e6 * sigma * float(np.sqrt(least))
    if error > 1e6 * sigma * SURE:
        return "the places of the peaks say hardly anything about the images' offset: record more of them"
    told = (
        f"images that lie off along {_show(along)} and places that come late look the same, as the beam "
        "hardly turns: record a path with turns"
    )
    return f"{told}; along {_show(across)} they lie {off:+.1f} ± {error:.1f} µm off"


def _show(way: FloatArray) -> str:
    """A direction."""
    x, y = np.round(way, 2) + 0.0
    return f"({x:g}, {y:g})"


def _find_beam(do: Experiment, late: float) -> FloatArray:
    """(m, 2): the beam's part of a place, m; none for a camera that looks along it."""
    return np.where(do.coaxial, 0.0, _told(do, late))


def _told(do: Experiment, late: float) -> FloatArray:
    """(m, 2): where the log says the beam was so many ticks before the readings arrived, m."""
    n = np.arange(len(do.path) + 1.0)
    return np.stack([np.interp(do.arrived - late, n, line) for line in do.path.positions.T], axis=1)
