"""ASCII Common Layer Interface files: polylines and hatches, layer by layer, read and written again.

A file is a list of commands, `$$NAME/value,value,…`, which may go over several lines; comments stand between
double slashes, or after them up to the line's end.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise
from math import isnan, log10, nan
from reprlib import repr as short_repr
from typing import NamedTuple

from laserloop.bad_input import BadInput
from laserloop.paths.files import Format, ScanFile
from laserloop.paths.text import (
    PowerCommand,
    Schedule,
    describe_unknown,
    find_along,
    format_number,
    insert_mark,
    needs_all_layers,
    parse_number,
    split_lines,
)
from laserloop.paths.track import Move, Moves

COMMENT = re.compile(r"//.*?(?://|$)")
SEPARATOR = re.compile(r"[,\s]+")
HARMLESS = frozenset(
    (
        *("HEADERSTART", "ASCII", "VERSION", "DATE", "DIMENSION", "LABEL", "USERDATA", "HEADEREND"),
        "GEOMETRYSTART",
    )
)
NANOMETRE = 1e-9  # m
DIGITS = 4  # of W and mm/s
HEAD = {"HATCHES": 2, "POLYLINE": 3}  # whole numbers before the coordinates
OPEN = "2"  # direction of a polyline that is no closed contour, as the parts of one are
TRAIL = re.compile(r"\s*$")
VALUE = re.compile(r"\$\$\s*\w+[\s/,]*([^\s,/]+)")


@dataclass(slots=True)
class _Command:
    """One `$$` command and the lines that its values stand on."""

    line: int
    name: str
    chunks: list[tuple[int, str]] = field(default_factory=list)

    def numbers(self) -> list[tuple[int, str]]:
        """Line and text of each value."""
        return [(line, text) for line, chunk in self.chunks for text in SEPARATOR.split(chunk) if text]


def _read_layer_file(file: ScanFile) -> Moves:
    """All moves of a layer file, with `$$SPEED` (mm/s) and `$$POWER` (W) where it has them."""
    if re.search(rb"^\s*\$\$BINARY\b", file.content[:100_000], re.MULTILINE):
        raise BadInput(
            f"{file}: a layer file must be ASCII, but its header says $$BINARY; export it as ASCII."
        )
    layers = Layers(file)
    return Moves(layers.follow(_read_commands(split_lines(file.text), file)), layers.describe)


def _read_commands(lines: list[str], file: ScanFile) -> Iterator[_Command]:
    """Command by command, each complete with what follows it on further lines."""
    command: _Command | None = None
    for line, content in enumerate(lines, start=1):
        before, *started = (COMMENT.sub(" ", content) if "//" in content else content).split("$$")
        if before.strip():
            if command is None:
                raise _no_header(f"{file}, line {line}", short_repr(content.strip()))
            command.chunks.append((line, before))
        for words in started:
            if command is not None:
                yield command
            elif not words.strip().upper().startswith("HEADERSTART"):
                raise _no_header(f"{file}, line {line}", short_repr(content.strip()))
            name, _, values = words.partition("/")
            command = _Command(line, name.strip().upper(), [(line, values)])
    if command is None:
        raise _no_header(f"{file}, line 1", "empty")
    yield command


def _no_header(where: str, shown: str) -> BadInput:
    return BadInput(
        f"{where}: a layer file must begin with $$HEADERSTART, but is {shown}; check how it was exported."
    )


class Layers:
    """Units, layer, speed and power as the commands so far said."""

    def __init__(self, file: ScanFile) -> None:
        self._file = file
        self.unit: float | None = None  # m; None if it was not given yet
        self.speed, self.power = nan, nan  # m/s, W; NaN likewise
        self._level: float | None = None  # m
        self._announced: float | None = None
        self._count = 0  # layers so far
        self._unknown: dict[str, int] = {}  # command → its first line

    def follow(self, commands: Iterable[_Command]) -> Iterator[Move]:
        """The moves, layer after layer."""
        for command in commands:
            where = f"{self._file}, line {command.line}"
            match command.name:
                case "POLYLINE":
                    points = self._read_points(command, where, each=1, what="points")
                    if len(points) > 1:
                        yield self._move(command, points)
                case "HATCHES":
                    points = self._read_points(command, where, each=2, what="hatches")
                    for k in range(0, len(points), 2):
                        yield self._move(command, points[k : k + 2])
                case "LAYER":
                    self._level = self._read_one(command, where) * self._scale(where)
                    self._count += 1
                case "UNITS":
                    self.unit = 1e-3 * self._read_positive(command, where)
                case "LAYERS":
                    self._announced = self._read_one(command, where)
                case "SPEED":
                    self.speed = 1e-3 * self._read_positive(command, where)
                case "POWER":
                    self.power = self._read_power(command, where)
                case "GEOMETRYEND":
                    return
                case name if name not in HARMLESS:
                    self._unknown.setdefault(f"$${name[:20]}", command.line)

    def describe(self) -> Iterator[str]:
        """What was passed over; sentences without their full stop."""
        yield from describe_unknown(self._file, self._unknown)
        if self._announced not in (None, self._count):
            yield f"{self._file} announces {self._announced:g} layers, but has {self._count}"

    def _move(self, command: _Command, points: list[complex]) -> Move:
        return Move(command.line, points, self.power != 0, self._level or 0.0, self.speed, self.power)

    def _read_points(self, command: _Command, where: str, *, each: int, what: str) -> list[complex]:
        """The coordinates after some whole numbers, the last of which says how many `what` there are."""
        if self._level is None:
            raise BadInput(
                f"{where}: $${command.name} needs a layer, but none came yet; add $$LAYER/z before it."
            )
        values, head = self._read_values(command), HEAD[command.name]
        if len(values) < head:
            raise BadInput(
                f"{where}: $${command.name} must begin with {head} whole numbers, but has {len(values)}; add."
            )
        count, numbers = values[head - 1], values[head:]
        if len(numbers) != 2 * each * count:
            raise BadInput(
                f"{where}: $${command.name} announces {count:g} {what}, {2 * each * count:g} numbers, but "
                f"has {len(numbers)}; write decimals with a point, or export the file again."
            )
        scale = self._scale(where)
        return [complex(x * scale, y * scale) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]

    def _read_values(self, command: _Command) -> list[float]:
        name = f"a value of $${command.name}"
        return [parse_number(text, name, f"{self._file}, line {line}") for line, text in command.numbers()]

    def _read_one(self, command: _Command, where: str) -> float:
        values = self._read_values(command)
        if len(values) != 1:
            raise BadInput(
                f"{where}: $${command.name} must have one value, but has {len(values)}; correct it."
            )
        return values[0]

    def _read_positive(self, command: _Command, where: str) -> float:
        value = self._read_one(command, where)
        if value <= 0:
            raise BadInput(f"{where}: $${command.name} must be positive, but is {value:g}; correct it.")
        return value

    def _read_power(self, command: _Command, where: str) -> float:
        value = self._read_one(command, where)
        if value < 0:
            raise BadInput(f"{where}: $$POWER must not be negative, but is {value:g}; give W, or 0 for off.")
        return value

    def _scale(self, where: str) -> float:
        if self.unit is None:
            raise BadInput(
                f"{where}: a layer file must give its unit first, but does not; add $$UNITS/1 for mm."
            )
        return self.unit


class Part(NamedTuple):
    """A polyline or a hatch, or a piece of one."""

    drawn_with: tuple[float, float]  # W, m/s
    numbers: list[str]


class _Writer:
    """Goes through a layer file as the reader does, and knows what was said so far.

    A command that gets one power stays as it is; of one that gets several the numbers are used again as
    written. A power or a speed of the file that nothing would be drawn with any more gives way to the next.
    """

    def __init__(self, file: ScanFile, schedule: Schedule) -> None:
        self._file, self._text, self._schedule = file, file.split(), schedule
        self._layers = Layers(file)
        self._power, self._speed = nan, nan  # W and m/s, as the written file has them
        self._count = 0
        self._written = list[str]()
        self._unused: dict[str, list[int]] = {"POWER": [], "SPEED": []}  # of `_written`, not drawn with yet

    def write(self) -> bytes:
        """The whole file, command by command."""
        whole, written = self._text.join(), self._written
        places = [place.start() for place in re.finditer(r"\$\$", _blank(whole))]
        written.append(whole[: places[0]])
        commands = _read_commands(self._text.lines, self._file)
        for command, low, high in zip(commands, places, [*places[1:], len(whole)], strict=True):
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
            before = whole[:low].rstrip(" \t")
            end = self._text.end if not before or before[-1] in "\r\n" else ""
            written.append(self._write(command, own, moves, end) if moves else own)
        return self._text.encode("".join(written))

    def _write(self, command: _Command, own: str, moves: list[Move], end: str) -> str:
        """A command that draws, with what has to be said before it."""
        wanted = [self._schedule.get(self._count + k) for k in range(len(moves))]
        self._count += len(moves)
        numbers = [text for _, text in command.numbers()]
        parts = self._split_all(command, numbers, moves, wanted)
        groups = [(*key, list(group)) for key, group in groupby(parts, lambda part: part.drawn_with)]
        if len(groups) == 1 and all(each is None or len(each.shares) == 1 for each in wanted):
            return f"{self._say(groups[0][0], groups[0][1], end)}{own}"
        written = list[str]()
        for power, speed, group in groups:
            said = self._say(power, speed, end)
            written += [f"{said}$${command.name}/{line}" for line in _draw(command, numbers, group)]
        comments = [text for line in split_lines(own) for text in COMMENT.findall(line)]
        trail = TRAIL.search(own)
        # a comment that ends with its line stays the last in it
        return end.join(written) + self._text.end.join(comments) + (trail[0] if trail else "")

    def _split_all(
        self, command: _Command, numbers: list[str], moves: list[Move], wanted: list[PowerCommand | None]
    ) -> list[Part]:
        """Hatches or polylines one by one, each with its power and speed."""
        head, parts = HEAD[command.name], list[Part]()
        size = (len(numbers) - head) // len(moves)
        for k, (move, power_command) in enumerate(zip(moves, wanted, strict=True)):
            own = numbers[head + k * size : head + (k + 1) * size]
            if power_command is None:
                parts.append(Part((self._find_power(move), move.speed), own))
                continue
            shares, powers, speed = power_command
            speed = move.speed if isnan(speed) else speed
            for power, piece in zip(powers, self._split(own, move, shares), strict=True):
                lit = max(power, 10.0**-DIGITS)  # 0 would be the laser off
                parts.append(Part((lit, speed), piece))
        return parts

    def _find_power(self, move: Move) -> float:
        """Of a move that stays; one that has no power while others get one is refused."""
        if isnan(move.power) and len(set(move.points)) == 1:
            return self._power  # it goes nowhere
        if isnan(move.power):
            raise needs_all_layers(self._file, move.line)
        return move.power

    def _split(self, numbers: list[str], move: Move, shares: list[float]) -> list[list[str]]:
        """The numbers of each piece: those of the file, and new ones at the cuts."""
        corners = [numbers[k : k + 2] for k in range(0, len(numbers), 2)]
        lengths = [abs(b - a) for a, b in pairwise(move.points)]
        total = sum(lengths)
        share_of = [at / total for at in accumulate(lengths, initial=0.0)]
        unit = self._layers.unit or 1e-3
        digits = max(0, round(log10(unit / NANOMETRE)))
        cuts = find_along(move.points, shares)[:-1]
        places = [[format_number(value / unit, digits) for value in (cut.real, cut.imag)] for cut in cuts]
        pieces, here, low = list[list[str]](), corners[0], 0.0
        for share, last in zip(shares, [*places, corners[-1]], strict=True):
            between = zip(corners, share_of, strict=True)
            inner = [corner for corner, place in between if low + 1e-9 < place < share - 1e-9]
            pieces.append([text for corner in (here, *inner, last) for text in corner])
            here, low = last, share
        return pieces

    def _say(self, power: float, speed: float, end: str) -> str:
        """What has to be said before a power and a speed hold."""
        said = ""
        if not isnan(power) and power != self._power:
            said += self._set("POWER", format_number(power, DIGITS), end)
            self._power = power
        if not isnan(speed) and not abs(speed - self._speed) <= 1e-9 * speed:
            said += self._set("SPEED", format_number(1e3 * speed, DIGITS), end)
            self._speed = speed
        for unused in self._unused.values():
            unused.clear()
        return said

    def _set(self, name: str, number: str, end: str) -> str:
        """A command of its own, unless the file's own that nothing was drawn with can say the number."""
        for k in self._unused[name]:
            own = self._written[k]
            place = VALUE.search(_blank(own))
            assert place is not None  # it was read
            self._written[k] = f"{own[: place.start(1)]}{number}{own[place.end(1) :]}"
        return "" if self._unused[name] else f"$${name}/{number}{end}"


def _draw(command: _Command, numbers: list[str], parts: list[Part]) -> list[str]:
    """The values of one command for many hatches, or of one for each polyline."""
    if command.name == "HATCHES":
        return [",".join([numbers[0], str(len(parts)), *(text for part in parts for text in part.numbers)])]
    return [",".join([numbers[0], OPEN, str(len(p.numbers) // 2), *p.numbers]) for p in parts]


def _blank(whole: str) -> str:
    """The text with blanks for its comments, so that places stay."""
    if "//" not in whole:
        return whole
    return re.sub(r"//[^\r\n]*?(?://|(?=[\r\n]|$))", lambda comment: " " * len(comment[0]), whole)


def _is_layer_file(beginning: str) -> bool:
    return bool(re.search(r"^\s*\$\$HEADERSTART\b", beginning, re.MULTILINE | re.IGNORECASE))


LAYER_FILE = Format(
    recognises=_is_layer_file,
    read=_read_layer_file,
    rewrite=lambda file, schedule: _Writer(file, schedule).write(),
    mark=lambda content, mark: insert_mark(
        content, mark, "// {} //", after=r"\$\$HEADERSTART[^\r\n]*(?:\r\n|\r|\n|\Z)"
    ),
)
