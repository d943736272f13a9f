"""A laser on three axes that executes blocks of G-code, and where it goes; SI inside.

Of a block first the modes act, then feed and laser, then dwell or motion, as on the machines themselves.
G and M codes are ten times their number: G91.1 is 911.
"""

from cmath import phase
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from math import ceil, isfinite, nan, pi, sqrt
from typing import NamedTuple

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.text import describe_unknown
from laserloop.paths.track import Move, check_level

MOTIONS, ARCS = frozenset((0, 10, 20, 30)), frozenset((20, 30))  # G0 to G3
DWELL, NEW_ORIGIN, NO_MOTION = 40, 920, 800
ELSEWHERE = frozenset((280, 300, 530))  # homes, and moves in coordinates that no file gives
LASER = frozenset((30, 40, 50))  # M3 to M5
FAN_ON = 1060  # M106
FAN = frozenset((FAN_ON, 1070))
PROGRAM_END = frozenset((20, 300))  # M2, M30
# Absolute or relative material, heaters, fans, accelerations: words of Marlin and RepRap.
PRINTER = FAN | {820, 830, 920, 1040, 1050, 1090, 1400, 1900, 2010, 2030, 2040, 2050}
# Planes, units, absolute or relative, offsets taken back: obeyed.
MODES = frozenset((170, 180, 190, 200, 210, 900, 910, 901, 911, 921))
# Retraction, tools, compensation off, work coordinates, blending, feed per minute: change no way in x, y.
HARMLESS_G = MODES | {100, 110, 150, 290, 400, 430, 431, 490, 500, *range(540, 600, 10), 610, 611, 640, 690}
HARMLESS_G |= {940, 970, 980, 990, DWELL, NEW_ORIGIN, NO_MOTION, *MOTIONS, *ELSEWHERE}
# Pauses, tools, coolant, absolute or relative material.
HARMLESS_M = LASER | FAN | PROGRAM_END | {0, 10, 60, 70, 80, 90, 820, 830}
# Splines, polar coordinates, threads, probes, cutter compensation, scaling, macros, rotation, canned cycles,
# other feeds; subprograms. To pass over these would be to follow another path.
REFUSED_G = frozenset((50, 51, 52, 53, 60, 70, 120, 130, 160, 330, *range(380, 386), 410, 411, 420, 421, 510))
REFUSED_G |= {520, *range(650, 690, 10), *range(700, 800, 10), *range(810, 900, 10), 922, 923, 930, 950}
REFUSED_M = frozenset((970, 980, 990))

MM, INCH = 1e-3, 25.4e-3  # m
PLAIN = frozenset(((), (0,), (10,), (20,), (30,)))  # codes of the lines that most lines are
AXES, NO_AXES = frozenset("XYZIJRE"), frozenset("ABCTUVW")  # that lead this machine somewhere, or do not
XY, PLACES, BENDS = frozenset("XY"), frozenset("XYIJ"), frozenset("IJR")
STRAIGHT = (0, 10)
CHORD_ERROR = 1e-8  # m; a tick's hop is some 10⁻⁵ m
MAX_CHORDS = 100_000  # of an arc: a whole turn of 20 m radius; no plate is as large
MISS = 5e-6  # m; what the rounding of a file may do to a radius,
SHARE = 1e-3  # or this share of it


class Block(NamedTuple):
    """What one line orders."""

    line: int
    g: tuple[int, ...]  # codes, ten times their number
    m: tuple[int, ...]
    values: dict[str, float]  # all other words but N and O, the names of lines and programs


class LaserSignal(Enum):
    """What a program switches the laser with."""

    SWITCH = auto()  # M3, M4, M5, and S
    POWER = auto()  # S alone
    MATERIAL = auto()  # an E axis that advances, as of 3D printers
    FAN = auto()  # M106 and M107: a laser on a printer's fan pin
    MOTION = auto()  # nothing: on in G1, G2 and G3, off in G0


BY_S = (LaserSignal.SWITCH, LaserSignal.POWER)


