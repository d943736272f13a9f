"""G-code with other powers and speeds: the same lines, split where a plan splits their moves.

S  the power as the program's own scale has it      F  the feed, units per minute
"""

from functools import lru_cache, partial
from math import isclose, isnan, nan
from os import PathLike

from laserloop.bad_input import BadInput
from laserloop.paths.gcode_block import Block, parse_lines
from laserloop.paths.gcode_codes import ARCS, PROGRAM_END
from laserloop.paths.gcode_laser import Laser, Light, find_dialect
from laserloop.paths.gcode_line import set_word
from laserloop.paths.gcode_machine import Machine
from laserloop.paths.gcode_split import split_motion, split_rest
from laserloop.paths.move import Move
from laserloop.paths.orders import Order, Orders
from laserloop.paths.text_file import format_number, read_text

DIGITS = 4  # of S, unless the file writes whole numbers
FEED_DIGITS = 3  # of F
SAME = 1e-6  # relative; S or F as near are equal
FREQUENT = 4096  # powers whose numbers are remembered: plans take whole numbers of a step
BY_S = (Light.SWITCH, Light.POWER)


def write_gcode(
    file: str | PathLike[str],
    orders: Orders,
    *,
    s_max: float | None = None,
    power_max: float | None = None,
) -> bytes:
    """The program in `file` with the powers and speeds that are ordered.

    A program that switches its laser by E or by G1 alone gets S on its lit moves, and S0 on its dark ones.
    """
    return _Writer(file, orders, s_max, power_max).write()


