"""Whether a laser can reach a window: the power that holds its middle on a long straight line."""

from math import exp, log

import numpy as np

from laserloop.bad_input import plain
from laserloop.predict.twin.exact import quasi_steady_peak
from laserloop.predict.twin.twin import read_alpha
from laserloop.process import Process

SECANTS = 12  # most steps; five are usual
LEAST_SLOPE = 0.02  # of log power over log speed: a resting beam needs some power too
SLOWEST, FASTEST = 1e-6, 1e3  # m/s


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
