"""Powers by the twin: of every tick as it wants them, then of the commands that a machine takes.

u  ∫k dT from ambient, W/m; the twin's gain is a factor of it      σ  the beam's width
α  diffusivity, m²/s
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.native.build import NoCompiler
from laserloop.native.layout import address
from laserloop.native.twin import TwinPlayer
from laserloop.paths import ScanPath, sample_polyline
from laserloop.planning.commands import Commands, Route
from laserloop.planning.scores import count_ticks
from laserloop.planning.window import find_longest_tick
from laserloop.plant import make_plant
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.predict.twin.twin import read_alpha
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

HORIZON = 5  # ticks, of the plan; longer ones hold the middle no better
BEYOND = 6  # ticks after a command that it is judged by as well
MARGIN = 0.05  # of the window's width that commands stay below its top: the twin errs too
PROBE = 0.02  # of the power, to see what a watt does
LEAST_SLOPE = 1e-6  # K/W of a tick that a command heats
CHUNK = 4096  # ticks between two signs of progress

FACTORS = 0.5, 2.0  # of a factor: where a line begins the plate is cold, and a ratio means little
ROUND = 0.75, 1.3  # of its change in a round: what is missed after a miss is not all a tick's own
LEAST_SHARE = 0.2  # of a miss that a round takes up
HOTTEST = 3.0  # times u of the window's top that temperatures are converted up to,
KNOTS = 4096  # interpolated between so many

WIDTHS = 30.0  # σ that the line is long,
SPREADS = 3.0  # and at least so many σ²/α, in which heat spreads by a beam's width,
PART = 0.6  # but at most this of the plate's length
FINER = 0.5  # of the longest tick that suits a process: the line's, unless the process's own is longer
FEWEST, MOST = 24, 240  # ticks of the line, where the process's own are not longer
LAST = 0.4  # of its ticks that are compared
PASSES = 2  # the second at the power of the first: u of a plate is not quite in proportion to the power


class _TwinRollout(TwinPlayer):
    """A twin that can be told its gain anew before every tick."""

    def set_gain(self, factor: float) -> None:
        """From now on take so many times the gain that it was built with."""
        self._library.laserloop_trust(address(self._memory), ctypes.c_double(factor * self._gain))


@dataclass(frozen=True, slots=True, eq=False)
class PlanCorrection:
    """Factors of the twin's u along one layer, and what the last change of them made of the miss."""

    process: Process
    factor: FloatArray  # (ticks,)
    missed: FloatArray | None = None  # (ticks,), ln u found over expected, before the factor was last changed
    share: FloatArray | None = None  # (ticks,), of that which the change took up

    def apply(self, temperature: FloatArray, first: int) -> FloatArray:
        """What the twin expects of the ticks from `first` on, K, corrected."""
        u, T = _tabulate(self.process)
        factor = self.factor[first : first + len(temperature)]
        return np.interp(factor * np.interp(temperature, T, u), u, T)

    def improve(
        self, expected: FloatArray, found: FloatArray, lit: NDArray[np.bool_], part: float = 1.0
    ) -> "PlanCorrection":
        """The factors with which the twin would have expected what was found in lit ticks, K; `part` of it.

        Where the last change of a factor turned its miss around, the next takes the share up that would have
        been right (secant): a plate that melts answers a watt more than the twin, and would be missed on
        either side in turn for ever.
        """
        u, T = _tabulate(self.process)
        least = u[1]
        missed = np.log(
            np.maximum(np.interp(found, T, u), least) / np.maximum(np.interp(expected, T, u), least)
        )
        share = np.ones(len(missed))
        if self.missed is not None and self.share is not None:
            turned = self.missed * missed < 0
            span = np.where(turned, np.abs(self.missed) + np.abs(missed), 1.0)
            share = np.where(turned, self.share * np.abs(self.missed) / span, self.share)
            share = np.maximum(share, LEAST_SHARE)
        share = part * share
        factor = np.clip(self.factor * np.clip(np.exp(share * missed), *ROUND), *FACTORS)
        return replace(self, factor=np.where(lit, factor, 1.0), missed=missed, share=share)


@lru_cache(maxsize=4)
def _tabulate(process: Process) -> tuple[FloatArray, FloatArray]:
    """u and T, both rising."""
    table = tabulate(process.material, process.ambient)
    top = float(table.theta_of(np.array([process.window[1]]))[0])
    u = np.linspace(0.0, HOTTEST * top, KNOTS)
    return u, table.temperature_of(u)


