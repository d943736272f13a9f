"""Tracks: the moves of one layer joined into one way of the beam, and their scan paths, one position a tick.

s  arclength along a polyline, m      t  time since the start of a track, s
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isfinite, nan
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput, plain
from laserloop.paths.path import (
    DEFAULT_SPEED,
    DEFAULT_TICK,
    FASTEST,
    ScanPath,
    check_speed,
    check_tick,
    check_ticks,
    describe_size,
    first_off_plate,
    off_plate,
    too_short,
)

FloatArray = NDArray[np.float64]

FLAT = 1e-9  # m, of a layer
MAX_WAYPOINTS = 4_000_000  # of a layer
MAX_FILE_WAYPOINTS = 5 * MAX_WAYPOINTS  # of all layers; arcs of few words have many
GAP = 1e-6  # m; nearer ends are the rounding of a file
BEYOND = 20.0  # times a laser's full power; who asks for more means another unit
DEFAULT_JUMP_SPEED = 1.0  # m/s, of dark moves to which their file gives no speed
POWER_DIGITS = 6  # µW: the sums over long files are no better
MAX_TICKS = 10_000_000  # 160 MB of positions, 21 minutes of scanning at the default tick
MIN_HOP = 1e-12  # m per tick; a slower beam is no scan
ROUNDING = 1e-6  # ticks; a line of exactly 100 ticks has 100 in spite of rounding


class Move(NamedTuple):
    """Where the beam goes without a change of the laser, and how long it rests at the end."""

    line: int  # of the file
    points: Sequence[complex]  # x + iy, m; one place twice is a rest alone
    lit: bool = True
    level: float = 0.0  # m, height of its layer; of no meaning if dark
    speed: float = nan  # m/s; NaN where the file gives none
    power: float = nan  # W; NaN where the file gives none
    rest: float = 0.0  # s, at the last point


@dataclass(frozen=True, slots=True)
class Moves:
    """All moves of a file in its order, and what there is to say once they have been gone through."""

    each: Iterable[Move]
    notes: Callable[[], Iterable[str]] = tuple  # sentences without their full stop

    def __iter__(self) -> Iterator[Move]:
        return iter(self.each)


def check_level(before: float, after: float, where: str) -> None:
    """Refuse a move with the laser on that climbs, m."""
    if abs(after - before) > FLAT:
        raise BadInput(
            f"{where}: a move with the laser on must stay in its layer, but goes from z = {1e3 * before:g} "
            f"to {1e3 * after:g} mm; export layer by layer."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Track:
    """Legs from waypoint to waypoint; leg k ends in point k + 1 and the beam may rest there.

    The first and the last leg are lit. Moves count from 0 in the order of the file, through all its layers;
        the joint between two is of none, -1.
    """

    points: NDArray[np.float64]  # (n, 2), m
    lines: NDArray[np.intp]  # (n,), of the file
    lit: NDArray[np.bool_]  # (n-1,), during the leg and its rest
    speeds: NDArray[np.float64]  # (n-1,), m/s; NaN where the file gives none
    powers: NDArray[np.float64]  # (n-1,), W; NaN where the file gives none, and of no meaning in dark legs
    rests: NDArray[np.float64]  # (n-1,), s
    moves: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))  # (n-1,), which of the file
    level: float = 0.0  # m, height of the layer
    notes: tuple[str, ...] = ()  # what was assumed; sentences without their full stop

    @property
    def lengths(self) -> NDArray[np.float64]:
        """Of the legs, m; infinite or NaN where a dark point is absurdly far."""
        with np.errstate(over="ignore", invalid="ignore"):
            lengths: NDArray[np.float64] = np.hypot(*np.diff(self.points, axis=0).T)
        return lengths

    @property
    def touched(self) -> NDArray[np.bool_]:
        """The points on which the laser is on, (n,)."""
        touched = np.zeros(len(self.points), dtype=np.bool_)
        touched[:-1] |= self.lit
        touched[1:] |= self.lit
        return touched

    @property
    def is_plain(self) -> bool:
        """Whether it is lit all along and its file gives neither speeds nor powers."""
        return bool((self.lit & np.isnan(self.speeds) & np.isnan(self.powers)).all())

    def add_notes(self, notes: Iterable[str]) -> "Track":
        """The same track with more to say."""
        return replace(self, notes=(*self.notes, *notes))

    def shift(self, offset: tuple[float, float]) -> "Track":
        """The same track elsewhere; `offset` in m."""
        if not np.isfinite(offset).all():
            raise BadInput(f"an offset must be finite, but is {offset} m; give how far to move x and y.")
        return replace(self, points=self.points + offset) if any(offset) else self

    def centre(self) -> "Track":
        """The same track with the middle of its lit part's bounding box on the plate's centre."""
        lit = self.points[self.touched]
        return replace(self, points=self.points - (lit.min(axis=0) / 2 + lit.max(axis=0) / 2))

    def check_power(self, file: object, most: float) -> None:
        """Refuse a lit leg that asks for many times the laser's full power, W."""
        beyond = np.flatnonzero(self.lit & (self.powers > BEYOND * most))
        if len(beyond):
            leg = int(beyond[0])
            asked = float(self.powers[leg])
            raise BadInput(
                f"{file}, line {self.lines[leg + 1]}: a power of {asked:g} W cannot be meant where the laser "
                f"gives {most:g} W; say which number is full power if it is none of watts (--s-max "
                f"{asked:g}), or give the laser's own (--power-max-w)."
            )

    def check(self, file: object, plate: tuple[float, float]) -> None:
        """Refuse a lit point off the plate, and a lit part that stays in one place."""
        lines, lit = self.lines[self.touched], self.points[self.touched]
        off = first_off_plate(lit, plate)
        if off is not None:
            where, cure = f"{file}, line {lines[off]}", describe_size(lit, plate, ("µm", "mm"))
            raise off_plate(where, lit[off], plate, cure=cure or ", or centre or shift the path")
        if (lit == lit[0]).all():
            x_mm, y_mm = 1e3 * lit[0]
            raise BadInput(
                f"{file}, line {lines[0]}: a path needs at least two different waypoints, but ({x_mm:g}, "
                f"{y_mm:g}) mm is the only one up to line {lines[-1]}; add another."
            )


