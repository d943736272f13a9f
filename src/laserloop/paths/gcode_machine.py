"""A machine that obeys G-code and tells where it went, lit or dark; SI inside.

Of a block first the modes act, then feed and laser, then dwell or motion, as on the machines themselves.
"""

from collections.abc import Iterable, Iterator
from math import nan
from os import PathLike
from typing import NamedTuple

from laserloop.bad_input import BadInput
from laserloop.paths import gcode_codes as codes
from laserloop.paths.gcode_arc import follow_arc
from laserloop.paths.gcode_block import Block
from laserloop.paths.gcode_laser import Laser
from laserloop.paths.level import check_level
from laserloop.paths.move import Move

MM, INCH = 1e-3, 25.4e-3  # m
NAMED = 8  # words in a note
PLAIN = frozenset(((), (0,), (10,), (20,), (30,)))  # codes of the lines that most lines are
AXES, NO_AXES = frozenset("XYZIJRE"), frozenset("ABCTUVW")  # that lead this machine somewhere, or do not
XY, PLACES, BENDS = frozenset("XY"), frozenset("XYIJ"), frozenset("IJR")
STRAIGHT = (0, 10)
new = tuple.__new__  # in half the time of Move(…)


class Frame(NamedTuple):
    """How a line's numbers are meant, after it."""

    motion: int  # 0, 10, 20 or 30
    unit: float  # m
    zero: complex  # m, of the program's coordinates, on the plate
    absolute: bool
    absolute_arcs: bool
    absolute_material: bool
    material: float  # where the E axis is


