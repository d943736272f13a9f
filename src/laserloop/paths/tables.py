"""Tables of numbers that lead a beam: segments, and series of events.

Segment tables as of Oak Ridge's AdditiveFOAM, adamantine and 3DThesis: Mode X Y Z Power Param. Mode 0 is a
line to X Y Z at Param m/s, Mode 1 a spot at X Y Z for Param s; power 0 is the laser off. Coordinates are in
m, or in mm where the header says X(mm), as 3DThesis writes it. Power is in W; under the name Pmod it is a
share of a power that the table does not give. adamantine says before the columns' names how many rows there
are, and follows no more.

Event series as of adamantine: in each row a time, where the beam is then, and the power from then on. Time is
in s, x, y, z are in m, power is a share of one that the series does not give; commas or blanks stand between
them, and there is no header. Until the first time the beam waits in the first place with the laser off; the
power of the last row means nothing.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from math import isnan, nan
from reprlib import repr as short_repr
from typing import NamedTuple

from laserloop.bad_input import BadInput
from laserloop.paths.files import Format, ScanFile
from laserloop.paths.text import (
    HEAD,
    SIGN,
    PowerCommand,
    Schedule,
    clean_mark,
    find_along,
    format_number,
    format_share,
    parse_number,
    says_something,
    split_lines,
)
from laserloop.paths.track import Move, Moves, check_level

COLUMNS = ("Mode", "X", "Y", "Z", "Power", "Param")
X, Y, POWER, PARAM = 1, 2, 4, 5  # columns; of events the first is the time
MOST_DIGITS = 10  # of a number of rows
UNITS = {"": 1.0, "m": 1.0, "mm": 1e-3}  # m
HEADER_LINES = 3  # adamantine writes two lines before the columns' names, the second with the number of rows
CELL = re.compile(r"\S+")
POWER_DIGITS, SPEED_DIGITS, TIME_DIGITS = 4, 6, 9
SHARE_DIGITS = 6  # of the full power
LENGTH_DIGITS = 9  # of m; of mm three less
OLD_TAIL = re.compile(rb"[ \t]*# " + SIGN.encode() + rb"[^\r\n]*")

SEPARATOR = re.compile(r"[,\s]+")
EVENT_CELL = re.compile(r"[^,\s]+")
EVENT_COLUMNS = ("time", "x", "y", "z", "power")
FIVE_AXES = 9  # columns of a series for five axes: a rotation between z and power
EVENT_DIGITS = 12  # of s and m: speeds of short pieces are their ratios

Row = tuple[int, list[str]]  # line and cells


def read_segments(file: ScanFile) -> Moves:
    """All moves of a segment table; Pmod is a share of the full power, if that is known."""
    table = _Segments(file)
    return Moves((move for _, move in table), table.describe)


def _note_share(file: ScanFile, name: str) -> str:
    """How shares of a power were taken."""
    if file.power_max is None:
        return f"{file}: {name} is a share of a power that the file does not give, so it has no powers"
    return f"{file}: {name} is taken as a share of the laser's full power, {file.power_max:g} W"


class _Header(NamedTuple):
    """What a table says of itself."""

    unit: float  # m
    in_watts: bool
    announced: tuple[int, int] | None  # line, and how many rows it says that there are


class _Segments:
    """The moves of a table, each with its line."""

    def __init__(self, file: ScanFile) -> None:
        """Passes over the header."""
        self._file = file
        lines = enumerate(split_lines(file.text), start=1)
        self._rows = ((line, content.split()) for line, content in lines if says_something(content))
        self.header = _read_header(self._rows, file)
        self.scale = 1.0 if self.header.in_watts else file.power_max  # W per number; None: not known
        self._beyond = 0  # the line of the first row that is not followed

    def __iter__(self) -> Iterator[tuple[int, Move]]:
        place: complex | None = None
        level, unit, announced = 0.0, self.header.unit, self.header.announced
        for number, (line, cells) in enumerate(self._rows, start=1):
            if announced is not None and number > announced[1]:
                self._beyond = line
                return
            where = f"{self._file}, line {line}"
            mode, x, y, z, power, parameter = _parse_segment(cells, where)
            if mode == 0 and place is None:
                raise BadInput(
                    f"{where}: the first row must be a spot, Mode 1, which says where the beam starts, but "
                    "is a line; add a row before it."
                )
            target, rest = complex(x, y) * unit, parameter if mode == 1 else 0.0
            start = target if mode == 1 or place is None else place
            lit = power > 0 and (start != target or rest > 0)
            if lit and mode == 0:
                check_level(level, z * unit, where)
            moved = place != target
            place, level = target, z * unit
            if lit or moved or rest > 0:
                speed = parameter if mode == 0 else nan
                watts = nan if self.scale is None else power * self.scale
                yield line, Move(line, [start, target], lit, level, speed, watts, rest)

    def describe(self) -> Iterator[str]:
        """What was assumed; sentences without their full stop."""
        if not self.header.in_watts:
            yield _note_share(self._file, "Pmod")
        if self._beyond and self.header.announced is not None:
            line, number = self.header.announced
            yield (
                f"{self._file}, line {self._beyond} and after: passed over as adamantine does, since line "
                f"{line} announces {number} rows"
            )


def _read_header(rows: Iterator[Row], file: ScanFile) -> _Header:
    """Passes over the header."""
    shown, announced = "empty", None
    for _, (line, cells) in zip(range(HEADER_LINES), rows, strict=False):
        names = [cell.lower() for cell in cells]
        if names[0] == "mode" and len(names) >= 4:
            units = {name[1:].strip("()[]") for name in names[1:4]}
            axes = [name[0] for name in names[1:4]]
            if len(units) != 1 or not units <= UNITS.keys() or axes != list("xyz"):
                raise BadInput(
                    f"{file}, line {line}: the columns after Mode must be X Y Z in m or mm, such as X(mm), "
                    f"but are {short_repr(' '.join(cells[1:4]))}; name their unit."
                )
            return _Header(UNITS[units.pop()], "pmod" not in names, announced)
        if len(cells) == 1 and cells[0].isascii() and cells[0].isdigit() and len(cells[0]) < MOST_DIGITS:
            announced = line, int(cells[0])
        shown = short_repr(" ".join(cells))
    raise BadInput(
        f"{file}, line 1: a segment table must begin with {' '.join(COLUMNS)}, but is {shown}; add it."
    )


def _parse_segment(cells: list[str], where: str) -> list[float]:
    if len(cells) != len(COLUMNS):
        raise BadInput(
            f"{where}: a row must hold the 6 numbers {' '.join(COLUMNS)}, but holds {len(cells)}; correct it."
        )
    values = [parse_number(cell, name, where) for cell, name in zip(cells, COLUMNS, strict=True)]
    mode, power, parameter = values[0], values[POWER], values[PARAM]
    if mode not in (0, 1):
        raise BadInput(f"{where}: Mode must be 0 for a line or 1 for a spot, but is {mode:g}; correct it.")
    if power < 0:
        raise BadInput(f"{where}: Power must not be negative, but is {power:g}; correct it.")
    if parameter < 0 or (mode == 0 and parameter == 0):
        what = "a line's speed must be positive" if mode == 0 else "a spot's time must not be negative"
        raise BadInput(f"{where}: {what}, but Param is {parameter:g}; correct it.")
    return values


def write_segments(file: ScanFile, schedule: Schedule) -> bytes:
    """The table with the powers and speeds that are wanted: the same rows, more where a move is split."""
    text = file.split()
    table = _Segments(file)
    if table.scale is None:
        raise BadInput(f"{file}: Pmod is a share of the laser's full power, but that is not given; give it.")
    added = 0
    for count, (line, move) in enumerate(table):
        if (command := schedule.get(count)) is not None:
            rows = _split_segment(text.lines[line - 1], move, command, (table.header.unit, table.scale))
            text.put(line - 1, rows)
            added += len(rows) - 1
    if table.header.announced is not None and added:
        line, number = table.header.announced
        text.lines[line - 1] = text.lines[line - 1].replace(str(number), str(number + added), 1)
    return text.encode()


def _split_segment(line: str, move: Move, command: PowerCommand, units: tuple[float, float]) -> list[str]:
    """The rows of one move; the last is the original with its own end. `units`: m, and W per number."""
    unit, scale = units
    power_digits = POWER_DIGITS if scale == 1.0 else SHARE_DIGITS
    digits = LENGTH_DIGITS if unit == 1.0 else LENGTH_DIGITS - 3
    steps = [b - a for a, b in pairwise((0.0, *command.shares))]
    rows = list[str]()
    for place, power, step in zip(
        find_along(move.points, command.shares), command.powers, steps, strict=True
    ):
        row = _set_cell(line, POWER, format_share(power / scale, power_digits))
        if move.rest > 0:
            row = row if step == 1.0 else _set_cell(row, PARAM, format_number(move.rest * step, TIME_DIGITS))
        elif not isnan(command.speed):
            row = _set_cell(row, PARAM, format_number(command.speed, SPEED_DIGITS))
        if len(rows) < len(steps) - 1 and move.rest == 0:
            row = _set_cell(row, X, format_number(place.real / unit, digits))
            row = _set_cell(row, Y, format_number(place.imag / unit, digits))
        rows.append(row)
    return rows


def _set_cell(line: str, column: int, number: str) -> str:
    """A row with another number in a column; blanks after it give way, so that columns stay in line.

    Tabs keep columns in line as they are.
    """
    cells = list(CELL.finditer(line))
    low, high = cells[column].span()
    following = cells[column + 1].start() if column + 1 < len(cells) else len(line)
    if column + 1 < len(cells) and not line[high:following].strip(" "):
        return f"{line[:low]}{number.ljust(following - low - 1)} {line[following:]}"
    return f"{line[:low]}{number}{line[high:]}"


def _mark_segments(content: bytes, mark: str) -> bytes:
    """Behind the columns' names: programs that read tables pass over that line whole, and over no other."""
    content = OLD_TAIL.sub(b"", content[:HEAD]) + content[HEAD:]
    names = re.search(rb"^[ \t]*Mode\b[^\r\n]*", content, re.MULTILINE | re.IGNORECASE)
    if not mark or names is None:
        return content
    return content[: names.end()] + f"  # {clean_mark(mark)}".encode("ascii") + content[names.end() :]