def make_player(process: Process, *, horizon: int, speed: float, gain: float) -> _TwinRollout:
    """The twin of a process for beams up to a speed, m/s."""
    problem = MpcProblem(window=process.window, power=process.laser.power, horizon=horizon)
    twin = TwinPredictor(replace(process, speed=speed), TwinSettings(horizon=horizon))
    try:
        return _TwinRollout(twin, make_twin_problem(problem), gain=gain)
    except NoCompiler as missing:
        raise BadInput(
            f"planning a whole path needs a C compiler, but there is none ({missing}); install gcc or clang."
        ) from None


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Power and temperature tick by tick."""

    power: FloatArray  # (ticks,), W, while the laser is on
    temperature: FloatArray  # (ticks,), K, at the end of each


def plan_ticks(
    player: _TwinRollout,
    path: ScanPath,
    progress: Progress | None = None,
    correction: PlanCorrection | None = None,
) -> Course:
    """The power of every tick while the laser is on in it, without any measurement."""
    n, beyond = len(path), player.horizon
    way, lit = path.preview(0, n + beyond), path.preview_lit(0, n + beyond).copy()
    partly = np.append(np.flatnonzero(path.lit_shares != path.lit), n)
    parts = list[tuple[FloatArray, FloatArray]]()
    k = told = 0
    while k < n:
        if correction is not None:
            player.set_gain(float(correction.factor[k]))
        until = int(partly[np.searchsorted(partly, k)])
        if until == k:
            parts.append(_plan_partly(player, way[k:], lit[k:], float(path.lit_shares[k])))
            k += 1
        else:
            step = min(until - k, CHUNK if correction is None else 1)
            parts.append(player.plan(way[k:], lit[k:], step))
            k += step
        if progress is not None and k - told >= CHUNK:
            told = k
            progress(k, n)
    power, temperature = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Course(power, temperature)


def _plan_partly(
    player: _TwinRollout, way: FloatArray, lit: NDArray[np.bool_], share: float
) -> tuple[FloatArray, FloatArray]:
    """One tick that is lit for a share of its time: the power that suits a whole one, and its outcome."""
    lit[0] = True
    state = player.save()
    power, _ = player.plan(way, lit, 1)
    player.restore(state)
    return power, player.follow(way[:2], share * power)


class CommandOptimizer:
    """Finds the power of each command in turn, given all before it as they will be written."""

    def __init__(
        self,
        player: _TwinRollout,
        process: Process,
        route: Route,
        nominal: FloatArray,
        step: float,
        correction: PlanCorrection | None = None,
    ) -> None:
        self._player, self._process, self._route, self._nominal = player, process, route, nominal
        self._step, self._correction = step, correction
        path, middle = route.path, 0.5 * sum(process.window)
        self._shares = path.lit_shares
        self._light = self._shares > 0
        self._aimed = count_ticks(process, path, nominal, middle).below  # where the middle can be had
        self._power = np.zeros(len(path))  # of the commands so far
        self._covered = np.zeros(len(path))  # share of the lit time of each tick that they have
        self._temperature = np.zeros(len(path))
        self._done = 0  # ticks that the player has gone
        self._last = 0.5 * sum(process.laser.power)

    def solve(self, commands: Commands, progress: Progress | None = None) -> tuple[FloatArray, Course]:
        """Powers of the commands, W, and what they lead to."""
        powers = np.empty(len(commands))
        for c in range(len(commands)):
            powers[c] = self._last = self._find(commands.starts[c], commands.ends[c])
            if progress is not None and c % 64 == 0:
                progress(c, len(commands))
        self._advance(len(self._power))
        return powers, Course(self._power, self._temperature)

    def _find(self, start: float, end: float) -> float:
        first, weight = self._tick_shares(start, end)
        last = first + len(weight)
        self._advance(first)
        own = slice(first, last)
        rest = 1.0 - self._covered[own] - weight
        nominal, shares = self._nominal[own], self._shares[own]
        mass = float(np.sum(weight * shares))
        power = float(np.sum(weight * shares * nominal)) / mass if mass > 1e-9 else self._last
        most = self._process.laser.power[1]
        if mass > 1e-9:
            power, most = self._fit_power(power, own, weight, np.maximum(rest, 0.0))
        power = self._round(power, most)
        self._power[own] += weight * power * self._light[own]
        self._covered[own] += weight
        return power

    def _tick_shares(self, start: float, end: float) -> tuple[int, FloatArray]:
        """The first tick of a command, and which share of the lit time of each of its ticks it has."""
        tick, n = self._route.path.tick, len(self._power)
        first = min(int(start / tick + 1e-6), n - 1)
        last = max(first + 1, min(int(np.ceil(end / tick - 1e-6)), n))
        k = np.arange(first, last)
        overlap = np.minimum(end, (k + 1) * tick) - np.maximum(start, k * tick)
        lit = self._route.lit_time[first:last]
        return first, np.clip(overlap / np.where(lit > 0, lit, np.inf), 0.0, 1.0 - self._covered[first:last])

    def _fit_power(
        self, power: float, own: slice, weight: FloatArray, rest: FloatArray
    ) -> tuple[float, float]:
        """Least squares over the command's ticks and those beyond, which go on as is best for them.

        Also the most that keeps the command's own ticks below the window's top.
        """
        n, high = len(self._power), self._process.laser.power[1]
        far = min(own.stop + BEYOND, n)
        base = self._nominal[own.start : far].copy()
        base[: len(weight)] = self._power[own] + rest * self._nominal[own]
        mask, light = self._aimed[own.start : far], self._light[own.start : far]
        shape = np.zeros(far - own.start)
        shape[: len(weight)] = weight
        other = power * (1.0 + PROBE) if power * (1.0 + PROBE) <= high else power * (1.0 - PROBE)
        if other == power:
            other = power + PROBE * high
        state = self._player.save()
        T = list[FloatArray]()
        for watts in (power, other):
            T.append(self._follow(own.start, light * (base + shape * watts)))
            self._player.restore(state)
        slopes = (T[1] - T[0]) / (other - power)
        slope = slopes[mask]
        foot, top = self._process.window
        middle, top = 0.5 * (foot + top), top - MARGIN * (top - foot)
        norm = float(slope @ slope)
        best = power + float(slope @ (middle - T[0][mask])) / norm if norm > 1e-12 else power
        inside = self._route.path.lit[own]
        own_slope, room = slopes[: len(weight)][inside], top - T[0][: len(weight)][inside]
        limits = power + room[own_slope > LEAST_SLOPE] / own_slope[own_slope > LEAST_SLOPE]
        return best, float(limits.min(initial=high))

    def _follow(self, first: int, power: FloatArray) -> FloatArray:
        """What some powers, W, lead to from a tick on, K, if they hold while the laser is on."""
        way = self._route.path.positions[first : first + len(power) + 1]
        found = self._player.follow(way, power * self._shares[first : first + len(power)])
        return found if self._correction is None else self._correction.apply(found, first)

    def _round(self, power: float, most: float) -> float:
        """A whole number of the laser's steps up to `most`, within its limits and above 0."""
        low, high = self._process.laser.power
        step = self._step
        whole = min(round(power / step), np.floor(min(most, high) / step + 1e-9))
        return float(round(max(whole, 1.0, np.ceil(low / step - 1e-9)) * step, 9))

    def _advance(self, to: int) -> None:
        """Go on to a tick with what is decided."""
        if to > self._done:
            span = slice(self._done, to)
            self._temperature[span] = self._follow(self._done, self._power[span])
            self._done = to