class _Writer:
    """Goes through a program as the reader does, and knows what the machine was told so far."""

    def __init__(
        self, file: str | PathLike[str], orders: Orders, s_max: float | None, power_max: float | None
    ) -> None:
        self._file, self._orders = file, orders
        self._text = read_text(file)
        dialect = find_dialect(self._text.lines, file)
        self._laser = Laser(dialect.light, s_max=s_max, power_max=power_max)
        self._machine = Machine(file, self._laser, printer=dialect.printer)
        scale = 1.0 if s_max is None or power_max is None else s_max / power_max  # S per W
        digits = 0 if s_max is not None and writes_whole_s(self._text.lines, file) else DIGITS
        self._round = lru_cache(FREQUENT)(partial(_round_s, scale=scale, digits=digits))
        self._format = lru_cache(FREQUENT)(partial(format_number, digits=DIGITS))
        self._s, self._feed = self._laser.s, nan  # what the written file last said; m/s
        self._unused = list[int]()  # lines whose S no lit move has taken yet
        self._names_s = False  # has the line of an order its own S?

    def write(self) -> bytes:
        """The whole file."""
        lines, ends = self._text.lines, self._text.ends
        machine, laser, count = self._machine, self._laser, 0
        for block in parse_lines(list(lines), self._file):
            before = machine.material
            move = machine.obey(block)
            if ("S" in block.values or block.m) and laser.took_power:
                self._s = laser.s
            if "F" in block.values:
                self._feed = machine.feed
            k = block.line - 1
            unused = "S" in block.values and self._is_unused(move)
            if move is None:
                self._unused += [k] if unused else []
                continue
            order = self._orders.find(count)
            count += 1
            self._names_s = order is not None and "S" in block.values
            if order is None:
                written = self._keep(lines[k], move)
            else:
                written = self._change(lines[k], block, move, order, before)
            lines[k] = written.replace("\n", ends[k] or self._text.end) if "\n" in written else written
            self._unused += [k] if unused else []
        return self._text.join()

    def _is_unused(self, move: Move | None) -> bool:
        """Whether the S of a block is a power that its own move does not take."""
        by_s = self._laser.light in BY_S or self._laser.light is Light.FAN
        return by_s and self._laser.took_power and self._laser.s > 0 and not (move is not None and move.lit)

    def _keep(self, line: str, move: Move) -> str:
        """A move without an order: what the file means, if something else was said before."""
        rests, s = move.rest > 0, nan
        if self._laser.light in BY_S:
            kept_dark = self._laser.is_switched_on and not self._laser.s > 0  # by S alone
            if move.lit or (kept_dark and (rests or not self._machine.is_rapid)):
                s = self._laser.s
        elif self._laser.light is Light.FAN:
            if move.lit:
                s = self._laser.s
        elif move.lit and len(self._orders):
            raise BadInput(
                f"{self._file}, line {move.line}: a program that gives no powers must be planned as a whole, "
                "but this move has none; plan all layers."
            )
        elif len(self._orders) and (rests or self._machine.motion != 0) and self._s > 0:
            s = 0.0
        return self._say(line, s, nan if rests else self._machine.feed, rests=rests)

    def _change(self, line: str, block: Block, move: Move, order: Order, material: float) -> str:
        """The lines of a move with an order."""
        rests = move.rest > 0
        if not rests and self._machine.motion == 0:
            raise BadInput(
                f"{self._file}, line {move.line}: a rapid move cannot have a power, but G0 is lit here by E; "
                "write G1."
            )
        shares, powers, speed = order
        feed = nan if rests else self._machine.feed if isnan(speed) else speed
        if len(shares) > 1 and not PROGRAM_END.isdisjoint(block.m):
            shares, powers = [1.0], [sum(powers) / len(powers)]
        if len(shares) == 1:
            return self._say(line, self._round(powers[0]), feed, rests=rests)
        pieces = zip(self._split(line, block, move, shares, material), powers, strict=True)
        return "\n".join([self._say(piece, self._round(power), feed, rests=rests) for piece, power in pieces])

    def _split(self, line: str, block: Block, move: Move, shares: list[float], material: float) -> list[str]:
        """A line in pieces that end at these shares."""
        if move.rest > 0:
            return split_rest(line, shares)
        where, frame = f"{self._file}, line {move.line}", self._machine.frame
        clockwise = frame.motion == 20 if frame.motion in ARCS else None
        return split_motion(line, move, shares, frame, block.values, (material, clockwise, where))

    def _say(self, line: str, s: float, feed: float, *, rests: bool) -> str:
        """A line with S and F, unless NaN or as before; S in a line of its own where this has no place.

        An S of the file that no lit move would take any more says this one instead.
        """
        before = ""
        if not (isclose(self._s, s, rel_tol=SAME) or isnan(s)):
            self._s, number = s, self._format(s)
            if self._unused and s > 0 and not self._names_s:
                self._say_earlier(s)
            elif self._laser.light is Light.FAN:
                before = f"M106 S{number}\n"
            elif rests:
                before = f"S{number}\n"
            else:
                line = set_word(line, "S", number)
        if not (isclose(self._feed, feed, rel_tol=SAME) or isnan(feed) or self._machine.is_rapid):
            line = set_word(line, "F", format_number(feed / self._machine.frame.unit * 60, FEED_DIGITS))
            self._feed = feed
        if self._names_s:
            self._say_earlier(s)
        if not isnan(s):
            self._unused.clear()
        self._names_s = False
        return before + line

    def _say_earlier(self, s: float) -> None:
        """Put a power in place of those that no lit move has taken."""
        for k in self._unused:
            self._text.lines[k] = set_word(self._text.lines[k], "S", self._format(s))
        self._unused.clear()


def _round_s(power: float, scale: float, digits: int) -> float:
    """S of a power, W, as it will be written, and never 0: that would be the laser off."""
    return max(round(power * scale, digits), 10.0**-digits)


def writes_whole_s(lines: list[str], file: str | PathLike[str]) -> bool:
    """Whether all S of a program are whole numbers, and there are any."""
    found = [block.values["S"] for block in parse_lines(lines, file, {"S"}) if "S" in block.values]
    return bool(found) and all(value == int(value) for value in found)


def find_step(file: str | PathLike[str], s_max: float, power_max: float) -> float:
    """The least change of power, W, that the program's S can tell if it goes on as it did; 0: any."""
    return power_max / s_max if writes_whole_s(read_text(file).lines, file) else 0.0