def join_moves(moves: Iterable[Move], *, file: object, layer: int | None = None) -> Track:
    """The layer of that number, from 1, or else the first with lit moves.

    Moves that do not meet are joined straight, dark and without a speed.
    """
    layers = _sort_layers(moves, file, 1 if layer is None else layer)
    chosen = layers.get(1 if layer is None else layer)
    if not (chosen and chosen.moves):
        raise BadInput(
            f"{file}: the layer must be 1 to {len(layers)}, of which each has lit moves, but is {layer}; "
            "choose one of these."
        )
    track = _concatenate(chosen)
    return track if layer is not None else track.add_notes(_note_layers(file, track.level, len(layers)))


def split_layers(moves: Iterable[Move], *, file: object) -> list[Track]:
    """All layers that have lit moves, in the order in which the file begins them."""
    return [_concatenate(layer) for layer in _sort_layers(moves, file, None).values()]


@dataclass(slots=True)
class _Layer:
    """The moves of a layer, each with its number in the file."""

    numbers: list[int] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    waypoints: int = 0

    def add(self, other: "_Layer") -> None:
        self.numbers += other.numbers
        self.moves += other.moves
        self.waypoints += other.waypoints


def _concatenate(layer: _Layer) -> Track:
    """One track of the moves of a layer."""
    moves = layer.moves

    def gather(name: str, kind: type) -> NDArray[Any]:
        """One of the move's numbers, for each of its points."""
        return np.repeat(np.fromiter(map(attrgetter(name), moves), kind, len(moves)), sizes)

    points = [move.points for move in moves]
    sizes = np.fromiter(map(len, points), np.intp, len(moves))
    z = np.fromiter(chain.from_iterable(points), np.complex128, layer.waypoints)
    lit = gather("lit", np.bool_)
    speeds, powers = gather("speed", np.float64)[1:], gather("power", np.float64)[1:]
    # a joint within rounding is as the move that it leads to
    last = np.cumsum(sizes) - 1
    rests = np.zeros(len(z))
    rests[last] = [move.rest for move in moves]
    track = Track(
        points=np.column_stack([z.real, z.imag]),
        lines=gather("line", np.intp),
        lit=lit[:-1] & lit[1:],
        speeds=speeds,
        powers=powers,
        rests=rests[1:],
        moves=np.repeat(layer.numbers, sizes)[1:],
        level=moves[0].level,
    )
    track.moves[last[:-1]] = -1
    gaps = last[:-1][~(track.lengths[last[:-1]] <= GAP)]
    track.lit[gaps], track.speeds[gaps] = False, np.nan
    return track


