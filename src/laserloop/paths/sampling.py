"""Tracks become scan paths: positions, lit ticks and commanded powers, one per tick.

t  time since the start of the track, s
"""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, plain
from laserloop.paths.path import (
    DEFAULT_SPEED,
    DEFAULT_TICK,
    FASTEST,
    ScanPath,
    check_speed,
    check_ticks,
    too_short,
)
from laserloop.paths.polyline import MAX_TICKS, ROUNDING, hop_length
from laserloop.paths.track import Track

DEFAULT_JUMP_SPEED = 1.0  # m/s, of dark moves to which their file gives no speed
POWER_DIGITS = 6  # µW: the sums over long files are no better
FloatArray = NDArray[np.float64]


def sample_track(
    track: Track,
    *,
    name: str,
    speed: float | None = None,
    default_speed: float = DEFAULT_SPEED,
    jump_speed: float = DEFAULT_JUMP_SPEED,
    tick: float = DEFAULT_TICK,
    ticks: int | None = None,
) -> ScanPath:
    """The path along `track` at t = tick·j, up to `ticks` or the last full tick.

    `speed` is for all lit legs; without it `default_speed` is for those that have none of their own. A tick
    is lit if at least half of it is; its power is the mean over its lit part, however short that is.
    """
    for given in (default_speed, speed):
        if given is not None:
            hop_length(given, tick)
    speeds, notes = choose_speeds(
        track, name, speed=speed, default_speed=default_speed, jump_speed=jump_speed
    )
    timeline = Timeline(track, speeds)
    ticks = _count_ticks(timeline.end, tick, name, ticks)
    t = tick * np.arange(ticks + 1, dtype=np.float64)
    lit_time = np.diff(timeline.integrate(track.lit, t))
    lit = lit_time >= (0.5 - ROUNDING) * tick
    if not lit.any():
        raise BadInput(
            f"the laser must be on for half of at least one tick, but in {name} it is on for at most "
            f"{lit_time.max():g} s of a tick of {tick:g} s; shorten the tick."
        )
    shares = np.clip(lit_time / tick, 0.0, 1.0)
    shares = np.where(shares < ROUNDING, 0.0, np.where(shares > 1.0 - ROUNDING, 1.0, shares))
    power = None
    unpowered = np.isnan(track.powers[track.lit])
    if not unpowered.any():
        energy = np.diff(timeline.integrate(np.where(track.lit, track.powers, 0.0), t))
        power = _average(energy, lit_time, shares > 0, track.powers[track.lit])
    elif not unpowered.all():
        notes += (
            f"{name}: some lit moves have no power of their own, so the powers of the others are left out",
        )
    notes += timeline.tell_dark(track, name, f"{np.count_nonzero(~lit)} of {ticks}")
    positions = timeline.follow(track.points, t)
    return ScanPath(
        name=name, positions=positions, lit=lit, power=power, tick=tick, notes=notes, shares=shares
    )


class Timeline:
    """When the beam is where: each leg of a track, then its rest."""

    def __init__(self, track: Track, speeds: FloatArray) -> None:
        self._steps = np.empty(2 * len(speeds))  # leg, rest, leg, rest, …; s
        with np.errstate(over="ignore", invalid="ignore"):
            self._steps[::2], self._steps[1::2] = track.lengths / speeds, track.rests
            times = np.concatenate([[0.0], np.cumsum(self._steps)])
            self._passed = np.append(True, np.diff(times) > 0)
        self.end = float(times[-1])
        self.starts, self.ends = times[:-1:2], times[2::2]  # (legs,), s, each with its rest
        self._times = times[self._passed]

    def follow(self, points: FloatArray, t: FloatArray) -> FloatArray:
        """Where the beam is at `t`."""
        corners = np.repeat(points, 2, axis=0)[1:][self._passed]
        return np.column_stack([np.interp(t, self._times, axis) for axis in corners.T])

    def integrate(self, rates: NDArray[np.generic], t: FloatArray) -> FloatArray:
        """∫ rate dt from 0 to `t`; a leg and its rest have one rate."""
        total = np.concatenate([[0.0], np.cumsum(self._steps * np.repeat(rates, 2))])
        return np.asarray(np.interp(t, self._times, total[self._passed]))

    def tell_dark(self, track: Track, name: str, dark_ticks: str) -> tuple[str, ...]:
        """How much of the track is dark; a sentence without its full stop, or none."""
        dark, lengths = ~track.lit, track.lengths
        if not dark.any():
            return ()
        count = np.count_nonzero(track.lit[:-1] & dark[1:])
        seconds = self._steps.reshape(-1, 2).sum(axis=1)[dark].sum()
        return (
            f"{name}: the laser is off {'once' if count == 1 else f'{count} times'}, along "
            f"{plain(1e3 * lengths[dark].sum(), 4)} of {plain(1e3 * lengths.sum(), 4)} mm and for "
            f"{plain(1e3 * seconds, 4)} of {plain(1e3 * self.end, 4)} ms; {dark_ticks} "
            "ticks are dark",
        )


def _average(
    energy: FloatArray, lit_time: FloatArray, lit: NDArray[np.bool_], powers: FloatArray
) -> FloatArray:
    """The mean power over the lit part of each tick that has one, W; 0 in the others."""
    mean = np.round(energy / np.where(lit, lit_time, 1.0), POWER_DIGITS)
    return np.where(lit, np.clip(mean, powers.min(), powers.max()), 0.0)


def choose_speeds(
    track: Track, name: str, *, speed: float | None, default_speed: float, jump_speed: float
) -> tuple[FloatArray, tuple[str, ...]]:
    """A speed for every leg, and what was assumed."""
    if not (isfinite(jump_speed) and jump_speed > 0):
        raise BadInput(
            f"the jump speed must be positive and finite, but is {jump_speed} m/s; the default is "
            f"{DEFAULT_JUMP_SPEED:g} m/s."
        )
    speeds, notes = track.speeds, track.notes
    if speed is not None:
        speeds = np.where(track.lit, speed, speeds)
    fast = np.flatnonzero(track.lit & (speeds > FASTEST))
    if len(fast):
        leg = int(fast[0])
        check_speed(float(speeds[leg]), f"{name}, line {track.lines[leg + 1]}: the speed")
    unknown = np.isnan(speeds)
    moving = track.lengths > 0
    if (unknown & moving & track.lit).any():
        notes += (f"{name}: moves without a speed of their own go at {1e3 * default_speed:g} mm/s",)
    if (unknown & moving & ~track.lit).any():
        notes += (f"{name}: dark moves without a speed go at {1e3 * jump_speed:g} mm/s",)
    return np.where(unknown, np.where(track.lit, default_speed, jump_speed), speeds), notes


def _count_ticks(duration: float, tick: float, name: str, asked: int | None) -> int:
    """The ticks asked for, or else all that fit into `duration`."""
    available = duration / tick + ROUNDING
    if not (isfinite(duration) and (available if asked is None else asked) <= MAX_TICKS):
        raise BadInput(
            f"a path may have at most {MAX_TICKS} ticks, but {asked or 'all'} of {name}, which lasts "
            f"{duration:g} s, were asked for; check its speeds and rests, or give a number of ticks."
        )
    if available < 1:
        raise BadInput(
            f"a path must last at least one tick, but {name} lasts {plain(1e6 * duration)} µs and a tick "
            f"{1e6 * tick:g} µs; lengthen it, slow down, or give mm if its numbers are m."
        )
    if asked is None:
        return int(available)
    check_ticks(asked)
    if asked > available:
        raise too_short(name, int(available), asked)
    return asked
