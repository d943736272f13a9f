"""What the twin says of a whole path under given powers, without any measurement: many ticks at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.paths.path import ScanPath
from laserloop.predict.twin.heat import Gaussians
from laserloop.predict.twin.peak import climb, guess_peak
from laserloop.predict.twin.twin import ROUNDS, TwinPredictor, TwinSettings
from laserloop.process import Process

FloatArray = NDArray[np.float64]

CHUNK = 32  # ticks evaluated at once; sides of the plate are looked for once in so many
KEPT = 500  # ticks before their heat may merge: cheaper than to judge every pair of neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """The peak at the end of each tick, and the heat around it."""

    peaks: FloatArray  # (n,), K
    places: FloatArray  # (n, 2), m
    shapes: NDArray[np.float32]  # (n, p): u at some offsets from the peak, as a share of u there


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Some ticks of a path: the heat at the end of each, and the peak in it."""

    ticks: range
    heat: Gaussians  # (n, …)
    places: FloatArray  # (n, 2), m
    twin: TwinPredictor


def follow_heat(process: Process, path: ScanPath, power: ArrayLike) -> Iterator[Stretch]:
    """Drive the twin of a process from rest along a path with one power, W, for each tick."""
    power = np.asarray(power, dtype=np.float64)
    given = np.where(path.lit[: len(power)], power, 0.0)
    keeps = replace(process, tick=path.tick, camera=replace(process.camera, delay=KEPT, exposure=1))
    twin = TwinPredictor(keeps, TwinSettings(horizon=1))
    twin.ends[:] = path.positions[0]
    emitted = 0.0
    for first in range(0, len(given), CHUNK):
        ticks = range(first, min(first + CHUNK, len(given)))
        for k in ticks:
            mean, emitted = process.laser.follow(emitted, float(given[k]), path.tick)
            twin.absorb(mean, path.spot(k))
        moments = twin.memory - len(ticks) + 1 + np.arange(len(ticks))
        heat = twin.at_moments(twin.ends, moments).driven(twin.watts)
        yield Stretch(ticks, heat, find_peaks(twin, heat, moments), twin)


def roll_out(
    process: Process, path: ScanPath, power: ArrayLike, offsets: FloatArray | None = None
) -> Rollout:
    """The peaks of the twin along a path, and the heat around each.

    `offsets` (p, 2), m, from the peak: where the heat around it is looked at; nowhere unless given.
    """
    around = np.empty((0, 2)) if offsets is None else offsets
    peaks, places = np.empty(len(path)), np.empty((len(path), 2))
    shapes = np.ones((len(path), len(around)), np.float32)
    for part in follow_heat(process, path, power):
        now = slice(part.ticks.start, part.ticks.stop)
        places[now] = part.places
        top = part.heat.at(part.places)
        peaks[now] = part.twin.table.temperature_of(top)
        for p, offset in enumerate(around):
            share = part.heat.at(part.places + offset) / np.maximum(top, 1e-12)
            shapes[now, p] = share * (1.0 - part.twin.slender * (1.0 - share))
    return Rollout(peaks, places, shapes)


def find_peaks(twin: TwinPredictor, heat: Gaussians, moments: NDArray[np.intp]) -> FloatArray:
    """(m, 2): where the peak is at moments of the ticks kept one by one, m."""
    beam, sigma = twin.ends[moments], twin.body.sigma
    return climb(heat, guess_peak(beam, twin.ends[moments - 1], sigma), beam, sigma, ROUNDS)