def _note_layers(file: object, level: float, levels: int) -> tuple[str, ...]:
    if levels == 1:
        return ()
    return (f"{file} has {levels} layers with lit moves; the first, z = {1e3 * level:g} mm, is used",)


def _sort_layers(moves: Iterable[Move], file: object, only: int | None) -> dict[int, _Layer]:
    """By number of the layer its lit moves with the dark ones between them; of all but `only` none are kept.

    Layers count from 1 in the order in which the file begins them. What the beam does between two parts of a
    layer while it works on others is left out.
    """
    numbers, layers = dict[float, int](), dict[int, _Layer]()  # level → number → moves
    layer, dark = _Layer(), _Layer()  # of the last lit move, and since then
    seen, level, line, wanted = 0, nan, 1, False
    for count, move in enumerate(moves):
        line, points, lit = move[:3]
        seen += len(points)
        if lit and move.level != level:
            level = move.level
            number = numbers.setdefault(round(level, 8), len(numbers) + 1)
            wanted = only in (None, number)
            if layers.get(number) is not layer:
                layer, dark = layers.setdefault(number, _Layer()), _Layer()
        if wanted:
            if lit and dark.moves:
                layer.add(dark)
                dark = _Layer()
            part = layer if lit else dark
            part.numbers.append(count)
            part.moves.append(move)
            part.waypoints += len(points)
        if layer.waypoints + dark.waypoints > MAX_WAYPOINTS or seen > MAX_FILE_WAYPOINTS:
            most, what = (
                (MAX_FILE_WAYPOINTS, "file") if seen > MAX_FILE_WAYPOINTS else (MAX_WAYPOINTS, "layer")
            )
            raise BadInput(
                f"{file}, line {line}: a {what} may have at most {most} waypoints, but has more; cut it "
                "into pieces."
            )
    if not numbers:
        raise no_lit_moves(file, line)
    return layers


def no_lit_moves(file: object, line: int) -> BadInput:
    """The sentence for a file in which the laser is never on up to the last move, in that line."""
    return BadInput(
        f"{file}, line {line}: a path needs moves with the laser on, but up to here, where the last move "
        "is, it has none; check where the laser is on."
    )


