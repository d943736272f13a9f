"""CSV files of waypoints: a header `x_mm,y_mm`, then one waypoint per row."""

import csv
from collections.abc import Iterator
from os import PathLike
from reprlib import repr as short_repr

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths.plate import DEFAULT_PLATE, check_plate, first_off_plate, off_plate
from laserloop.paths.text_file import parse_number, read_bytes, split_lines

HEADER = ["x_mm", "y_mm"]


def read_csv(file: str | PathLike[str], *, plate: tuple[float, float] = DEFAULT_PLATE) -> NDArray[np.float64]:
    """The waypoints (m) in `file`, all on the plate and at least two of them different.

    Blank lines, lines that start with #, and further columns named in the header are passed over.
    """
    check_plate(plate)
    rows = _split_rows(_read_text(file), file)
    columns = _check_header(rows, file)
    lines, points = [], []
    for line, cells in rows:
        points.append(_parse_point(cells, columns, f"{file}, line {line}"))
        lines.append(line)
    if not points:
        raise BadInput(
            f"{file}: at least two waypoints must follow the header, but none does; add a row for each."
        )
    waypoints = np.array(points) / 1e3
    off = first_off_plate(waypoints, plate)
    if off is not None:
        raise off_plate(f"{file}, line {lines[off]}", waypoints[off], plate)
    if (waypoints == waypoints[0]).all():
        raise BadInput(
            f"{file}, line {lines[0]}: a path needs at least two different waypoints, but ({points[0][0]:g}, "
            f"{points[0][1]:g}) mm is the only one up to line {lines[-1]}; add another."
        )
    return waypoints


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


def _split_rows(text: str, file: str | PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells; one line at a time, so that an open quote cannot swallow the lines after it."""
    for line, content in enumerate(split_lines(text), start=1):
        if not content.strip() or content.lstrip().startswith("#"):
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


def _check_header(rows: Iterator[tuple[int, list[str]]], file: str | PathLike[str]) -> int:
    """The number of columns that the header names."""
    line, cells = next(rows, (0, []))
    if not line:
        raise BadInput(
            f"{file}: a path file must start with the header x_mm,y_mm, but it is empty; add waypoints."
        )
    if cells[:2] != HEADER:
        raise BadInput(
            f"{file}, line {line}: the header must start with x_mm,y_mm, but is "
            f"{short_repr(','.join(cells))}; name the first two columns so."
        )
    return len(cells)


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