def _is_segment_table(beginning: str) -> bool:
    """Whether a line names the columns."""
    return bool(re.search(r"^\s*Mode\s+X", beginning, re.MULTILINE | re.IGNORECASE))


class Event(NamedTuple):
    """What one row says."""

    time: float  # s
    place: complex  # m
    level: float  # m
    share: float  # of the full power, from then on


class _Step(NamedTuple):
    """A row of a series, and the move that ends with it if there is one."""

    line: int
    last: Event | None  # the row before
    event: Event
    move: Move | None


def read_events(file: ScanFile) -> Moves:
    """All moves of an event series; its powers are shares of the full power, if that is known."""
    moves = (step.move for step in _follow_events(file) if step.move is not None)
    return Moves(moves, lambda: (_note_share(file, "its power"),))


def _follow_events(file: ScanFile) -> Iterator[_Step]:
    last: Event | None = None
    for line, content in enumerate(split_lines(file.text), start=1):
        if says_something(content):
            where = f"{file}, line {line}"
            event = _parse_event(content, where)
            yield _Step(line, last, event, _find_move(last, event, line, where, file.power_max))
            last = event


def _find_move(last: Event | None, event: Event, line: int, where: str, full: float | None) -> Move | None:
    """The move that ends with an event, if there is one; `full` is the full power, W."""
    if last is None:
        if event.time < 0:
            raise BadInput(f"{where}: time must not be negative, but is {event.time:g}; correct it.")
        return Move(line, [event.place] * 2, lit=False, level=event.level, rest=event.time)
    seconds, way = event.time - last.time, abs(event.place - last.place)
    if seconds < 0:
        raise BadInput(
            f"{where}: times must not go back, but {event.time:g} s comes after {last.time:g} s; correct."
        )
    lit = last.share > 0 and (seconds > 0 or way > 0)
    if lit:
        check_level(last.level, event.level, where)
    if seconds > 0:
        speed, rest = (way / seconds, 0.0) if way > 0 else (nan, seconds)
        power = nan if full is None else last.share * full
        return Move(line, [last.place, event.place], lit, event.level, speed, power, rest)
    if lit:
        raise BadInput(
            f"{where}: a move with the laser on must take some time, but the row before has the same, "
            f"{event.time:g} s; correct it, or give that row the power 0."
        )
    return Move(line, [event.place] * 2, lit=False, level=event.level) if way > 0 else None


