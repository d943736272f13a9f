"""Scan paths: where the beam is at t = 0, Δt, 2Δt, …, and in which ticks the laser may be on; on a plate.

A preview is what the scanner knows of a path at a tick: the way ahead, the way behind and the powers it gave.
A plate is a rectangle centred on the origin, given as (width, height) in m.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput, count, is_finite, is_whole, show

if TYPE_CHECKING:
    from laserloop.process import Process

DEFAULT_TICK = 1.25e-4  # s, the control period: 8 kHz
DEFAULT_SPEED = 0.304  # m/s; five ticks travel 0.19 mm
FASTEST = 20.0  # m/s of a beam that heats; beyond, a number was in mm/min
AT_REST = 1e-12  # m in a tick: what rounding moves a beam that waits
SETTLING_TICKS = 10  # after the laser comes on; until then the peak temperature rises, whatever the power
DEFAULT_PLATE = (15e-3, 10e-3)  # m
ROUNDING = 1e-9  # m; a point on the edge is on the plate
HUGE = 1e6  # m; no unit explains more
TINY = 4.0  # σ; a path as small was given in another unit
SLIP = 20.0  # times the plate: a path as large was given in another unit
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)


# No slots: cached_property keeps the velocities, which a controller reads at every tick.
@dataclass(frozen=True, kw_only=True, eq=False)
class ScanPath:
    """The beam's positions ξ_0 … ξ_n, one tick apart; the origin is the centre of the plate.

    Arrays are copied and made read-only. A tick is lit when the laser may be on for at least half of it. The
    power that the file commands in a tick is the mean over its lit part, which `shares` tells.
    """

    name: str
    positions: FloatArray  # (n+1, 2), m
    lit: BoolArray = field(default_factory=lambda: np.array(True))  # (n,); one value is for all ticks
    power: FloatArray | None = None  # (n,), W, 0 without any light; None if no file commands it
    tick: float = DEFAULT_TICK  # s
    notes: tuple[str, ...] = ()  # what was assumed about a file; sentences without their full stop
    shares: FloatArray | None = None  # (n,), of each tick that is lit; None: all of a lit one, or none

    def __post_init__(self) -> None:
        positions = np.array(self.positions, dtype=np.float64)
        if positions.ndim != 2 or positions.shape[1] != 2 or len(positions) < 2:
            raise BadInput(
                f"the positions of the path {self.name} must have shape (ticks + 1, 2) with at least one "
                f"tick, but have shape {positions.shape}; give one x, y pair per tick and one more."
            )
        bad = np.flatnonzero(~np.isfinite(positions).all(axis=1))
        if len(bad):
            raise BadInput(
                f"the positions of the path {self.name} must be finite, but position {bad[0] + 1} is "
                f"{positions[bad[0]].tolist()}; correct or remove it."
            )
        check_tick(self.tick)
        object.__setattr__(self, "positions", _frozen(positions))
        object.__setattr__(self, "lit", _frozen(self._check_lit()))
        if self.shares is not None:
            object.__setattr__(self, "shares", _frozen(self._check_shares(self.shares)))
        if self.power is not None:
            object.__setattr__(self, "power", _frozen(self._check_power(self.power)))

    def _check_lit(self) -> BoolArray:
        lit = np.asarray(self.lit)
        if lit.dtype != np.bool_ or lit.shape not in ((), (len(self),)):
            raise BadInput(
                f"lit of the path {self.name} must be {len(self)} booleans, one per tick, but is {lit.dtype} "
                f"of shape {lit.shape}; say for each tick whether the laser may be on."
            )
        return np.array(np.broadcast_to(lit, len(self)))

    def _check_shares(self, values: FloatArray) -> FloatArray:
        shares = np.array(values, dtype=np.float64)
        if shares.shape != (len(self),) or not ((shares >= 0) & (shares <= 1)).all():
            raise BadInput(
                f"the lit shares of the path {self.name} must be {len(self)} numbers from 0 to 1, one per "
                "tick, but are not; correct them."
            )
        return shares

    def _check_power(self, commanded: FloatArray) -> FloatArray:
        power = np.array(commanded, dtype=np.float64)
        if power.shape != (len(self),):
            raise BadInput(
                f"the power of the path {self.name} must have {len(self)} values, one per tick, but has "
                f"shape {power.shape}; give W for each tick, or none."
            )
        bad = np.flatnonzero(~(np.isfinite(power) & (power >= 0) & ((self.lit_shares > 0) | (power == 0))))
        if len(bad):
            raise BadInput(
                f"the power of the path {self.name} must be finite, not negative, and 0 where the laser is "
                f"off, but in tick {bad[0]} it is {power[bad[0]]:g} W; correct it."
            )
        return power

    @classmethod
    def from_mm(
        cls,
        points: ArrayLike,
        *,
        process: "Process | None" = None,
        speed_mm_s: float | None = None,
        tick_us: float | None = None,
        name: str = "points",
    ) -> "ScanPath":
        """The path through points (n, 2) in mm from the plate's centre, by straight lines, always lit.

        Speed and tick are those of the process, which must have room for the path; without one, 304 mm/s and
        125 µs.
        """
        from laserloop.paths.track import check_waypoints, sample_polyline

        for key, value in (("speed_mm_s", speed_mm_s), ("tick_us", tick_us)):
            if value is not None and not is_finite(value):
                raise BadInput(f"{key} of {name} must be a finite number, but is {show(value)}; correct it.")
        corners = 1e-3 * check_waypoints(points, name)
        if process is not None:
            off = first_off_plate(corners, process.plate[:2])
            if off is not None:
                raise off_plate(f"{name}, point {off + 1}", corners[off], process.plate[:2])
        speed = DEFAULT_SPEED if process is None else process.speed
        tick = DEFAULT_TICK if process is None else process.tick
        return sample_polyline(
            corners,
            name=name,
            speed=speed if speed_mm_s is None else 1e-3 * speed_mm_s,
            tick=tick if tick_us is None else 1e-6 * tick_us,
        )

    def __repr__(self) -> str:
        dark = len(self) - int(np.count_nonzero(self.lit))
        return (
            f"ScanPath({self.name!r}: {len(self)} ticks of {1e6 * self.tick:g} µs, {dark} dark, "
            f"{1e3 * len(self) * self.tick:.4g} ms, {1e3 * self.median_speed:.4g} mm/s)"
        )

    def __len__(self) -> int:
        return len(self.positions) - 1

    @property
    def lit_shares(self) -> FloatArray:
        """The share of each tick that the laser is on: what a power means that holds while it is, (n,)."""
        return self.lit.astype(np.float64) if self.shares is None else self.shares

    @property
    def times(self) -> FloatArray:
        """The time of each position, s."""
        return self.tick * np.arange(len(self.positions), dtype=np.float64)

    @cached_property
    def velocities(self) -> FloatArray:
        """(ξ_{j+1} − ξ_j)/Δt at each position, m/s; the last repeats the one before."""
        forward = np.diff(self.positions, axis=0) / self.tick
        return _frozen(np.concatenate([forward, forward[-1:]]))

    @cached_property
    def lit_speeds(self) -> FloatArray:
        """The speed in each lit tick, m/s."""
        return _frozen(np.hypot(*self.velocities[:-1][self.lit].T))

    @property
    def median_speed(self) -> float:
        """Of the lit ticks, m/s; 0 if there is none, or if the beam rests in most of them."""
        speed = float(np.median(self.lit_speeds)) if len(self.lit_speeds) else 0.0
        return speed if speed * self.tick > AT_REST else 0.0

    @cached_property
    def headings(self) -> FloatArray:
        """The direction of motion at each position, rad from x; a resting beam keeps its last (first: 0)."""
        vx, vy = self.velocities.T
        moving = (vx != 0) | (vy != 0)
        last_moving = np.maximum.accumulate(np.where(moving, np.arange(len(vx)), 0))
        return _frozen(np.arctan2(vy, vx)[last_moving])

    def spot(self, k: int) -> FloatArray:
        """Where the beam is at the start and at the end of tick `k`, (2, 2)."""
        if not 0 <= k < len(self):
            raise BadInput(
                f"the path {self.name} has the ticks 0 to {len(self) - 1}, but tick {k} was asked for; "
                "stop at the end of the path."
            )
        return self.positions[k : k + 2]

    def preview(self, k: int, ticks: int) -> FloatArray:
        """ξ_k … ξ_{k+ticks}, (ticks+1, 2), going straight on at the final velocity beyond the end."""
        _check_preview(k, ticks)
        n = len(self)
        if k + ticks <= n:
            return self.positions[k : k + ticks + 1]
        index = np.arange(k, k + ticks + 1)
        beyond = np.maximum(index - n, 0).astype(np.float64)
        final_hop = self.positions[-1] - self.positions[-2]
        return self.positions[np.minimum(index, n)] + np.outer(beyond, final_hop)

    def preview_lit(self, k: int, ticks: int) -> BoolArray:
        """Whether the ticks k … k+ticks−1 are lit; beyond the end as in the last tick."""
        _check_preview(k, ticks)
        return self.lit[np.minimum(np.arange(k, k + ticks), len(self) - 1)]

    def settled(self, first: int = SETTLING_TICKS) -> BoolArray:
        """Lit ticks that follow on at least `first` lit ticks since the start or since the last dark tick."""
        return find_settled(self.lit, first)

    @property
    def counted(self) -> BoolArray:
        """The ticks that have settled, or all lit ones if none has."""
        return mark_settled(self.lit)

    def truncated(self, ticks: int) -> "ScanPath":
        """The first `ticks` ticks of this path."""
        check_ticks(ticks)
        if ticks > len(self):
            raise too_short(self.name, len(self), ticks)
        power, shares = (None if each is None else each[:ticks] for each in (self.power, self.shares))
        return replace(
            self, positions=self.positions[: ticks + 1], lit=self.lit[:ticks], power=power, shares=shares
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preview:
    """The beam's way around now, one position a tick; entry `past` of `positions` is where it is now."""

    time: float  # s, now
    tick: float  # s
    positions: FloatArray  # (past + n + 1, 2), m
    powers: FloatArray  # (past,), W, that led from each past position to the next
    lit: BoolArray = field(default_factory=lambda: np.ones(0, np.bool_))  # (n,), the coming ticks; () is all
    was_lit: BoolArray = field(default_factory=lambda: np.ones(0, np.bool_))  # (past,); () is all

    def __post_init__(self) -> None:
        for name, ticks in (("lit", len(self.ahead) - 1), ("was_lit", len(self.powers))):
            length = len(getattr(self, name))
            if not length:
                object.__setattr__(self, name, np.ones(ticks, np.bool_))
            elif length != ticks:
                raise BadInput(f"{name} must tell of {ticks} ticks, got {length}: cut it to the preview")

    @property
    def power(self) -> float:
        """The power of the tick that ends now, W; a laser that has not started gives none."""
        return float(self.powers[-1]) if len(self.powers) else 0.0

    @property
    def ahead(self) -> FloatArray:
        """(n + 1, 2): where the beam is now and will be, m."""
        return self.positions[len(self.powers) :]

    def age(self, moment: float) -> int:
        """How many ticks ago that moment was."""
        return round((self.time - moment) / self.tick)

    def rewound(self, ticks: int) -> "Preview":
        """The same way as seen some ticks ago; the powers since then are no longer part of it."""
        if ticks == 0:
            return self
        return Preview(
            time=self.time - ticks * self.tick,
            tick=self.tick,
            positions=self.positions,
            powers=self.powers[: len(self.powers) - ticks],
            lit=np.concatenate((self.was_lit[len(self.powers) - ticks :], self.lit)),
            was_lit=self.was_lit[: len(self.powers) - ticks],
        )

    def kinematics(self, horizon: int) -> FloatArray:
        """(horizon, 4): position, m, and velocity, m/s, at the start of each coming tick."""
        way = self.ahead[: horizon + 1]
        return np.concatenate((way[:-1], (way[1:] - way[:-1]) / self.tick), axis=1)


