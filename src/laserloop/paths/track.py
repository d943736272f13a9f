"""A track: the moves of one layer joined into one way of the beam, with the speeds and powers of its file."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from math import nan
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths.move import Move
from laserloop.paths.plate import first_off_plate, off_plate, tell_size

MAX_WAYPOINTS = 4_000_000  # of a layer
MAX_FILE_WAYPOINTS = 5 * MAX_WAYPOINTS  # of all layers; arcs of few words have many
GAP = 1e-6  # m; nearer ends are the rounding of a file
BEYOND = 20.0  # times a laser's full power; who asks for more means another unit


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
            where, cure = f"{file}, line {lines[off]}", tell_size(lit, plate, ("µm", "mm"))
            raise off_plate(where, lit[off], plate, cure=cure or ", or centre or shift the path")
        if (lit == lit[0]).all():
            x_mm, y_mm = 1e3 * lit[0]
            raise BadInput(
                f"{file}, line {lines[0]}: a path needs at least two different waypoints, but ({x_mm:g}, "
                f"{y_mm:g}) mm is the only one up to line {lines[-1]}; add another."
            )


def lay_track(moves: Iterable[Move], *, file: object, layer: int | None = None) -> Track:
    """The layer of that number, from 1, or else the first with lit moves.

    Moves that do not meet are joined straight, dark and without a speed.
    """
    layers = _sort_layers(moves, file, 1 if layer is None else layer)
    kept = layers.get(1 if layer is None else layer)
    if not (kept and kept.moves):
        raise BadInput(
            f"{file}: the layer must be 1 to {len(layers)}, of which each has lit moves, but is {layer}; "
            "choose one of these."
        )
    track = _join(kept)
    return track if layer is not None else track.add_notes(_tell_layers(file, track.level, len(layers)))


def lay_layers(moves: Iterable[Move], *, file: object) -> list[Track]:
    """All layers that have lit moves, in the order in which the file begins them."""
    return [_join(kept) for kept in _sort_layers(moves, file, None).values()]


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


def _join(layer: _Layer) -> Track:
    """One track of the moves of a layer."""
    kept = layer.moves

    def gather(name: str, kind: type) -> NDArray[Any]:
        """One of the move's numbers, for each of its points."""
        return np.repeat(np.fromiter(map(attrgetter(name), kept), kind, len(kept)), sizes)

    points = [move.points for move in kept]
    sizes = np.fromiter(map(len, points), np.intp, len(kept))
    z = np.fromiter(chain.from_iterable(points), np.complex128, layer.waypoints)
    lit = gather("lit", np.bool_)
    speeds, powers = gather("speed", np.float64)[1:], gather("power", np.float64)[1:]
    # a joint within rounding is as the move that it leads to
    last = np.cumsum(sizes) - 1
    rests = np.zeros(len(z))
    rests[last] = [move.rest for move in kept]
    track = Track(
        points=np.column_stack([z.real, z.imag]),
        lines=gather("line", np.intp),
        lit=lit[:-1] & lit[1:],
        speeds=speeds,
        powers=powers,
        rests=rests[1:],
        moves=np.repeat(layer.numbers, sizes)[1:],
        level=kept[0].level,
    )
    track.moves[last[:-1]] = -1
    gaps = last[:-1][~(track.lengths[last[:-1]] <= GAP)]
    track.lit[gaps], track.speeds[gaps] = False, np.nan
    return track


def _tell_layers(file: object, level: float, levels: int) -> tuple[str, ...]:
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
    seen, level, line, kept = 0, nan, 1, False
    for count, move in enumerate(moves):
        line, points, lit = move[:3]
        seen += len(points)
        if lit and move.level != level:
            level = move.level
            number = numbers.setdefault(round(level, 8), len(numbers) + 1)
            kept = only in (None, number)
            if layers.get(number) is not layer:
                layer, dark = layers.setdefault(number, _Layer()), _Layer()
        if kept:
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
