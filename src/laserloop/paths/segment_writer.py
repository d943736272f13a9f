"""Segment tables with other powers and speeds: the same rows, and more where a plan splits one."""

import re
from itertools import pairwise
from math import isnan
from os import PathLike

from laserloop.bad_input import BadInput
from laserloop.paths.move import Move
from laserloop.paths.orders import Order, Orders, find_along
from laserloop.paths.segment_file import Segments, split_rows
from laserloop.paths.text_file import format_number, read_text

CELL = re.compile(r"\S+")
X, Y, POWER, PARAM = 1, 2, 4, 5  # columns
POWER_DIGITS, SPEED_DIGITS, TIME_DIGITS = 4, 6, 9
SHARE_DIGITS = 6  # of Pmod
LENGTH_DIGITS = 9  # of m; of mm three less


def write_segments(file: str | PathLike[str], orders: Orders, *, power_max: float | None = None) -> bytes:
    """The table with the powers and speeds that are ordered; Pmod is a share of `power_max`, W."""
    text = read_text(file)
    if not len(orders):
        return text.join()
    rows = split_rows("\n".join(text.lines))
    table = Segments(file, rows, power_max=power_max)
    if table.scale is None:
        raise BadInput(f"{file}: Pmod is a share of the laser's full power, but that is not given; give it.")
    count = added = 0
    for row in rows:
        move = table.obey(row)
        if move is None:
            continue
        order, k = orders.find(count), row[0] - 1
        count += 1
        if order is not None:
            written = _write_row(text.lines[k], move, order, (table.unit, table.scale))
            added += len(written) - 1
            text.lines[k] = (text.ends[k] or text.end).join(written)
    if table.announced is not None and added:
        k, number = table.announced.line - 1, table.announced.number
        text.lines[k] = text.lines[k].replace(str(number), str(number + added), 1)
    return text.join()


def _write_row(line: str, move: Move, order: Order, units: tuple[float, float]) -> list[str]:
    """The rows of one move; the last is the original with its own end. `units`: m, and W per number."""
    unit, scale = units
    digits = LENGTH_DIGITS if unit == 1.0 else LENGTH_DIGITS - 3
    places = find_along(list(move.points), order.shares)
    steps = [b - a for a, b in pairwise((0.0, *order.shares))]
    written = list[str]()
    for place, power, step in zip(places, order.powers, steps, strict=True):
        row, last = line, len(written) == len(steps) - 1
        power_digits = POWER_DIGITS if scale == 1.0 else SHARE_DIGITS
        share = max(power / scale, 10.0**-power_digits)  # 0 would be the laser off
        row = _set(row, POWER, format_number(share, power_digits))
        if move.rest > 0:
            row = row if step == 1.0 else _set(row, PARAM, format_number(move.rest * step, TIME_DIGITS))
        elif not isnan(order.speed):
            row = _set(row, PARAM, format_number(order.speed, SPEED_DIGITS))
        if not last and move.rest == 0:
            row = _set(row, X, format_number(place.real / unit, digits))
            row = _set(row, Y, format_number(place.imag / unit, digits))
        written.append(row)
    return written


def _set(line: str, column: int, number: str) -> str:
    """A row with another number in a column; blanks after it give way, so that columns stay in line.

    Tabs keep columns in line as they are.
    """
    cells = list(CELL.finditer(line))
    low, high = cells[column].span()
    following = cells[column + 1].start() if column + 1 < len(cells) else len(line)
    if column + 1 < len(cells) and not line[high:following].strip(" "):
        return f"{line[:low]}{number.ljust(following - low - 1)} {line[following:]}"
    return f"{line[:low]}{number}{line[high:]}"