def _parse_event(content: str, where: str) -> Event:
    cells = SEPARATOR.split(content.strip(", \t"))
    if len(cells) != len(EVENT_COLUMNS):
        why = "five axes are not followed here" if len(cells) == FIVE_AXES else "correct it"
        raise BadInput(
            f"{where}: an event must hold the 5 numbers {' '.join(EVENT_COLUMNS)}, but holds {len(cells)}; "
            f"{why}."
        )
    time, x, y, z, share = map(parse_number, cells, EVENT_COLUMNS, [where] * len(cells))
    if share < 0:
        raise BadInput(f"{where}: power must not be negative, but is {share:g}; correct it.")
    return Event(time, complex(x, y), z, share)


def _write_events(file: ScanFile, schedule: Schedule) -> bytes:
    """The series with the powers and speeds that are wanted; what splits a way comes before its last row.

    The power of a way stands in the row that it starts from.
    """
    if file.power_max is None:
        raise BadInput(
            f"{file}: powers are shares of the laser's full power, but that is not given; give it."
        )
    text, full = file.split(), file.power_max
    added = dict[int, list[str]]()
    count = before = 0  # moves so far, and the row before
    later = 0.0  # s, by which all that comes now is later than it was
    for line, last, event, move in _follow_events(file):
        k, content = line - 1, text.lines[line - 1]
        command = None if move is None else schedule.get(count)
        count += move is not None
        if move is not None and command is not None and last is not None:
            first = format_share(command.powers[0] / full, SHARE_DIGITS)
            text.lines[before] = _set_event(text.lines[before], {POWER: first})
            seconds = wanted = event.time - last.time
            if move.rest == 0 and not isnan(command.speed):
                wanted = abs(event.place - last.place) / command.speed
            pieces = zip(command.shares, find_along(move.points, command.shares), strict=True)
            added[k] = [
                _make_event(content, last.time + later + share * wanted, None if move.rest else place, power)
                for (share, place), power in zip(pieces, [p / full for p in command.powers[1:]], strict=False)
            ]
            later += wanted - seconds
        if later:
            text.lines[k] = _set_event(content, {0: format_number(event.time + later, EVENT_DIGITS)})
        before = k
    for k, rows in added.items():
        text.put(k, [*rows, text.lines[k]])
    return text.encode()