def find_settled(lit: BoolArray, first: int = SETTLING_TICKS) -> BoolArray:
    """Lit ticks that follow on at least `first` lit ticks since the start or since the last dark tick."""
    k = np.arange(len(lit))
    last_dark = np.maximum.accumulate(np.where(lit, -1, k))
    return lit & (k - last_dark > first)


def mark_settled(lit: BoolArray) -> BoolArray:
    """The ticks that have settled, or all lit ones if none has."""
    settled = find_settled(lit)
    return settled if settled.any() else lit


def _check_preview(k: int, ticks: int) -> None:
    if k < 0 or ticks < 0:
        raise BadInput(
            f"a preview must start at tick 0 or later and look 0 or more ticks ahead, but got "
            f"k = {k} and ticks = {ticks}; look forward from a tick of the path."
        )


def check_tick(tick: float) -> None:
    """Refuse a tick that is not a positive time."""
    if not (np.isfinite(tick) and tick > 0):
        raise BadInput(
            f"the tick must be a positive, finite time, but is {tick} s; the default is {DEFAULT_TICK} s."
        )


def check_speed(speed: float, what: str = "the speed") -> None:
    """Refuse a speed at which no beam keeps a surface hot, and say what may have been meant."""
    if speed > FASTEST:
        raise BadInput(
            f"{what} must be at most {1e3 * FASTEST:g} mm/s with the laser on, but is {1e3 * speed:.6g} "
            f"mm/s; give {1e3 * speed / 60:.6g} if it was in mm/min."
        )


