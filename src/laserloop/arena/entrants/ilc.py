"""Iterative learning control: the same path over and over, each pass corrected by the error of the last.

P ← P + γ F e⁺      e⁺ the error λ ticks later, which this tick's power leads to      F a mean over ticks
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.arena.entrant import Entrant, Seat
from laserloop.arena.entrants.gains import find_seat_gains
from laserloop.arena.playback import Playback
from laserloop.control.controller import Controller

FloatArray = NDArray[np.float64]

PASSES = 5
GAIN = 0.7  # of what a steady change of power would need
LEAD = 2  # λ, ticks
SMOOTH = np.array([0.25, 0.5, 0.25])  # F; more for noise


def make(seat: Seat) -> Controller:
    """The powers after the last pass."""
    assert seat.path is not None
    assert seat.practise is not None
    lit = np.asarray(seat.path.lit)
    power = np.where(lit, find_seat_gains(seat).constant, 0.0)
    per_kelvin = power.max() / (seat.problem.middle - seat.process.ambient)  # W/K, of a steady change
    low, high = seat.problem.power
    for _ in range(PASSES):
        error = seat.problem.middle - align(seat.practise(power), seat.process.camera.delay, lit)
        step = GAIN * per_kelvin * np.convolve(np.pad(error, 1, mode="edge"), SMOOTH, mode="valid")
        power = np.where(
            lit, np.clip(power + np.append(step[LEAD:], np.full(LEAD, step[-1])), low, high), 0.0
        )
    return Playback(power, name="ilc")


def align(seen: FloatArray, delay: int, lit: NDArray[np.bool_]) -> FloatArray:
    """Peaks at the ticks they were of; between images interpolated, of lit ticks only."""
    then = np.concatenate((seen[delay:], np.full(delay, np.nan)))
    known = np.flatnonzero(np.isfinite(then) & lit)
    if not len(known):
        return np.full(len(seen), np.nan)
    return np.asarray(np.interp(np.arange(len(seen)), known, then[known]))


ILC = Entrant(
    name="ilc",
    about=f"Iterative learning: {PASSES} passes over the very task, each corrected by the last one's error.",
    make=make,
    passes=PASSES,
    sources=(Path(__file__),),
)