def _make_event(row: str, time: float, place: complex | None, share: float) -> str:
    """A row as another one is written."""
    cells = {0: format_number(time, EVENT_DIGITS), POWER: format_share(share, SHARE_DIGITS)}
    if place is not None:
        cells |= {X: format_number(place.real, EVENT_DIGITS), Y: format_number(place.imag, EVENT_DIGITS)}
    return _set_event(row, cells)


def _set_event(row: str, numbers: dict[int, str]) -> str:
    """A row with other numbers in some columns."""
    cells = iter(range(len(EVENT_COLUMNS)))
    return EVENT_CELL.sub(lambda cell: numbers.get(next(cells), cell[0]), row)


def _is_event_series(beginning: str) -> bool:
    """Whether the first line that says anything could be that of an event series."""
    first = next(filter(says_something, split_lines(beginning)), "")
    cells = SEPARATOR.split(first.strip(", \t"))
    sizes = (len(EVENT_COLUMNS), FIVE_AXES)
    return len(cells) in sizes and all(re.fullmatch(r"[-+.0-9eE]+", cell) for cell in cells)


SEGMENTS = Format(
    recognises=_is_segment_table, read=read_segments, rewrite=write_segments, mark=_mark_segments
)
EVENTS = Format(recognises=_is_event_series, read=read_events, rewrite=_write_events)