class Timeline:
    """When the beam is where along a track: each leg, then its rest."""

    def __init__(
        self,
        track: Track,
        name: str,
        *,
        tick: float,
        speed: float | None = None,
        default_speed: float = DEFAULT_SPEED,
        jump_speed: float = DEFAULT_JUMP_SPEED,
    ) -> None:
        """`speed` is for all lit legs; without it `default_speed` is for those that have none."""
        for usual in (default_speed, speed):
            if usual is not None:
                hop_length(usual, tick)
        self._track, self._name, self._tick = track, name, tick
        speeds, self._notes = _choose_speeds(
            track, name, speed=speed, default_speed=default_speed, jump_speed=jump_speed
        )
        self._steps = np.empty(2 * len(speeds))  # leg, rest, leg, rest, …; s
        with np.errstate(over="ignore", invalid="ignore"):
            self._steps[::2], self._steps[1::2] = track.lengths / speeds, track.rests
            times = np.concatenate([[0.0], np.cumsum(self._steps)])
            self._passed = np.append(True, np.diff(times) > 0)
        self.end = float(times[-1])
        self.starts, self.ends = times[:-1:2], times[2::2]  # (legs,), s, each with its rest
        self._times = times[self._passed]

    def sample(self, ticks: int | None = None) -> ScanPath:
        """The path at t = tick·j, up to `ticks` or the last full tick.

        A tick is lit if at least half of it is; its power is the mean over its lit part, however short.
        """
        track, name, tick, notes = self._track, self._name, self._tick, self._notes
        ticks = _count_ticks(
            self.end / tick,
            ticks,
            name,
            size=f"{name}, which lasts {self.end:g} s,",
            check="check its speeds and rests, or give a number of ticks",
            short=f"lasts {plain(1e6 * self.end)} µs and a tick {1e6 * tick:g} µs",
        )
        t = tick * np.arange(ticks + 1, dtype=np.float64)
        lit_time = self.lit_time(t)
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
            energy = np.diff(self._integrate(np.where(track.lit, track.powers, 0.0), t))
            power = _average(energy, lit_time, shares > 0, track.powers[track.lit])
        elif not unpowered.all():
            notes += (
                f"{name}: some lit moves have no power of their own, so the powers of the others are left "
                "out",
            )
        notes += self._describe_dark(f"{np.count_nonzero(~lit)} of {ticks}")
        corners = np.repeat(track.points, 2, axis=0)[1:][self._passed]
        positions = np.column_stack([np.interp(t, self._times, axis) for axis in corners.T])
        return ScanPath(
            name=name, positions=positions, lit=lit, power=power, tick=tick, notes=notes, shares=shares
        )

    def lit_time(self, t: FloatArray) -> FloatArray:
        """How long the laser is on from each time to the next, s."""
        return np.diff(self._integrate(self._track.lit, t))

    def _integrate(self, rates: NDArray[np.generic], t: FloatArray) -> FloatArray:
        """∫ rate dt from 0 to `t`; a leg and its rest have one rate."""
        total = np.concatenate([[0.0], np.cumsum(self._steps * np.repeat(rates, 2))])
        return np.asarray(np.interp(t, self._times, total[self._passed]))

    def _describe_dark(self, dark_ticks: str) -> tuple[str, ...]:
        """How much of the track is dark; a sentence without its full stop, or none."""
        dark, lengths = ~self._track.lit, self._track.lengths
        if not dark.any():
            return ()
        count = np.count_nonzero(self._track.lit[:-1] & dark[1:])
        seconds = self._steps.reshape(-1, 2).sum(axis=1)[dark].sum()
        return (
            f"{self._name}: the laser is off {'once' if count == 1 else f'{count} times'}, along "
            f"{plain(1e3 * lengths[dark].sum(), 4)} of {plain(1e3 * lengths.sum(), 4)} mm and for "
            f"{plain(1e3 * seconds, 4)} of {plain(1e3 * self.end, 4)} ms; {dark_ticks} ticks are dark",
        )


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
    """The path along `track`, see `Timeline`, up to `ticks` or the last full tick."""
    timeline = Timeline(
        track, name, tick=tick, speed=speed, default_speed=default_speed, jump_speed=jump_speed
    )
    return timeline.sample(ticks)


def _average(
    energy: FloatArray, lit_time: FloatArray, lit: NDArray[np.bool_], powers: FloatArray
) -> FloatArray:
    """The mean power over the lit part of each tick that has one, W; 0 in the others."""
    mean = np.round(energy / np.where(lit, lit_time, 1.0), POWER_DIGITS)
    return np.where(lit, np.clip(mean, powers.min(), powers.max()), 0.0)


