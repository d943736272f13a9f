"""Event series as of adamantine: in each row a time, where the beam is then, and the power from then on.

Time is in s, x, y, z are in m, power is a share of one that the series does not give; commas or blanks stand
between them, and there is no header. Until the first time the beam waits in the first place with the laser
off; the power of the last row means nothing.
"""

import re
from math import nan
from os import PathLike
from typing import NamedTuple

from laserloop.bad_input import BadInput
from laserloop.paths.level import check_level
from laserloop.paths.move import Move, Scan
from laserloop.paths.segment_file import tell_share
from laserloop.paths.text_file import decode_text, parse_number, read_bytes, split_lines
from laserloop.paths.track import Track, lay_track

SEPARATOR = re.compile(r"[,\s]+")
COLUMNS = ("time", "x", "y", "z", "power")
FIVE_AXES = 9  # columns of a series for five axes: a rotation between z and power


class Event(NamedTuple):
    """What one row says."""

    time: float  # s
    place: complex  # m
    level: float  # m
    share: float  # of the full power, from then on


def read_events(
    file: str | PathLike[str], *, layer: int | None = None, power_max: float | None = None
) -> Track:
    """The track of an event series, at its own speeds; its powers are shares of `power_max`, W."""
    scan = scan_events(file, power_max=power_max)
    return lay_track(scan.moves, file=file, layer=layer).add_notes(scan.tell())


def scan_events(file: str | PathLike[str], *, power_max: float | None = None) -> Scan:
    """All moves of an event series; its powers are shares of `power_max`, W, if that is given."""
    lines = split_lines(decode_text(read_bytes(file), file))
    series = Events(file, power_max=power_max)
    rows = ((line, content) for line, content in enumerate(lines, start=1) if is_event(content))
    return Scan(
        filter(None, (series.obey(line, content) for line, content in rows)),
        lambda: (tell_share(file, "its power", power_max),),
    )


def is_event(content: str) -> bool:
    """Whether a line says anything; blank ones and comments do not."""
    return bool(content.strip()) and not content.lstrip().startswith("#")


def looks_like_events(text: str) -> bool:
    """Whether the first line that says anything could be that of an event series."""
    first = next(filter(is_event, split_lines(text)), "")
    cells = SEPARATOR.split(first.strip(", \t"))
    return len(cells) in (len(COLUMNS), FIVE_AXES) and all(re.fullmatch(r"[-+.0-9eE]+", c) for c in cells)


class Events:
    """Where a series has led so far."""

    def __init__(self, file: str | PathLike[str], *, power_max: float | None = None) -> None:
        self._file = file
        self._power_max = power_max
        self.last: Event | None = None

    def obey(self, line: int, content: str) -> Move | None:
        """The move that ends with a row, if there is one."""
        where = f"{self._file}, line {line}"
        event, last = _parse_event(content, where), self.last
        self.last = event
        if last is None:
            if event.time < 0:
                raise BadInput(f"{where}: time must not be negative, but is {event.time:g}; correct it.")
            return Move(line=line, points=[event.place] * 2, lit=False, level=event.level, rest=event.time)
        seconds, way = event.time - last.time, abs(event.place - last.place)
        if seconds < 0:
            raise BadInput(
                f"{where}: times must not go back, but {event.time:g} s comes after {last.time:g} s; correct."
            )
        lit = last.share > 0 and (seconds > 0 or way > 0)
        if lit:
            check_level(last.level, event.level, where)
        if seconds == 0:
            return self._jump(event, line, lit=lit, where=where) if way > 0 else None
        return Move(
            line=line,
            points=[last.place, event.place],
            lit=lit,
            level=event.level,
            speed=way / seconds if way > 0 else nan,
            power=nan if self._power_max is None else last.share * self._power_max,
            rest=0.0 if way > 0 else seconds,
        )

    def _jump(self, event: Event, line: int, *, lit: bool, where: str) -> Move:
        """To another place in no time."""
        if lit:
            raise BadInput(
                f"{where}: a move with the laser on must take some time, but the row before has the same, "
                f"{event.time:g} s; correct it, or give that row the power 0."
            )
        return Move(line=line, points=[event.place] * 2, lit=False, level=event.level)


def _parse_event(content: str, where: str) -> Event:
    cells = SEPARATOR.split(content.strip(", \t"))
    if len(cells) != len(COLUMNS):
        why = "five axes are not followed here" if len(cells) == FIVE_AXES else "correct it"
        raise BadInput(
            f"{where}: an event must hold the 5 numbers {' '.join(COLUMNS)}, but holds {len(cells)}; {why}."
        )
    time, x, y, z, share = (
        parse_number(cell, name, where) for cell, name in zip(cells, COLUMNS, strict=True)
    )
    if share < 0:
        raise BadInput(f"{where}: power must not be negative, but is {share:g}; correct it.")
    return Event(time, complex(x, y), z, share)