class Laser:
    """On or off, and with which power, as the words before said; S at `s_max` is `power_max` W."""

    def __init__(
        self, signal: LaserSignal, *, s_max: float | None = None, power_max: float | None = None
    ) -> None:
        if (s_max is None) != (power_max is None) or not all(
            value is None or (isfinite(value) and value > 0) for value in (s_max, power_max)
        ):
            raise BadInput(
                f"the range of S must be two positive numbers, but S at {s_max} is to be {power_max} W; give "
                "both s_max and power_max."
            )
        self.signal = signal
        self._by_words = signal not in (LaserSignal.MATERIAL, LaserSignal.MOTION)  # M or S
        self.took_power = False  # was S in the last block that was obeyed?
        self.is_switched_on = signal is LaserSignal.POWER  # does nothing but S keep it dark?
        self._dynamic = False  # M4: off at rest
        # The last S; M3 without any S is on, with a power not known.
        self.s = 0.0 if signal is LaserSignal.POWER else nan
        self._s_max, self._power_max = s_max, power_max
        self.has_power = False  # did S say with which power so far?

    def execute(self, block: Block) -> None:
        """Takes M3, M4, M5, M106, M107 and S out of a block that has M or S; S of a dwell is its time."""
        self.took_power = False
        for code in block.m:
            if code in LASER:
                self.is_switched_on, self._dynamic = code != 50, code == 40
            elif code in FAN and self.signal is LaserSignal.FAN:
                self.is_switched_on = code == FAN_ON
                self.s = block.values.get("S", self._s_max or nan)  # without S it is on to the full
                self.took_power = True
        if "S" in block.values and DWELL not in block.g and all(code in LASER for code in block.m):
            self.s = block.values["S"]
            self.took_power = True

    def is_lit(self, motion: int, advance: float) -> bool:
        """Whether it is on during a motion that feeds so much material."""
        if self._by_words:
            return motion != 0 and self.is_switched_on and not self.s <= 0
        return advance > 0 if self.signal is LaserSignal.MATERIAL else motion != 0

    def is_lit_at_rest(self) -> bool:
        """Whether it is on during a dwell."""
        return self._by_words and self.is_switched_on and not self.s <= 0 and not self._dynamic

    def find_power(self, file: object, line: int) -> float:
        """What S commands in that line, W; NaN if the program does not say."""
        if not self._by_words:
            return nan
        self.has_power = self.has_power or isfinite(self.s)
        if self._s_max is None or self._power_max is None:
            return self.s
        if self.s > self._s_max:
            raise BadInput(
                f"{file}, line {line}: S must be at most {self._s_max:g}, but is {self.s:g}; correct S or "
                "its range."
            )
        return self.s / self._s_max * self._power_max


