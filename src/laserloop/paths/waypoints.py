"""CSV files of waypoints: a header `x_mm,y_mm`, then one waypoint per row, read and written again.

Columns named `lit` (0 or 1), `speed_mm_s` and `power_w` are of the leg that leads to the row; power 0 is
the laser off.
"""

import csv
import re
from collections.abc import Iterator
from math import isnan
from reprlib import repr as short_repr

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.files import Format, ScanFile
from laserloop.paths.path import ScanPath
from laserloop.paths.text import (
    PowerCommand,
    Schedule,
    find_along,
    format_number,
    format_share,
    insert_mark,
    parse_number,
    says_something,
    split_lines,
)
from laserloop.paths.track import Track, no_lit_moves

HEADER = ["x_mm", "y_mm"]
POWER, SPEED = "power_w", "speed_mm_s"
OF_LEGS = {"lit": 1.0, SPEED: np.nan, POWER: np.nan}  # column → what it is without
CELL = re.compile(r'\s*"(?:[^"]|"")*"[^,]*|[^,]*')
DIGITS = 4  # of W and mm/s
LENGTH_DIGITS = 6  # of mm


def _read_waypoints(file: ScanFile) -> Track:
    """The track through the waypoints, all in layer 1.

    Blank lines, lines that start with #, and further columns named in the header are passed over.
    """
    rows = _read_rows(split_lines(_decode(file)), file)
    columns = _check_header(rows, file)
    lines, points = list[int](), list[tuple[float, float]]()
    legs: dict[str, list[float]] = {name: [] for name in OF_LEGS if name in columns}
    for line, cells in rows:
        where = f"{file}, line {line}"
        points.append(_parse_point(cells, len(columns), where))
        lines.append(line)
        for name, values in legs.items():
            values.append(_parse_leg(cells, columns.index(name), name, where))
    if not points:
        raise BadInput(
            f"{file}, line 1: two waypoints or more must follow the header, but none does; add rows."
        )
    ends = np.arange(len(points)) if len(points) > 1 else np.zeros(2, np.intp)  # one alone is a leg to itself
    lit, speeds_mm_s, powers = (
        np.array(legs[name])[ends[1:]] if name in legs else np.full(len(ends) - 1, missing)
        for name, missing in OF_LEGS.items()
    )
    light = (lit > 0) & (powers != 0)
    bright = np.flatnonzero(light)
    if not len(bright):
        raise no_lit_moves(file, lines[-1])
    whole = slice(bright[0], bright[-1] + 1)  # neither begins nor ends in the dark
    ends = ends[bright[0] : bright[-1] + 2]
    return Track(
        points=np.array(points)[ends] / 1e3,
        lines=np.array(lines)[ends],
        lit=light[whole],
        speeds=speeds_mm_s[whole] / 1e3,
        powers=powers[whole],
        rests=np.zeros(len(ends) - 1),
        moves=ends[1:],
    )


def _decode(file: ScanFile) -> str:
    try:
        return file.content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = file.content.count(b"\n", 0, problem.start) + 1
        raise BadInput(
            f"{file}, line {line}: a path file must be UTF-8 text, but byte "
            f"0x{file.content[problem.start]:02x} is not; save it as CSV in UTF-8."
        ) from None