class Machine:
    """Modes and place of a laser on three axes; starts at the plate's centre, in mm, absolute."""

    def __init__(self, file: str | PathLike[str], laser: Laser, *, printer: bool = False) -> None:
        self._file, self._laser, self._printer = file, laser, printer
        self._place, self._height = 0j, 0.0
        self.material = 0.0  # where the E axis is
        self._zero, self._zero_height = 0j, 0.0  # of the program's coordinates, on the plate
        self._known, self._known_height = False, False  # whether the file said where the machine is
        self._unit, self._plane = MM, 170
        self._absolute, self._absolute_arcs, self._absolute_material = True, False, True
        self._motion: int | None = None
        self.feed = nan  # m/s; NaN if there was none
        self._unknown: dict[str, int] = {}  # word → its first line
        self._guessed_start: int | None = None  # line
        self._rested: int | None = None  # line
        # Of a straight motion lit, level, speed, power and rest: found once while lines give but places.
        self._steady: dict[int | None, tuple[bool, float, float, float, float]] = {}

    def follow(self, blocks: Iterable[Block]) -> Iterator[Move]:
        """Obeys block by block."""
        for block in blocks:
            move = self.obey(block)
            if move is not None:
                yield move

    def tell(self) -> Iterator[str]:
        """What was passed over or assumed on the way; sentences without their full stop."""
        if self._unknown:
            words = list(self._unknown)
            more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
            first = self._unknown[words[0]]
            yield f"{self._file}, line {first} and after: {', '.join(words[:NAMED])}{more} passed over"
        if self._guessed_start is not None:
            yield (
                f"{self._file}, line {self._guessed_start} moves with the laser on from a place that the "
                "file does not give; the path begins at its end, or at the plate's centre if it is relative"
            )
        if self._rested is not None:
            unit = "milliseconds, as in Marlin" if self._printer else "seconds, as in LinuxCNC and GRBL"
            yield f"{self._file}, line {self._rested}: P of G4 is read as {unit}"

    def obey(self, block: Block) -> Move | None:
        """Where a block leads, if anywhere."""
        line, g, m, values = block
        if not XY.issuperset(values) or m or g not in PLAIN:
            self._steady.clear()
            if m or g not in PLAIN or not NO_AXES.isdisjoint(values):
                return self._obey_codes(block)
        if g:
            self._motion = g[0]
        steady = self._steady.get(self._motion)
        if steady is not None and values:
            start = self._place
            self._place = place = self._find_place(values)
            return None if start == place else new(Move, (line, [start, place], *steady))
        if "S" in values:
            self._laser.obey(block)
        if "F" in values:
            self._set_feed(block)
        return None if AXES.isdisjoint(values) else self._move(block)

    def _obey_codes(self, block: Block) -> Move | None:
        """A block with more than a motion."""
        foreign = self._note_unknown(block)
        for code in block.g:
            self._set_mode(code)
        for code in block.m:
            if code in (820, 830):
                self._absolute_material = code == 820
        self._laser.obey(block)
        if codes.DWELL in block.g:
            return self._rest(block)
        if "F" in block.values and not foreign:
            self._set_feed(block)
        if codes.NEW_ORIGIN in block.g:
            self._rename_place(block)
        elif not codes.ELSEWHERE.isdisjoint(block.g):
            self._get_lost(block)
        elif not (foreign or AXES.isdisjoint(block.values)):
            return self._move(block)
        return None

    @property
    def motion(self) -> int:
        """The last motion: 0, 10, 20 or 30 for G0 to G3."""
        return self._motion or 0

    @property
    def is_rapid(self) -> bool:
        """Whether the motion has a speed of its own."""
        return self._motion == 0 and not self._printer

    @property
    def frame(self) -> "Frame":
        """How numbers are meant now."""
        return Frame(
            motion=self.motion,
            unit=self._unit,
            zero=self._zero,
            absolute=self._absolute,
            absolute_arcs=self._absolute_arcs,
            absolute_material=self._absolute_material,
            material=self.material,
        )

    def _refuse(self, block: Block, why: str) -> BadInput:
        return BadInput(f"{self._file}, line {block.line}: {why}")

    def _note_unknown(self, block: Block) -> bool:
        """Whether the block's numbers belong to a command that is not known here, or to a fan."""
        foreign = not codes.FAN.isdisjoint(block.m)
        for letter, block_codes, harmless, refused in (
            ("G", block.g, codes.HARMLESS_G, codes.REFUSED_G),
            ("M", block.m, codes.HARMLESS_M, codes.REFUSED_M),
        ):
            for code in block_codes:
                if code in refused or (code == 100 and "L" in block.values):
                    raise self._refuse(
                        block,
                        f"{letter}{code / 10:g} leads the beam in a way that is not followed here; let the "
                        "program that wrote the file put it into plain G0 to G3.",
                    )
                if code not in harmless:
                    foreign = True
                    self._unknown.setdefault(f"{letter}{code / 10:g}", block.line)
        if not foreign:
            for letter in NO_AXES.intersection(block.values):
                self._unknown.setdefault(letter, block.line)
        return foreign and codes.MOTIONS.isdisjoint(block.g)

    def _set_mode(self, code: int) -> None:
        match code:
            case 0 | 10 | 20 | 30:
                self._motion = code
            case codes.NO_MOTION:
                self._motion = None
            case 170 | 180 | 190:
                self._plane = code
            case 200 | 210:
                self._unit = INCH if code == 200 else MM
            case 900 | 910:
                self._absolute = self._absolute_material = code == 900
            case 901 | 911:
                self._absolute_arcs = code == 901
            case 921:
                self._zero, self._zero_height = 0j, 0.0

    def _set_feed(self, block: Block) -> None:
        if block.values["F"] <= 0:
            raise self._refuse(block, f"F must be positive, but is {block.values['F']:g}; correct the feed.")
        self.feed = block.values["F"] * self._unit / 60

    def _rest(self, block: Block) -> Move | None:
        letter = next((letter for letter in "PSX" if letter in block.values), None)
        seconds = 0.0 if letter is None else block.values[letter]
        if seconds < 0:
            raise self._refuse(block, f"a dwell must not be negative, but is {seconds:g}; correct it.")
        if not (seconds and self._known):
            return None
        if letter == "P":
            seconds *= 1e-3 if self._printer else 1.0
            self._rested = self._rested or block.line
        places = [self._place, self._place]
        return self._make_move(block, places, lit=self._laser.is_lit_at_rest(), rest=seconds)

    def _rename_place(self, block: Block) -> None:
        """G92: the place where the machine stands gets new coordinates."""
        here, named = self._place - self._zero, block.values
        x = named["X"] * self._unit if "X" in named else here.real
        y = named["Y"] * self._unit if "Y" in named else here.imag
        self._zero = self._place - complex(x, y)
        if "Z" in named:
            self._zero_height = self._height - named["Z"] * self._unit
        self._known = self._known or "X" in named or "Y" in named
        self._known_height = self._known_height or "Z" in named
        self.material = named.get("E", self.material)

    def _get_lost(self, block: Block) -> None:
        """Goes to a place that the file does not give; if it names z alone, x and y stay."""
        if "Z" not in block.values or not block.values.keys().isdisjoint("XY"):
            self._place, self._known = 0j, False
        self._height, self._known_height = 0.0, False

    def _move(self, block: Block) -> Move | None:
        motion, values = self._motion, block.values
        if motion is None:
            raise self._refuse(
                block, "a move needs G0, G1, G2 or G3 before it, but none came yet; add one to the line."
            )
        lit = self._laser.is_lit(motion, self._feed_material(block) if "E" in values else 0.0)
        start, height, known = self._place, self._height, self._known
        self._place = self._find_place(values)
        if "Z" in values:
            self._height = self._find_height(values["Z"])
        climbs = self._known_height and self._height != height
        self._known_height = self._known_height or "Z" in values
        if not (known or PLACES.isdisjoint(values)):
            start = self._begin(block, start, lit=lit)
        bends = motion in codes.ARCS and (lit or (known and self._plane == 170))
        whole_turn = bends and not BENDS.isdisjoint(values)
        if start == self._place and not whole_turn:
            return None
        if lit and climbs:
            check_level(height, self._height, f"{self._file}, line {block.line}")
        move = self._make_move(block, self._bend(block, start) if bends else [start, self._place], lit=lit)
        if motion in STRAIGHT and "E" not in values:
            self._steady[motion] = move[2:]
        return move

    def _make_move(self, block: Block, points: list[complex], *, lit: bool, rest: float = 0.0) -> Move:
        rapid = self._motion == 0 and not lit and not self._printer
        speed = nan if rapid else self.feed
        power = self._laser.find_power(self._file, block.line) if lit else 0.0
        return Move(block.line, points, lit, self._height, speed, power, rest)

    def _begin(self, block: Block, start: complex, *, lit: bool) -> complex:
        """Where a first move starts: at its own end, or at the plate's centre if it is relative."""
        self._known = True
        if lit and self._guessed_start is None:
            self._guessed_start = block.line
        if self._absolute and lit and self._motion in codes.ARCS:
            raise self._refuse(
                block, "an arc needs a known start, but no move came before; add G0 with X and Y."
            )
        return self._place if self._absolute else start

    def _bend(self, block: Block, start: complex) -> list[complex]:
        if self._plane != 170:
            raise self._refuse(block, "an arc must lie in the plate's plane, but G18 or G19 is set; set G17.")
        return follow_arc(
            (start, self._place),
            block.values,
            clockwise=self._motion == 20,
            unit=self._unit,
            zero=self._zero if self._absolute_arcs else start,
            where=f"{self._file}, line {block.line}",
        )

    def _find_place(self, given: dict[str, float]) -> complex:
        """Where X and Y lead, on the plate."""
        unit = self._unit
        if not self._absolute:
            return self._place + complex(given.get("X", 0.0) * unit, given.get("Y", 0.0) * unit)
        x = given["X"] * unit + self._zero.real if "X" in given else self._place.real
        y = given["Y"] * unit + self._zero.imag if "Y" in given else self._place.imag
        return complex(x, y)

    def _find_height(self, z: float) -> float:
        """Where Z leads."""
        return z * self._unit + (self._zero_height if self._absolute else self._height)

    def _feed_material(self, block: Block) -> float:
        """How far the E axis advances."""
        value = block.values["E"]
        advance = value - self.material if self._absolute_material else value
        self.material += advance
        return advance