def _choose_speeds(
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


def sample_polyline(
    waypoints: ArrayLike,
    *,
    name: str,
    speed: float = DEFAULT_SPEED,
    tick: float = DEFAULT_TICK,
    ticks: int | None = None,
) -> ScanPath:
    """The path through `waypoints` (m) at s = speed·tick·j, up to `ticks` or the last full tick."""
    hop = hop_length(speed, tick)
    corners = _merge_duplicates(check_waypoints(waypoints, name), name)
    with np.errstate(over="ignore"):
        s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    length = float(s[-1])
    ticks = _count_ticks(
        length / hop,
        ticks,
        name,
        size=f"{name}, {length:g} m at {hop:g} m per tick,",
        check="its speed or its length is off, so check their units",
        short=f"is {plain(1e3 * length)} mm long and one tick advances {plain(1e3 * hop)} mm",
    )
    sampled = hop * np.arange(ticks + 1)
    positions = np.column_stack([np.interp(sampled, s, corners[:, 0]), np.interp(sampled, s, corners[:, 1])])
    return ScanPath(name=name, positions=positions, tick=tick)


def hop_length(speed: float, tick: float) -> float:
    """The distance travelled in one tick, m; refuses a beam that does not move."""
    check_tick(tick)
    if not (np.isfinite(speed) and speed > 0):
        raise BadInput(
            f"the speed must be positive and finite, but is {speed} m/s; the default is {DEFAULT_SPEED} m/s."
        )
    check_speed(speed)
    if speed * tick < MIN_HOP:
        raise BadInput(
            f"the beam must move at least {MIN_HOP:g} m per tick, but {speed:g} m/s over {tick:g} s is "
            f"{speed * tick:g} m; raise the speed or the tick."
        )
    return speed * tick


def _count_ticks(available: float, asked: int | None, name: str, *, size: str, check: str, short: str) -> int:
    """The ticks asked for, or else all that are available; the texts are for who asks for too many or few."""
    if not (isfinite(available) and (available if asked is None else asked) <= MAX_TICKS):
        raise BadInput(
            f"a path may have at most {MAX_TICKS} ticks, but {asked or 'all'} of {size} were asked for; "
            f"{check}."
        )
    most = int(available + ROUNDING)
    if most < 1:
        raise BadInput(
            f"a path must last at least one tick, but {name} {short}; lengthen it, slow down, or give mm if "
            "its numbers are m."
        )
    if asked is None:
        return most
    check_ticks(asked)
    if asked > most:
        raise too_short(name, most, asked)
    return asked


def check_waypoints(waypoints: ArrayLike, name: str) -> NDArray[np.float64]:
    """Points (n, 2) in any unit; refuses all that are none."""
    try:
        points = np.asarray(waypoints, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(
            f"the waypoints of {name} must be pairs of numbers x, y; give one pair per row."
        ) from None
    if points.ndim != 2 or points.shape[1] != 2:
        raise BadInput(
            f"the waypoints of {name} must be rows of x and y, but have shape {points.shape}; "
            "give one pair per row."
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise BadInput(
            f"the waypoints of {name} must be finite, but waypoint {bad[0] + 1} is "
            f"{points[bad[0]].tolist()}; correct or remove it."
        )
    return points


def _merge_duplicates(points: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if not len(points):
        raise BadInput(f"a path needs at least two different waypoints, but {name} has none; add some.")
    moved = np.any(points[1:] != points[:-1], axis=1)
    if not moved.any():
        raise BadInput(
            f"a path needs at least two different waypoints, but in {name} waypoint 1 is "
            f"{points[0].tolist()} m and no other differs up to waypoint {len(points)}; add one."
        )
    return points[np.flatnonzero(np.append(True, moved))]