def check_ticks(ticks: int) -> None:
    """Refuse a path of no ticks, or of parts of them."""
    if not is_whole(ticks):
        raise BadInput(
            f"ticks of a path must be a whole number, but are {show(ticks)}; give for example 320."
        )
    if ticks < 1:
        raise BadInput(f"a path must have at least 1 tick, but {ticks} were asked for; ask for 1 or more.")


def too_short(name: str, length: int, asked: int) -> BadInput:
    """The sentence for asking more ticks than a path has."""
    return BadInput(
        f"the path {name} is {count(length, 'tick')} long, but {asked} were asked for; "
        f"ask for at most {length}, slow down or lengthen it."
    )


def _frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    array.setflags(write=False)
    return array


def first_off_plate(points: FloatArray, plate: tuple[float, float]) -> int | None:
    """The index of the first of `points` (n, 2) beyond the plate's edge, if there is one."""
    off = np.flatnonzero(~(np.abs(points) <= np.array(plate) / 2 + ROUNDING).all(axis=1))  # NaN is off too
    return int(off[0]) if len(off) else None


def check_on_plate(
    name: str,
    positions: FloatArray,  # (n+1, 2), m
    lit: BoolArray,  # (n,)
    plate: tuple[float, float],
    *,
    cure: str = "",
    units: tuple[str, str] = ("mm", "m"),
) -> None:
    """Refuse a beam that heats where there is no plate; `units` are those of a slip, given and meant."""
    ticks = np.flatnonzero(lit)
    ends = np.union1d(ticks, ticks + 1)
    off = first_off_plate(positions[ends], plate)
    if off is not None:
        cure = describe_size(positions[ends], plate, units) or cure
        raise off_plate(f"{name}, tick {ends[off]}", positions[ends[off]], plate, cure=cure)