class Machine:
    """Modes and place of a laser on three axes; starts at the plate's centre, in mm, absolute."""

    def __init__(self, file: object, laser: Laser, *, printer: bool = False) -> None:
        self._file, self._laser, self._printer = file, laser, printer
        self._place, self._height = 0j, 0.0
        self.material = 0.0  # where the E axis is
        self.zero, self._zero_height = 0j, 0.0  # of the program's coordinates, on the plate
        self._known, self._known_height = False, False  # whether the file said where the machine is
        self.unit, self._plane = MM, 170
        self.absolute, self.absolute_arcs, self.absolute_material = True, False, True
        self._motion: int | None = None
        self.feed = nan  # m/s; NaN if there was none
        self._unknown: dict[str, int] = {}  # word → its first line
        self._guessed_start: int | None = None  # line
        self._rested: int | None = None  # line
        # Of a straight motion lit, level, speed, power and rest: found once while lines give but places.
        self._steady: dict[int | None, tuple[bool, float, float, float, float]] = {}

    def moves(self, blocks: Iterable[Block]) -> Iterator[Move]:
        """Where blocks lead, one after another."""
        return filter(None, map(self.execute, blocks))

    def describe(self) -> Iterator[str]:
        """What was passed over or assumed on the way; sentences without their full stop."""
        yield from describe_unknown(self._file, self._unknown)
        if self._guessed_start is not None:
            yield (
                f"{self._file}, line {self._guessed_start} moves with the laser on from a place that the "
                "file does not give; the path begins at its end, or at the plate's centre if it is relative"
            )
        if self._rested is not None:
            unit = "milliseconds, as in Marlin" if self._printer else "seconds, as in LinuxCNC and GRBL"
            yield f"{self._file}, line {self._rested}: P of G4 is read as {unit}"

    def execute(self, block: Block) -> Move | None:
        """Where a block leads, if anywhere."""
        line, g, m, values = block
        if not XY.issuperset(values) or m or g not in PLAIN:
            self._steady.clear()
            if m or g not in PLAIN or not NO_AXES.isdisjoint(values):
                return self._execute_codes(block)
        if g:
            self._motion = g[0]
        steady = self._steady.get(self._motion)
        if steady is not None and values:
            start = self._place
            self._place = place = self._find_place(values)
            return None if start == place else tuple.__new__(Move, (line, [start, place], *steady))
        if "S" in values:
            self._laser.execute(block)
        if "F" in values:
            self._set_feed(block)
        return None if AXES.isdisjoint(values) else self._move(block)

    def _execute_codes(self, block: Block) -> Move | None:
        """A block with more than a motion."""
        foreign = self._note_unknown(block)
        for code in block.g:
            self._set_mode(code)
        for code in block.m:
            if code in (820, 830):
                self.absolute_material = code == 820
        self._laser.execute(block)
        if DWELL in block.g:
            return self._rest(block)
        if "F" in block.values and not foreign:
            self._set_feed(block)
        if NEW_ORIGIN in block.g:
            self._rename_place(block)
        elif not ELSEWHERE.isdisjoint(block.g):
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

    def _refuse(self, block: Block, why: str) -> BadInput:
        return BadInput(f"{self._file}, line {block.line}: {why}")

    def _note_unknown(self, block: Block) -> bool:
        """Whether the block's numbers belong to a command that is not known here, or to a fan."""
        foreign = not FAN.isdisjoint(block.m)
        for letter, own, harmless, refused in (
            ("G", block.g, HARMLESS_G, REFUSED_G),
            ("M", block.m, HARMLESS_M, REFUSED_M),
        ):
            for code in own:
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
        return foreign and MOTIONS.isdisjoint(block.g)

    def _set_mode(self, code: int) -> None:
        match code:
            case 0 | 10 | 20 | 30:
                self._motion = code
            case 800:
                self._motion = None
            case 170 | 180 | 190:
                self._plane = code
            case 200 | 210:
                self.unit = INCH if code == 200 else MM
            case 900 | 910:
                self.absolute = self.absolute_material = code == 900
            case 901 | 911:
                self.absolute_arcs = code == 901
            case 921:
                self.zero, self._zero_height = 0j, 0.0

    def _set_feed(self, block: Block) -> None:
        if block.values["F"] <= 0:
            raise self._refuse(block, f"F must be positive, but is {block.values['F']:g}; correct the feed.")
        self.feed = block.values["F"] * self.unit / 60

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
        here, named = self._place - self.zero, block.values
        x = named["X"] * self.unit if "X" in named else here.real
        y = named["Y"] * self.unit if "Y" in named else here.imag
        self.zero = self._place - complex(x, y)
        if "Z" in named:
            self._zero_height = self._height - named["Z"] * self.unit
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
        bends = motion in ARCS and (lit or (known and self._plane == 170))
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
        if self.absolute and lit and self._motion in ARCS:
            raise self._refuse(
                block, "an arc needs a known start, but no move came before; add G0 with X and Y."
            )
        return self._place if self.absolute else start

    def _bend(self, block: Block, start: complex) -> list[complex]:
        if self._plane != 170:
            raise self._refuse(block, "an arc must lie in the plate's plane, but G18 or G19 is set; set G17.")
        return self.find_arc(start, self._place, block).points()

    def find_arc(self, start: complex, end: complex, block: Block) -> "Arc":
        """The arc of a block with G2 or G3."""
        values, clockwise = block.values, self._motion == 20
        if values.get("P", 1.0) != 1:
            raise self._refuse(
                block, f"an arc must have one turn, but P is {values['P']:g}; write each turn."
            )
        if "R" in values:
            centre = find_centre(start, end, values["R"] * self.unit, clockwise=clockwise)
            if centre is None:
                raise self._refuse(
                    block,
                    f"an arc's radius must reach from its start to its end, {1e3 * abs(end - start):g} mm "
                    f"apart, but R is {1e3 * values['R'] * self.unit:g} mm; correct R or give I and J.",
                )
        elif "I" in values or "J" in values:
            zero = self.zero if self.absolute_arcs else start
            centre = zero + complex(values.get("I", 0.0), values.get("J", 0.0)) * self.unit
        else:
            raise self._refuse(
                block, "an arc needs its centre by I and J or its radius by R, but has none; add one."
            )
        arc = Arc(start, end, centre, clockwise)
        first, last = arc.radii
        if not arc.closes:
            raise self._refuse(
                block,
                "start and end of an arc must be equally far from its centre, but are "
                f"{1e3 * first:g} and {1e3 * last:g} mm from it; correct I and J.",
            )
        if arc.chords > MAX_CHORDS:
            raise self._refuse(
                block, f"an arc must fit on a plate, but its radius is {first:g} m; check units."
            )
        return arc

    def _find_place(self, values: dict[str, float]) -> complex:
        """Where X and Y lead, on the plate."""
        unit = self.unit
        if not self.absolute:
            return self._place + complex(values.get("X", 0.0) * unit, values.get("Y", 0.0) * unit)
        x = values["X"] * unit + self.zero.real if "X" in values else self._place.real
        y = values["Y"] * unit + self.zero.imag if "Y" in values else self._place.imag
        return complex(x, y)

    def _find_height(self, z: float) -> float:
        """Where Z leads."""
        return z * self.unit + (self._zero_height if self.absolute else self._height)

    def _feed_material(self, block: Block) -> float:
        """How far the E axis advances."""
        value = block.values["E"]
        advance = value - self.material if self.absolute_material else value
        self.material += advance
        return advance


