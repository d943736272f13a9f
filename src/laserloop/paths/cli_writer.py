"""Layer files with other powers and speeds: $$POWER and $$SPEED where they change, hatches, polylines split.

A command that gets one power stays as it is; of one that gets several the numbers are used again as written.
A power or a speed of the file that nothing would be drawn with any more gives way to the next one.
"""

import re
from itertools import groupby, pairwise
from math import isnan, log10, nan
from os import PathLike

from laserloop.bad_input import BadInput
from laserloop.paths.cli_file import COMMENT, SEPARATOR, Command, Layers, read_commands
from laserloop.paths.move import Move
from laserloop.paths.orders import Order, Orders, find_along
from laserloop.paths.text_file import Text, format_number, read_text, split_lines

NANOMETRE = 1e-9  # m
DIGITS = 4  # of W and mm/s
HEAD = {"HATCHES": 2, "POLYLINE": 3}  # whole numbers before the coordinates
OPEN = "2"  # direction of a polyline that is no closed contour, as the parts of one are
TRAIL = re.compile(r"\s*$")
VALUE = re.compile(r"\$\$\s*\w+[\s/,]*([^\s,/]+)")
Part = tuple[float, float, list[str]]  # W, m/s and the numbers of a polyline or of a hatch


def write_cli(file: str | PathLike[str], orders: Orders) -> bytes:
    """The layer file with the powers and speeds that are ordered."""
    text = read_text(file)
    if len(orders):
        whole = "".join(part for pair in zip(text.lines, text.ends, strict=True) for part in pair)
        text.lines, text.ends = [_Writer(file, text, orders).write(whole)], [""]
    return text.join()