@lru_cache(maxsize=8)  # of a process and speed each, whoever plans with them
def calibrate_gain(process: Process, speed: float) -> float:
    """u of the plate over u of the twin behind a beam that goes straight on, m/s, at the window's middle.

    It belongs to process and speed, not to the tick: one that is finer than need be is taken several times.
    """
    line = lay_line(process, speed)
    if line is None:
        return 1.0
    process = replace(process, speed=speed, tick=line.tick)
    table, gain = tabulate(process.material, process.ambient), 1.0
    plant = make_plant("graded", process)
    last = slice(-max(1, int(LAST * len(line))), None)
    for _ in range(PASSES):
        course = plan_ticks(make_player(process, horizon=HORIZON, speed=speed, gain=gain), line)
        plant.reset()
        T = [plant.step(float(watts), line.spot(k)).peak.temperature for k, watts in enumerate(course.power)]
        expected = table.theta_of(course.temperature[last])
        gain *= float(np.mean(table.theta_of(np.array(T)[last]) / expected))
    return gain


def lay_line(process: Process, speed: float) -> ScanPath | None:
    """A straight line, long enough in beam widths and in time; None if the plate has no room for one."""
    sigma, tick = process.beam.sigma, process.tick
    alpha = read_alpha(process.material, process.ambient, 0.5 * sum(process.window))
    wanted = max(WIDTHS * sigma, SPREADS * speed * sigma**2 / alpha)
    length = min(wanted, PART * process.plate[0])
    longest = min(FINER * find_longest_tick(process, speed), length / (FEWEST * speed))
    tick *= max(1, int(longest / tick * (1 + 1e-9)))
    length = min(length, MOST * speed * tick)
    if length < 4 * speed * tick:
        return None
    ends = np.array([[-0.5, 0.0], [0.5, 0.0]]) * length
    return sample_polyline(ends, name="straight line", speed=speed, tick=tick)