class Arc(NamedTuple):
    """A way round a centre, or the whole turn where the end is the start; x + iy, m."""

    start: complex
    end: complex
    centre: complex
    clockwise: bool

    @property
    def radii(self) -> tuple[float, float]:
        """How far its start and its end are from its centre."""
        return abs(self.start - self.centre), abs(self.end - self.centre)

    @property
    def closes(self) -> bool:
        """Whether both ends lie on one circle, but for rounding."""
        first, last = self.radii
        return first > 0 and last > 0 and abs(first - last) <= max(MISS, SHARE * first)

    @property
    def sweep(self) -> float:
        """The angle travelled, rad, negative if clockwise."""
        turn = -2 * pi if self.clockwise else 2 * pi
        if self.start == self.end:
            return turn
        sweep = phase((self.end - self.centre) / (self.start - self.centre))
        return sweep if sweep * turn > 0 else sweep + turn

    @property
    def chords(self) -> int:
        """How many stay within a hundredth of a micrometre of it, so that no tick can tell."""
        return ceil(abs(self.sweep) / min(pi / 4, sqrt(8 * CHORD_ERROR / self.radii[0])))

    def points(self) -> list[complex]:
        """From its start to its end exactly; where the two radii differ, one grows into the other."""
        share = np.linspace(0, 1, self.chords + 1)
        first, last = self.radii
        arm = (self.start - self.centre) / first
        points = self.centre + arm * (first + (last - first) * share) * np.exp(1j * self.sweep * share)
        return [self.start, *points[1:-1].tolist(), self.end]


def find_centre(start: complex, end: complex, radius: float, *, clockwise: bool) -> complex | None:
    """The centre of the arc of that radius, the longer way round if it is negative; None if it cannot be."""
    chord = abs(end - start)
    rise = radius**2 - chord**2 / 4
    if chord == 0 or chord / 2 > abs(radius) * (1 + SHARE):
        return None
    side = 1 if (radius > 0) != clockwise else -1
    return (start + end) / 2 + side * sqrt(max(rise, 0.0)) * 1j * (end - start) / chord
