"""Segment tables as of Oak Ridge's AdditiveFOAM, adamantine and 3DThesis: Mode X Y Z Power Param.

Mode 0 is a line to X Y Z at Param m/s, Mode 1 a spot at X Y Z for Param s; power 0 is the laser off.
Coordinates are in m, or in mm where the header says X(mm), as 3DThesis writes it. Power is in W; under the
name Pmod it is a share of a power that the table does not give. adamantine says before the columns' names how
many rows there are, and follows no more.
"""

from collections.abc import Iterator
from math import nan
from os import PathLike
from reprlib import repr as short_repr
from typing import NamedTuple

from laserloop.bad_input import BadInput
from laserloop.paths.level import check_level
from laserloop.paths.move import Move, Scan
from laserloop.paths.text_file import decode_text, parse_number, read_bytes, split_lines
from laserloop.paths.track import Track, lay_track

Row = tuple[int, list[str]]  # line and cells

COLUMNS = ("Mode", "X", "Y", "Z", "Power", "Param")
MOST_DIGITS = 10  # of a number of rows
UNITS = {"": 1.0, "m": 1.0, "mm": 1e-3}  # m
HEADER_LINES = 3  # adamantine writes two lines before the columns' names, the second with the number of rows


def read_segments(
    file: str | PathLike[str], *, layer: int | None = None, power_max: float | None = None
) -> Track:
    """The track of a segment table, at its own speeds and powers; Pmod is a share of `power_max`, W."""
    scan = scan_segments(file, power_max=power_max)
    return lay_track(scan.moves, file=file, layer=layer).add_notes(scan.tell())


def scan_segments(file: str | PathLike[str], *, power_max: float | None = None) -> Scan:
    """All moves of a segment table; Pmod is a share of `power_max`, W, if that is given."""
    text = decode_text(read_bytes(file), file)
    rows = split_rows(text)
    table = Segments(file, rows, power_max=power_max)
    return Scan(filter(None, map(table.obey, rows)), table.tell)


def split_rows(text: str) -> Iterator[Row]:
    """Line numbers and cells; blank lines and comments are passed over."""
    for line, content in enumerate(split_lines(text), start=1):
        if content.strip() and not content.lstrip().startswith("#"):
            yield line, content.split()


class Segments:
    """Where a table's rows have led so far."""

    def __init__(
        self, file: str | PathLike[str], rows: Iterator[Row], *, power_max: float | None = None
    ) -> None:
        """Passes over the header."""
        self._file = file
        header = _read_header(rows, file)
        self.unit, self._in_watts, self.announced = header.unit, header.in_watts, header.announced
        self.scale = 1.0 if header.in_watts else power_max  # W per number in the column; None: not known
        self._place: complex | None = None
        self._level = 0.0  # m
        self._rows, self._first_beyond = 0, 0  # rows so far; the line of the first that is not followed

    def obey(self, row: Row) -> Move | None:
        """The move of a row, if it is one."""
        line, cells = row
        self._rows += 1
        if self.announced is not None and self._rows > self.announced.number:
            self._first_beyond = self._first_beyond or line
            return None
        where = f"{self._file}, line {line}"
        mode, x, y, z, power, parameter = _parse_row(cells, where)
        target, place = complex(x, y) * self.unit, self._place
        if mode == 0 and place is None:
            raise BadInput(
                f"{where}: the first row must be a spot, Mode 1, which says where the beam starts, but is a "
                "line; add a row before it."
            )
        rest = parameter if mode == 1 else 0.0
        start = target if mode == 1 or place is None else place
        lit = power > 0 and (start != target or rest > 0)
        if lit and mode == 0:
            check_level(self._level, z * self.unit, where)
        self._place, self._level = target, z * self.unit
        if not (lit or place != target or rest > 0):
            return None
        return Move(
            line=line,
            points=[start, target],
            lit=lit,
            level=z * self.unit,
            speed=parameter if mode == 0 else nan,
            power=nan if self.scale is None else power * self.scale,
            rest=rest,
        )

    def tell(self) -> Iterator[str]:
        """What was assumed; sentences without their full stop."""
        if not self._in_watts:
            yield tell_share(self._file, "Pmod", self.scale)
        if self._first_beyond and self.announced is not None:
            yield (
                f"{self._file}, line {self._first_beyond} and after: passed over as adamantine does, since "
                f"line {self.announced.line} announces {self.announced.number} rows"
            )


def tell_share(file: str | PathLike[str], name: str, scale: float | None) -> str:
    """How shares of a power were taken; `scale` is the power, W, or None."""
    if scale is None:
        return f"{file}: {name} is a share of a power that the file does not give, so it has no powers"
    return f"{file}: {name} is taken as a share of the laser's full power, {scale:g} W"


class Announced(NamedTuple):
    """How many rows a table says that it has, and where it says so."""

    line: int
    number: int


class Header(NamedTuple):
    """What a table says of itself."""

    unit: float  # m
    in_watts: bool
    announced: Announced | None


def _read_header(rows: Iterator[Row], file: str | PathLike[str]) -> Header:
    """Passes over the header."""
    found, announced = "empty", None
    for _, (line, cells) in zip(range(HEADER_LINES), rows, strict=False):
        names = [cell.lower() for cell in cells]
        if names[0] == "mode" and len(names) >= 4:
            units = {name[1:].strip("()[]") for name in names[1:4]}
            if (
                len(units) != 1
                or not units <= UNITS.keys()
                or [name[0] for name in names[1:4]] != list("xyz")
            ):
                raise BadInput(
                    f"{file}, line {line}: the columns after Mode must be X Y Z in m or mm, such as X(mm), "
                    f"but are {short_repr(' '.join(cells[1:4]))}; name their unit."
                )
            return Header(UNITS[units.pop()], "pmod" not in names, announced)
        if len(cells) == 1 and cells[0].isascii() and cells[0].isdigit() and len(cells[0]) < MOST_DIGITS:
            announced = Announced(line, int(cells[0]))
        found = short_repr(" ".join(cells))
    raise BadInput(
        f"{file}, line 1: a segment table must begin with {' '.join(COLUMNS)}, but is {found}; add it."
    )


def _parse_row(cells: list[str], where: str) -> list[float]:
    if len(cells) != len(COLUMNS):
        raise BadInput(
            f"{where}: a row must hold the 6 numbers {' '.join(COLUMNS)}, but holds {len(cells)}; correct it."
        )
    values = [parse_number(cell, name, where) for cell, name in zip(cells, COLUMNS, strict=True)]
    mode, power, parameter = values[0], values[4], values[5]
    if mode not in (0, 1):
        raise BadInput(f"{where}: Mode must be 0 for a line or 1 for a spot, but is {mode:g}; correct it.")
    if power < 0:
        raise BadInput(f"{where}: Power must not be negative, but is {power:g}; correct it.")
    if parameter < 0 or (mode == 0 and parameter == 0):
        what = "a line's speed must be positive" if mode == 0 else "a spot's time must not be negative"
        raise BadInput(f"{where}: {what}, but Param is {parameter:g}; correct it.")
    return values