class _Writer:
    """Goes through a layer file as the reader does, and knows what was said so far."""

    def __init__(self, file: str | PathLike[str], text: Text, orders: Orders) -> None:
        self._file, self._text, self._orders = file, text, orders
        self._layers = Layers(file)
        self._power, self._speed = nan, nan  # W and m/s, as the written file has them
        self._count = 0
        self._written = list[str]()
        self._unused: dict[str, list[int]] = {"POWER": [], "SPEED": []}  # of `_written`, not drawn with yet

    def write(self, whole: str) -> str:
        """The whole text, command by command."""
        places = [place.start() for place in re.finditer(r"\$\$", _blank(whole))]
        written, ends = self._written, [*places[1:], len(whole)]
        written.append(whole[: places[0]])
        commands = read_commands("\n".join(self._text.lines), self._file)
        for command, low, high in zip(commands, places, ends, strict=True):
            own = whole[low:high]
            if command.name == "GEOMETRYEND":
                written.append(whole[low:])
                break
            moves = list(self._layers.follow([command]))
            if command.name == "POWER":
                self._power = self._layers.power
            elif command.name == "SPEED":
                self._speed = self._layers.speed
            if command.name in self._unused:
                self._unused[command.name].append(len(written))
            starts_line = not whole[:low].rstrip(" \t") or whole[:low].rstrip(" \t")[-1] in "\r\n"
            written.append(self._write(command, own, moves, starts_line) if moves else own)
        return "".join(written)

    def _write(self, command: Command, own: str, moves: list[Move], starts_line: bool) -> str:
        """A command that draws, with what has to be said before it."""
        found = [self._orders.find(self._count + k) for k in range(len(moves))]
        self._count += len(moves)
        numbers = [text for _, chunk in command.chunks for text in SEPARATOR.split(chunk) if text]
        parts = self._part(command, numbers, moves, found)
        groups = [
            (*key, [part[2] for part in group])
            for key, group in groupby(parts, lambda part: (part[0], part[1]))
        ]
        end = self._text.end if starts_line else ""
        if len(groups) == 1 and all(order is None or len(order.shares) == 1 for order in found):
            return f"{self._say(groups[0][0], groups[0][1], end)}{own}"
        found_comments = [text for line in split_lines(own) for text in COMMENT.findall(line)]
        comments = self._text.end.join(found_comments)  # one that ends with its line stays the last in it
        trail = TRAIL.search(own)
        name = f"$${command.name}"
        written = list[str]()
        for power, speed, drawn in groups:
            said = self._say(power, speed, end)
            written += [f"{said}{name}/{line}" for line in _draw(command, numbers, drawn)]
        return end.join(written) + comments + (trail[0] if trail else "")

    def _part(
        self, command: Command, numbers: list[str], moves: list[Move], found: list[Order | None]
    ) -> list[Part]:
        """Hatches or polylines one by one, each with its power and speed."""
        head, parts = HEAD[command.name], list[Part]()
        size = (len(numbers) - head) // len(moves)
        for k, (move, order) in enumerate(zip(moves, found, strict=True)):
            own = numbers[head + k * size : head + (k + 1) * size]
            if order is None:
                power = self._find_power(move)
                parts.append((power, move.speed, own))
                continue
            speed = move.speed if isnan(order.speed) else order.speed
            pieces = self._split(own, move, order.shares)
            powers = [max(power, 10.0**-DIGITS) for power in order.powers]  # 0 would be the laser off
            parts += [(power, speed, piece) for power, piece in zip(powers, pieces, strict=True)]
        return parts

    def _find_power(self, move: Move) -> float:
        """Of a move without an order; one that has no power while others get one is refused."""
        if isnan(move.power) and len(set(move.points)) == 1:
            return self._power  # it goes nowhere
        if isnan(move.power):
            raise BadInput(
                f"{self._file}, line {move.line}: a file that gives no powers must be planned as a whole, "
                "but this move has none; plan all layers."
            )
        return move.power

    def _split(self, numbers: list[str], move: Move, shares: list[float]) -> list[list[str]]:
        """The numbers of each piece: those of the file, and new ones at the cuts."""
        points = list(move.points)
        corners = [numbers[k : k + 2] for k in range(0, len(numbers), 2)]
        way = [abs(b - a) for a, b in pairwise(points)]
        total, at, share_of = sum(way), 0.0, [0.0]
        for length in way:
            at += length
            share_of.append(at / total)
        unit = self._layers.unit or 1e-3
        digits = max(0, round(log10(unit / NANOMETRE)))
        cuts = find_along(points, shares)[:-1]
        pieces, here, low = list[list[str]](), corners[0], 0.0
        for share, cut in zip(shares, [*cuts, None], strict=True):
            inner = [
                corner
                for corner, place in zip(corners, share_of, strict=True)
                if low + 1e-9 < place < share - 1e-9
            ]
            last = (
                corners[-1]
                if cut is None
                else [format_number(value / unit, digits) for value in (cut.real, cut.imag)]
            )
            pieces.append([text for corner in (here, *inner, last) for text in corner])
            here, low = last, share
        return pieces

    def _say(self, power: float, speed: float, end: str) -> str:
        """What has to be said before a power and a speed hold."""
        said = ""
        if not isnan(power) and power != self._power:
            said += self._tell("POWER", format_number(power, DIGITS), end)
            self._power = power
        if not isnan(speed) and not abs(speed - self._speed) <= 1e-9 * speed:
            said += self._tell("SPEED", format_number(1e3 * speed, DIGITS), end)
            self._speed = speed
        for unused in self._unused.values():
            unused.clear()
        return said

    def _tell(self, name: str, number: str, end: str) -> str:
        """A command of its own, unless the file's own that nothing was drawn with can say the number."""
        for k in self._unused[name]:
            found = VALUE.search(_blank(self._written[k]))
            assert found is not None  # it was read
            own = self._written[k]
            self._written[k] = f"{own[: found.start(1)]}{number}{own[found.end(1) :]}"
        return "" if self._unused[name] else f"$${name}/{number}{end}"


def _draw(command: Command, numbers: list[str], drawn: list[list[str]]) -> list[str]:
    """The values of one command for many hatches, or of one for each polyline."""
    if command.name == "HATCHES":
        return [",".join([numbers[0], str(len(drawn)), *(text for own in drawn for text in own)])]
    return [",".join([numbers[0], OPEN, str(len(own) // 2), *own]) for own in drawn]


def _blank(whole: str) -> str:
    """The text with blanks for its comments, so that places stay."""
    if "//" not in whole:
        return whole
    return re.sub(r"//[^\r\n]*?(?://|(?=[\r\n]|$))", lambda comment: " " * len(comment[0]), whole)