def _read_rows(lines: list[str], file: ScanFile) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells; one line at a time, so that an open quote cannot swallow the lines after it."""
    for line, content in enumerate(lines, start=1):
        if not says_something(content):
            continue
        try:
            (cells,) = csv.reader([content], strict=True, skipinitialspace=True)
        except csv.Error as problem:
            raise BadInput(
                f"{file}, line {line}: a row must be comma-separated values, but reading it failed with "
                f"'{problem}'; check its quotes."
            ) from None
        yield line, [cell.strip() for cell in cells]


def _check_header(rows: Iterator[tuple[int, list[str]]], file: ScanFile) -> list[str]:
    """The names of the columns."""
    line, cells = next(rows, (0, []))
    if not line:
        raise BadInput(
            f"{file}, line 1: a path file must start with the header x_mm,y_mm, but is empty; add waypoints."
        )
    if cells[:2] != HEADER:
        raise BadInput(
            f"{file}, line {line}: the header must start with x_mm,y_mm, but is "
            f"{short_repr(','.join(cells))}; name the first two columns so."
        )
    twice = next((name for name in OF_LEGS if cells.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"{file}, line {line}: a column may come once, but {twice} comes twice; rename one.")
    return cells


def _parse_point(cells: list[str], columns: int, where: str) -> tuple[float, float]:
    if len(cells) < 2:
        raise BadInput(
            f"{where}: a row must hold x_mm and y_mm, but holds only {short_repr(cells[0])}; add y_mm."
        )
    if any(cells[columns:]):
        raise BadInput(
            f"{where}: a row must not have more values than the header's {columns}, but has {len(cells)}; "
            "write decimals with a point or name the further columns."
        )
    return parse_number(cells[0], "x_mm", where), parse_number(cells[1], "y_mm", where)


def _parse_leg(cells: list[str], column: int, name: str, where: str) -> float:
    """What the row says about its leg in the column `name`; an empty cell says nothing."""
    text = cells[column] if column < len(cells) else ""
    if not text:
        return OF_LEGS[name]
    value = parse_number(text, name, where)
    if name == "lit" and value not in (0, 1):
        raise BadInput(f"{where}: lit must be 0 or 1, but is {value:g}; 1 is the laser on.")
    if value < 0 or (name == SPEED and value == 0):
        rule = "must be positive" if name == SPEED else "must not be negative"
        raise BadInput(f"{where}: {name} {rule}, but is {value:g}; correct it or leave it empty.")
    return value


def _write_waypoints(file: ScanFile, schedule: Schedule) -> bytes:
    """The same rows with the powers and speeds that are wanted, and more where a leg is split.

    Missing columns are added.
    """
    _read_waypoints(file)  # what cannot be read cannot be written
    text = file.split()
    header, *rows = [k for k, line in enumerate(text.lines) if says_something(line)]
    _, columns = next(_read_rows([text.lines[header]], file))
    wanted = [POWER] if all(isnan(command.speed) for command in schedule.values()) else [POWER, SPEED]
    added = [name for name in wanted if name not in columns]
    text.lines[header] += "".join(f",{name}" for name in added)
    columns += added
    before = 0j
    for number, k in enumerate(rows):
        cells = _split_cells(text.lines[k], len(columns))
        here = complex(float(_unquote(cells[0])), float(_unquote(cells[1])))
        if (command := schedule.get(number)) is not None:
            text.put(k, _split_leg(cells, columns, (before, here), command))
        elif added:  # every row has all columns, also where nothing is wanted
            dark = _unquote(cells[columns.index("lit")]) if "lit" in columns else ""
            if POWER in added and dark and float(dark) == 0:
                cells[columns.index(POWER)] = "0"
            text.lines[k] = ",".join(cells)
        before = here
    return text.encode()


def _split_leg(
    cells: list[str], columns: list[str], ends: tuple[complex, complex], command: PowerCommand
) -> list[str]:
    """The rows of one leg; all but the last are new."""
    rows = list[str]()
    for place, power in zip(find_along(ends, command.shares), command.powers, strict=True):
        row = list(cells)
        if len(rows) < len(command.shares) - 1:  # only what is told of the leg goes for its parts
            row = [cell if name in OF_LEGS else "" for cell, name in zip(cells, columns, strict=False)]
            row[:2] = (format_number(value, LENGTH_DIGITS) for value in (place.real, place.imag))
        _set_cell(row, columns.index(POWER), format_share(power, DIGITS))
        if not isnan(command.speed):
            _set_cell(row, columns.index(SPEED), format_number(1e3 * command.speed, DIGITS))
        rows.append(",".join(row))
    return rows


def _set_cell(row: list[str], column: int, number: str) -> None:
    """Another number with the same blanks before it."""
    cell = row[column]
    row[column] = (cell[: len(cell) - len(cell.lstrip())] if cell.strip() else "") + number


def _split_cells(line: str, count: int) -> list[str]:
    """The cells of a row as they are written, at least `count`."""
    cells, at = list[str](), 0
    while at <= len(line):
        cell = CELL.match(line, at)
        assert cell is not None  # it may be empty
        cells.append(cell[0])
        at = cell.end() + 1
    return cells + [""] * (count - len(cells))


def _unquote(cell: str) -> str:
    text = cell.strip()
    return text[1:-1].replace('""', '"').strip() if text.startswith('"') and text.endswith('"') else text


def describe_path(path: ScanPath) -> str:
    """A scan path as a file of waypoints: where its direction, its speed or its light changes."""
    hops = np.diff(path.positions, axis=0)
    same = np.all(np.abs(np.diff(hops, axis=0)) < 1e-12, axis=1) & (path.lit[1:] == path.lit[:-1])
    corners = [0, *(np.flatnonzero(~same) + 1).tolist(), len(path)]
    lines = ["x_mm,y_mm,lit,speed_mm_s"]
    for before, here in zip([0, *corners[:-1]], corners, strict=True):
        k = max(before, here - 1)
        speed = 1e3 * float(np.hypot(*hops[min(k, len(path) - 1)])) / path.tick
        place = ",".join(format_number(1e3 * value, 9) for value in path.positions[here])
        rests = speed * path.tick < 1e-9
        lines.append(f"{place},{int(path.lit[max(here - 1, 0)])},{'' if rests else format_number(speed, 9)}")
    return "\n".join(lines) + "\n"


def _has_header(beginning: str) -> bool:
    return bool(re.search(r"^[\s\"]*x_mm\b", beginning, re.MULTILINE | re.IGNORECASE))


WAYPOINTS = Format(
    recognises=_has_header,
    read=_read_waypoints,
    is_polyline=True,
    rewrite=_write_waypoints,
    mark=lambda content, mark: insert_mark(content, mark, "# {}"),
)
