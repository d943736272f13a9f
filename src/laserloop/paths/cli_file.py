"""ASCII Common Layer Interface files: the polylines and hatches of one layer.

A file is a list of commands, `$$NAME/value,value,…`, which may go over several lines; comments stand between
double slashes, or after them up to the line's end.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import nan
from os import PathLike
from reprlib import repr as short_repr

from laserloop.bad_input import BadInput
from laserloop.paths.move import Move, Scan
from laserloop.paths.text_file import decode_text, parse_number, read_bytes, split_lines
from laserloop.paths.track import Track, lay_track

COMMENT = re.compile(r"//.*?(?://|$)")
SEPARATOR = re.compile(r"[,\s]+")
HARMLESS = frozenset(
    (
        "HEADERSTART",
        "ASCII",
        "VERSION",
        "DATE",
        "DIMENSION",
        "LABEL",
        "USERDATA",
        "HEADEREND",
        "GEOMETRYSTART",
    )
)
NAMED = 8  # commands in a note


@dataclass(slots=True)
class Command:
    """One `$$` command and the lines that its values stand on."""

    line: int
    name: str
    chunks: list[tuple[int, str]] = field(default_factory=list)


def read_cli(file: str | PathLike[str], *, layer: int | None = None) -> Track:
    """The track of a layer file, with `$$SPEED` (mm/s) and `$$POWER` (W) where it has them."""
    scan = scan_cli(file)
    return lay_track(scan.moves, file=file, layer=layer).add_notes(scan.tell())


def scan_cli(file: str | PathLike[str]) -> Scan:
    """All moves of a layer file."""
    content = read_bytes(file)
    if re.search(rb"^\s*\$\$BINARY\b", content[:100_000], re.MULTILINE):
        raise BadInput(
            f"{file}: a layer file must be ASCII, but its header says $$BINARY; export it as ASCII."
        )
    layers = Layers(file)
    return Scan(layers.follow(read_commands(decode_text(content, file), file)), layers.tell)


def read_commands(text: str, file: str | PathLike[str]) -> Iterator[Command]:
    """Command by command, each complete with what follows it on further lines."""
    command: Command | None = None
    for line, content in enumerate(split_lines(text), start=1):
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
            command = Command(line, name.strip().upper(), [(line, values)])
    if command is None:
        raise _no_header(f"{file}, line 1", "empty")
    yield command


def _no_header(where: str, found: str) -> BadInput:
    return BadInput(
        f"{where}: a layer file must begin with $$HEADERSTART, but is {found}; check how it was exported."
    )


class Layers:
    """Units, layer, speed and power as the commands so far said."""

    def __init__(self, file: str | PathLike[str]) -> None:
        self._file = file
        self._unit: float | None = None  # m
        self._level: float | None = None  # m
        self._speed, self._power = nan, nan  # m/s, W
        self._announced: float | None = None
        self._found = 0
        self._unknown: dict[str, int] = {}  # command → its first line

    def follow(self, commands: Iterable[Command]) -> Iterator[Move]:
        """The moves, layer after layer."""
        for command in commands:
            where = f"{self._file}, line {command.line}"
            match command.name:
                case "POLYLINE":
                    yield from self._draw_polyline(command, where)
                case "HATCHES":
                    yield from self._draw_hatches(command, where)
                case "LAYER":
                    self._level = self._read_one(command, where) * self._scale(where)
                    self._found += 1
                case "UNITS":
                    self._unit = 1e-3 * self._read_positive(command, where)
                case "LAYERS":
                    self._announced = self._read_one(command, where)
                case "SPEED":
                    self._speed = 1e-3 * self._read_positive(command, where)
                case "POWER":
                    self._power = self._read_power(command, where)
                case "GEOMETRYEND":
                    return
                case name if name not in HARMLESS:
                    self._unknown.setdefault(f"$${name[:20]}", command.line)

    @property
    def unit(self) -> float | None:
        """m; None if it was not given yet."""
        return self._unit

    @property
    def power(self) -> float:
        """W; NaN if it was not given yet."""
        return self._power

    @property
    def speed(self) -> float:
        """m/s; NaN if it was not given yet."""
        return self._speed

    def tell(self) -> Iterator[str]:
        """What was passed over; sentences without their full stop."""
        if self._unknown:
            names = list(self._unknown)
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            first = self._unknown[names[0]]
            yield f"{self._file}, line {first} and after: {', '.join(names[:NAMED])}{more} passed over"
        if self._announced not in (None, self._found):
            yield f"{self._file} announces {self._announced:g} layers, but has {self._found}"

    def _draw_polyline(self, command: Command, where: str) -> Iterator[Move]:
        points = self._read_points(command, where, head=3, each=1, what="points")
        if len(points) > 1:
            yield self._move(command, points)

    def _draw_hatches(self, command: Command, where: str) -> Iterator[Move]:
        points = self._read_points(command, where, head=2, each=2, what="hatches")
        for k in range(0, len(points), 2):
            yield self._move(command, points[k : k + 2])

    def _move(self, command: Command, points: list[complex]) -> Move:
        return Move(
            line=command.line,
            points=points,
            lit=self._power != 0,
            level=self._level or 0.0,
            speed=self._speed,
            power=self._power,
        )

    def _read_points(self, command: Command, where: str, *, head: int, each: int, what: str) -> list[complex]:
        """The coordinates after `head` whole numbers, the last of which says how many `what` there are."""
        if self._level is None:
            raise BadInput(
                f"{where}: $${command.name} needs a layer, but none came yet; add $$LAYER/z before it."
            )
        values = self._read_values(command)
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

    def _read_values(self, command: Command) -> list[float]:
        return [
            parse_number(text, f"a value of $${command.name}", f"{self._file}, line {line}")
            for line, chunk in command.chunks
            for text in SEPARATOR.split(chunk)
            if text
        ]

    def _read_one(self, command: Command, where: str) -> float:
        values = self._read_values(command)
        if len(values) != 1:
            raise BadInput(
                f"{where}: $${command.name} must have one value, but has {len(values)}; correct it."
            )
        return values[0]

    def _read_positive(self, command: Command, where: str) -> float:
        value = self._read_one(command, where)
        if value <= 0:
            raise BadInput(f"{where}: $${command.name} must be positive, but is {value:g}; correct it.")
        return value

    def _read_power(self, command: Command, where: str) -> float:
        value = self._read_one(command, where)
        if value < 0:
            raise BadInput(f"{where}: $$POWER must not be negative, but is {value:g}; give W, or 0 for off.")
        return value

    def _scale(self, where: str) -> float:
        if self._unit is None:
            raise BadInput(
                f"{where}: a layer file must give its unit first, but does not; add $$UNITS/1 for mm."
            )
        return self._unit
