"""Whether a laser can reach a window: the power that holds its middle on a long straight line."""

import numpy as np

from laserloop.plant.exact import quasi_steady_peak
from laserloop.predict.twin.twin import read_alpha
from laserloop.process import Process


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
    """m/s, at which a power, W, holds the middle of the window on a straight line."""
    slow, fast = 1e-6, 1e3
    for _ in range(60):
        speed = float(np.sqrt(slow * fast))
        slow, fast = (speed, fast) if needed_power(process, speed) < power else (slow, speed)
    return slow


def judge_reach(process: Process, speed: float) -> str | None:
    """A sentence without its full stop if the laser is too weak or too strong for the window, else None."""
    needed, (low, high) = needed_power(process, speed), process.laser.power
    window = f"{process.window[0]:g}–{process.window[1]:g} K"
    told = f"at {1e3 * speed:.0f} mm/s about {needed:.3g} W hold the middle of {window} on a straight line"
    if needed > high:
        return f"{told}, but the laser gives at most {high:g} W: slow down, or take a lower window"
    if needed < low:
        return f"{told}, but the laser gives at least {low:g} W: go faster, or take a higher window"
    return None
