"""CSV files of waypoints: a header `x_mm,y_mm`, then one waypoint per row.

Columns named `lit` (0 or 1), `speed_mm_s` and `power_w` are of the leg that leads to the row; power 0 is
the laser off.
"""

import csv
from collections.abc import Iterator
from os import PathLike
from reprlib import repr as short_repr

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.text_file import parse_number, read_bytes, split_lines
from laserloop.paths.track import Track, no_lit_moves

HEADER = ["x_mm", "y_mm"]
OF_LEGS = {"lit": 1.0, "speed_mm_s": np.nan, "power_w": np.nan}  # column → what it is without


def read_csv(file: str | PathLike[str], *, layer: int | None = None) -> Track:
    """The track through the waypoints of `file`, all in layer 1.

    Blank lines, lines that start with #, and further columns named in the header are passed over.
    """
    if layer not in (None, 1):
        raise BadInput(f"{file}: the layer of a CSV file must be 1, but is {layer}; leave it out.")
    rows = split_rows(_read_text(file), file)
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
    return _cut_dark_ends(lines, points, legs, file)


def _cut_dark_ends(
    lines: list[int],
    points: list[tuple[float, float]],
    legs: dict[str, list[float]],
    file: str | PathLike[str],
) -> Track:
    """The track from its first to its last lit leg; one waypoint alone is a leg to itself."""
    ends = np.arange(len(points)) if len(points) > 1 else np.zeros(2, np.intp)
    lit, speeds_mm_s, powers = (
        np.array(legs[name])[ends[1:]] if name in legs else np.full(len(ends) - 1, missing)
        for name, missing in OF_LEGS.items()
    )
    bright = np.flatnonzero((lit > 0) & (powers != 0))
    if not len(bright):
        raise no_lit_moves(file, lines[-1])
    legs_kept = slice(bright[0], bright[-1] + 1)
    ends = ends[bright[0] : bright[-1] + 2]
    return Track(
        points=np.array(points)[ends] / 1e3,
        lines=np.array(lines)[ends],
        lit=((lit > 0) & (powers != 0))[legs_kept],
        speeds=speeds_mm_s[legs_kept] / 1e3,
        powers=powers[legs_kept],
        rests=np.zeros(len(ends) - 1),
        moves=ends[1:],
    )


def _read_text(file: str | PathLike[str]) -> str:
    content = read_bytes(file)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise BadInput(
            f"{file}, line {line}: a path file must be UTF-8 text, but byte 0x{content[problem.start]:02x} "
            "is not; save it as CSV in UTF-8."
        ) from None


def split_rows(text: str, file: str | PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells; one line at a time, so that an open quote cannot swallow the lines after it."""
    for line, content in enumerate(split_lines(text), start=1):
        if not is_row(content):
            continue
        try:
            yield (
                line,
                [cell.strip() for cell in next(csv.reader([content], strict=True, skipinitialspace=True))],
            )
        except csv.Error as problem:
            raise BadInput(
                f"{file}, line {line}: a row must be comma-separated values, but reading it failed with "
                f"'{problem}'; check its quotes."
            ) from None


def is_row(line: str) -> bool:
    """Whether a line holds values."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _check_header(rows: Iterator[tuple[int, list[str]]], file: str | PathLike[str]) -> list[str]:
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
    if value < 0 or (name == "speed_mm_s" and value == 0):
        rule = "must be positive" if name == "speed_mm_s" else "must not be negative"
        raise BadInput(f"{where}: {name} {rule}, but is {value:g}; correct it or leave it empty.")
    return value
