"""What the twin says without any measurement: of a path under given powers, and of a long straight line.

The line tells whether a laser can reach a window, by the power that holds its middle there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import plain
from laserloop.paths.path import ScanPath
from laserloop.predict.twin.exact import quasi_steady_peak
from laserloop.predict.twin.heat import Gaussians, find_peak, guess_peak
from laserloop.predict.twin.twin import ROUNDS, TwinPredictor, TwinSettings, read_alpha
from laserloop.process import Process

FloatArray = NDArray[np.float64]

CHUNK = 32  # ticks evaluated at once; sides of the plate are looked for once in so many
KEPT = 500  # ticks before their heat may merge: cheaper than to judge every pair of neighbours
SECANTS = 12  # most steps; five are usual
LEAST_SLOPE = 0.02  # of log power over log speed: a resting beam needs some power too
SLOWEST, FASTEST = 1e-6, 1e3  # m/s


@dataclass(frozen=True, slots=True, eq=False)
class _Rollout:
    """The peak at the end of each tick, and the heat around it."""

    peaks: FloatArray  # (n,), K
    places: FloatArray  # (n, 2), m
    shapes: NDArray[np.float32]  # (n, p): u at some offsets from the peak, as a share of u there


@dataclass(frozen=True, slots=True, eq=False)
class _Stretch:
    """Some ticks of a path: the heat at the end of each, and the peak in it."""

    ticks: range
    heat: Gaussians  # (n, …)
    places: FloatArray  # (n, 2), m
    twin: TwinPredictor


def follow_heat(process: Process, path: ScanPath, power: ArrayLike) -> Iterator[_Stretch]:
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
        heat = twin.sum_heat(twin.ends, moments).powered(twin.watts)
        yield _Stretch(ticks, heat, _find_peaks(twin, heat, moments), twin)


def roll_out(
    process: Process, path: ScanPath, power: ArrayLike, offsets: FloatArray | None = None
) -> _Rollout:
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
            shapes[now, p] = share * (1.0 - part.twin.diffusivity_correction * (1.0 - share))
    return _Rollout(peaks, places, shapes)


def _find_peaks(twin: TwinPredictor, heat: Gaussians, moments: NDArray[np.intp]) -> FloatArray:
    """(m, 2): where the peak is at moments of the ticks kept one by one, m."""
    beam, sigma = twin.ends[moments], twin.body.sigma
    return find_peak(heat, guess_peak(beam, twin.ends[moments - 1], sigma), beam, sigma, ROUNDS)


def needed_power(process: Process, speed: float) -> float:
    """W, of the laser, that holds the middle of the window on a straight line at `speed`, m/s."""
    material, middle = process.material, 0.5 * sum(process.window)
    T = np.linspace(process.ambient, middle, 201)
    wanted = float(np.trapezoid(material.conductivity(T), T))  # ∫k dT, W/m
    peak = quasi_steady_peak(
        power=1.0,
        speed=speed,
        sigma=process.beam.sigma,
        conductivity=1.0,
        diffusivity=read_alpha(material, process.ambient, middle),
        thickness=process.plate[2],
    )
    return wanted / (peak.rise * process.beam.absorptivity)


def find_speed(process: Process, power: float) -> float:
    """m/s, at which a power, W, holds the middle of the window on a straight line, to 1 %.

    By the secant rule in logarithms, in which power and speed are nearly on a line.
    """
    wanted = log(power)
    before, at = log(process.speed), log(process.speed) + 0.5
    miss = log(needed_power(process, exp(before))) - wanted
    for _ in range(SECANTS):
        now = log(needed_power(process, exp(at))) - wanted
        slope = max((now - miss) / (at - before), LEAST_SLOPE)
        before, miss = at, now
        at = min(max(at - now / slope, log(SLOWEST)), log(FASTEST))
        if abs(at - before) < 0.01:
            break
    return exp(at)


def judge_reach(process: Process, speed: float) -> str | None:
    """A sentence without its full stop if the laser is too weak or too strong for the window, else None."""
    needed, (low, high) = needed_power(process, speed), process.laser.power
    window = f"{process.window[0]:g}–{process.window[1]:g} K"
    told = f"at {1e3 * speed:.0f} mm/s about {plain(needed)} W hold the middle of {window} on a straight line"
    if needed > high:
        return f"{told}, but the laser gives at most {high:g} W: slow down, or take a lower window"
    if needed < low:
        return f"{told}, but the laser gives at least {low:g} W: go faster, or take a higher window"
    return None
