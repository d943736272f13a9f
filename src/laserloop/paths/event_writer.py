"""Event series with other powers and speeds: the same rows, and more where a plan splits the way to one.

The power of a way stands in the row that it starts from.
"""

import re
from math import isnan
from os import PathLike

from laserloop.bad_input import BadInput
from laserloop.paths.event_file import Event, Events, is_event
from laserloop.paths.move import Move
from laserloop.paths.orders import Order, Orders, find_along
from laserloop.paths.text_file import Text, format_number, read_text

CELL = re.compile(r"[^,\s]+")
TIME, X, Y, POWER = 0, 1, 2, 4  # columns
DIGITS = 12  # of s and m: speeds of short pieces are their ratios
SHARE_DIGITS = 6


def write_events(file: str | PathLike[str], orders: Orders, *, power_max: float | None = None) -> bytes:
    """The series with the powers, shares of `power_max`, W, and speeds that are ordered."""
    text = read_text(file)
    if not len(orders):
        return text.join()
    if power_max is None:
        raise BadInput(
            f"{file}: powers are shares of the laser's full power, but that is not given; give it."
        )
    _Writer(file, text, orders, power_max).write()
    return text.join()


class _Writer:
    """Goes through a series as the reader does; what splits a way comes before the row that it ends in."""

    def __init__(self, file: str | PathLike[str], text: Text, orders: Orders, power_max: float) -> None:
        self._text, self._orders, self._power_max = text, orders, power_max
        self._series = Events(file, power_max=power_max)
        self._later = 0.0  # s, by which all that comes now is later than it was

    def write(self) -> None:
        """Change the lines of the text."""
        lines, added = self._text.lines, dict[int, list[str]]()
        count, before = 0, 0  # moves so far, and the row before
        for k, content in enumerate(lines):
            if not is_event(content):
                continue
            start = self._series.last
            move = self._series.obey(k + 1, content)
            order = None if move is None else self._orders.find(count)
            count += move is not None
            time = 0.0 if self._series.last is None else self._series.last.time
            if move is not None and order is not None and start is not None:
                lines[before] = _set(lines[before], POWER, self._share(order.powers[0]))
                added[k] = self._split(content, start, time - start.time, move, order)
            if self._later:
                lines[k] = _set(content, TIME, _format(time + self._later))
            before = k
        for k, rows in added.items():
            lines[k] = (self._text.ends[k] or self._text.end).join([*rows, lines[k]])

    def _split(self, content: str, start: Event, seconds: float, move: Move, order: Order) -> list[str]:
        """The rows between the start of a move and the row that it ends in; what follows may come later."""
        wanted = seconds
        if move.rest == 0 and not isnan(order.speed):
            wanted = abs(move.points[-1] - move.points[0]) / order.speed
        places = find_along(list(move.points), order.shares)
        rows = list[str]()
        for share, place, power in zip(order.shares, places, order.powers[1:], strict=False):
            row = _set(content, TIME, _format(start.time + self._later + share * wanted))
            if move.rest == 0:
                row = _set(_set(row, X, _format(place.real)), Y, _format(place.imag))
            rows.append(_set(row, POWER, self._share(power)))
        if wanted != seconds:
            self._later += wanted - seconds
        return rows

    def _share(self, power: float) -> str:
        return format_number(max(power / self._power_max, 10.0**-SHARE_DIGITS), SHARE_DIGITS)


def _format(value: float) -> str:
    return format_number(value, DIGITS)


def _set(row: str, column: int, number: str) -> str:
    """A row with another number in a column."""
    cell = list(CELL.finditer(row))[column]
    return f"{row[: cell.start()]}{number}{row[cell.end() :]}"
