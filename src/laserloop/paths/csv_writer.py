"""CSV waypoints with other powers and speeds: the same rows, and more where a plan splits a leg."""

import re
from math import isnan
from os import PathLike

import numpy as np

from laserloop.paths.csv_file import OF_LEGS, is_row, read_csv, split_rows
from laserloop.paths.orders import Order, Orders, find_along
from laserloop.paths.path import ScanPath
from laserloop.paths.text_file import format_number, read_text

CELL = re.compile(r'\s*"(?:[^"]|"")*"[^,]*|[^,]*')
POWER, SPEED = "power_w", "speed_mm_s"
DIGITS = {POWER: 4, SPEED: 4}
LENGTH_DIGITS = 6  # of mm


def write_csv(file: str | PathLike[str], orders: Orders) -> bytes:
    """The waypoints in `file` with the powers and speeds that are ordered; missing columns are added."""
    if not len(orders):
        return read_text(file).join()
    read_csv(file)  # what cannot be read cannot be written
    text = read_text(file)
    rows = [k for k, line in enumerate(text.lines) if is_row(line)]
    header = next(split_rows(text.lines[rows[0]], file))[1]
    wanted = [POWER] if np.isnan(orders.speeds).all() else [POWER, SPEED]
    added = [name for name in wanted if name not in header]
    text.lines[rows[0]] += "".join(f",{name}" for name in added)
    columns = [*header, *added]
    before = 0j
    for number, k in enumerate(rows[1:]):
        cells = _split(text.lines[k], len(columns))
        here = complex(float(_clean(cells[0])), float(_clean(cells[1])))
        order = orders.find(number)
        if order is not None:
            lines = _write_leg(cells, columns, (before, here), order)
            text.lines[k] = (text.ends[k] or text.end).join(lines)
        elif added:  # every row has all columns, also where nothing is ordered
            if POWER in added and _is_dark(cells, columns):
                cells[columns.index(POWER)] = "0"
            text.lines[k] = ",".join(cells)
        before = here
    return text.join()


def _write_leg(
    cells: list[str], columns: list[str], ends: tuple[complex, complex], order: Order
) -> list[str]:
    """The rows of one leg; all but the last are new."""
    lines = list[str]()
    for place, power in zip(find_along(list(ends), order.shares), order.powers, strict=True):
        last = len(lines) == len(order.shares) - 1
        row = list(cells) if last else _make_row(cells, columns, place)
        row[columns.index(POWER)] = _say(row[columns.index(POWER)], POWER, power)
        if not isnan(order.speed):
            row[columns.index(SPEED)] = _say(row[columns.index(SPEED)], SPEED, 1e3 * order.speed)
        lines.append(",".join(row))
    return lines


def _make_row(cells: list[str], columns: list[str], place: complex) -> list[str]:
    """A waypoint on the way: what is told of the leg goes for its parts, what else is told does not."""
    kept = [cell if name in OF_LEGS else "" for cell, name in zip(cells, columns, strict=False)]
    kept[0], kept[1] = format_number(place.real, LENGTH_DIGITS), format_number(place.imag, LENGTH_DIGITS)
    return kept


def _is_dark(cells: list[str], columns: list[str]) -> bool:
    """Whether the leg to a row is dark by its column `lit`."""
    text = _clean(cells[columns.index("lit")]) if "lit" in columns else ""
    return bool(text) and float(text) == 0


def _say(cell: str, name: str, value: float) -> str:
    """A cell with another number and the same blanks around it."""
    text = format_number(value, DIGITS[name])
    if name == POWER:
        text = format_number(max(value, 10.0 ** -DIGITS[name]), DIGITS[name])  # 0 would be the laser off
    blank = cell[: len(cell) - len(cell.lstrip())] if cell.strip() else ""
    return f"{blank}{text}"


def _split(line: str, count: int) -> list[str]:
    """The cells of a row as they are written, at least `count`."""
    cells, at = list[str](), 0
    while True:
        found = CELL.match(line, at)
        assert found is not None  # it may be empty
        cells.append(found[0])
        at = found.end() + 1
        if at > len(line):
            return cells + [""] * (count - len(cells))


def _clean(cell: str) -> str:
    text = cell.strip()
    return text[1:-1].replace('""', '"').strip() if text.startswith('"') and text.endswith('"') else text


def tell_path(path: ScanPath) -> str:
    """A scan path as a CSV file of waypoints: where its direction, its speed or its light changes."""
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