def describe_size(points: FloatArray, plate: tuple[float, float], units: tuple[str, str]) -> str:
    """How a sentence about an edge goes on if no shift would help; `units`: the given and the meant one."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.ptp(points, axis=0)
    if not (size > np.array(plate) + ROUNDING).any() or not (size < HUGE).all():
        return ""
    text = f"; {1e3 * size[0]:.4g} × {1e3 * size[1]:.4g} mm of path do not fit on it"
    if (size > SLIP * np.array(plate)).any() and (size / 1e3 <= np.array(plate)).all():
        text += f", a thousandth would: give {units[1]}, not {units[0]}"
    return text


def note_tiny(name: str, positions: FloatArray, lit: BoolArray, sigma: float) -> tuple[str, ...]:
    """A note if a path is hardly wider than its beam; a sentence without its full stop."""
    ticks = np.flatnonzero(lit)
    size = np.ptp(positions[np.union1d(ticks, ticks + 1)], axis=0)
    if not 0 < size.max() < TINY * sigma:
        return ()
    inches = 25.4 * size.max() >= TINY * sigma
    meant = "inches, multiply them by 25.4" if inches else "m, multiply them by 1000"
    return (
        f"{name}: its lit part is only {1e3 * size[0]:.2g} × {1e3 * size[1]:.2g} mm, hardly wider than the "
        f"beam; if its numbers are {meant}",
    )


def off_plate(where: str, point: FloatArray, plate: tuple[float, float], *, cure: str = "") -> BadInput:
    """The sentence for a `point` beyond the edge."""
    x_mm, y_mm = 1e3 * float(point[0]), 1e3 * float(point[1])
    width_mm, height_mm = plate[0] * 1e3, plate[1] * 1e3
    return BadInput(
        f"{where}: every point must lie on the {width_mm:g} × {height_mm:g} mm plate centred on the origin, "
        f"but ({x_mm:g}, {y_mm:g}) mm does not; keep |x| ≤ {width_mm / 2:g} and |y| ≤ {height_mm / 2:g} mm"
        f"{cure}."
    )
