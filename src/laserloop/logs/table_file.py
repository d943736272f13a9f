"""Tables of numbers as text, read row by row: columns by name, limits on size, complaints by line."""

import csv
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short_repr

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.logs.recording import MOST_ROWS

FloatArray = NDArray[np.float64]

LONGEST_LINE = 100_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextTable:
    """Numbers by column; a cell that is empty is NaN, and not filled."""

    file: Path
    lines: NDArray[np.int64]  # (n,), where each row stands in the file, from 1 on
    numbers: Mapping[str, FloatArray]  # (n,) each
    filled: Mapping[str, NDArray[np.bool_]]  # (n,) each
    words: Mapping[str, Sequence[str]]  # columns of text

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, row: int) -> str:
        """The name of a row in complaints."""
        return f"{self.file.name}, line {self.lines[row] if len(self.lines) else 1}"


def read_header(file: Path) -> list[str]:
    """The names of the columns."""
    for _, cells in _rows(file):
        return cells
    raise BadInput(
        f"{file.name}, line 1: a log must begin with the names of its columns, but is empty; add them"
    )


def read_table(
    file: Path, *, must: Sequence[str], may: Sequence[str] = (), words: Sequence[str] = ()
) -> TextTable:
    """The columns `must`, whose cells must be finite numbers, and those of `may` and `words` that are there.

    A number of `may` can be empty, or NaN; other columns are passed over.
    """
    rows = _rows(file)
    header = next(rows, (0, []))[1]
    for name in must:
        if header.count(name) != 1:
            raise BadInput(
                f"{file.name}, line 1: a log must have the column {name} once, but it is there "
                f"{header.count(name)} times; name it so"
            )
    taken = {name: header.index(name) for name in (*must, *may, *words) if name in header}
    found = {name: array("d") for name in taken if name not in words}
    said: dict[str, list[str]] = {name: [] for name in words if name in header}
    lines = array("q")
    for line, cells in rows:
        if len(lines) == MOST_ROWS:
            raise BadInput(
                f"{file.name}, line {line}: a log may have at most {MOST_ROWS} rows, but has more; cut it"
            )
        if len(cells) != len(header):
            raise BadInput(
                f"{file.name}, line {line}: a row must have {len(header)} cells as the header, but has "
                f"{len(cells)}; correct it"
            )
        lines.append(line)
        for name, column in taken.items():
            if name in said:
                said[name].append(cells[column])
            else:
                found[name].append(_number(cells[column], name, f"{file.name}, line {line}", name in must))
    numbers = {name: np.array(values) for name, values in found.items()}
    filled = {name: ~(np.isnan(values) & np.signbit(values)) for name, values in numbers.items()}
    return TextTable(file=file, lines=np.array(lines, np.int64), numbers=numbers, filled=filled, words=said)


EMPTY = float(np.copysign(np.nan, -1.0))  # a NaN whose sign says that nothing was there


def _number(cell: str, name: str, where: str, needed: bool) -> float:
    if not cell and not needed:
        return EMPTY
    try:
        value = float(cell.replace("_", "?"))  # Python alone would read 1_5 as 15
    except ValueError:
        value = None
    if value is None or (needed and not np.isfinite(value)):
        rule = "a finite number" if needed else "a number or empty"
        raise BadInput(f"{where}: {name} must be {rule}, but is {short_repr(cell)}; correct it")
    return float("nan") if np.isnan(value) else value


def _rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells, one line at a time; blank lines and lines that begin with # are passed over."""
    try:
        with file.open(encoding="utf-8-sig", newline=None) as stream:
            line = 0
            while text := stream.readline(LONGEST_LINE):
                line += 1
                if len(text) == LONGEST_LINE:
                    raise BadInput(f"{file.name}, line {line}: a line is too long for a log; give a CSV file")
                if "\0" in text:
                    raise BadInput(
                        f"{file.name}, line {line}: a log must be text, but has a zero byte; give a CSV file"
                    )
                if text.strip() and not text.lstrip().startswith("#"):
                    yield line, [cell.strip() for cell in next(csv.reader([text], strict=True))]
    except csv.Error as problem:
        raise BadInput(
            f"{file.name}, line {line}: a row must be CSV, but is not ({problem}); correct it"
        ) from None
    except UnicodeDecodeError as problem:
        raise BadInput(
            f"{file.name}, line {line + 1} or after: a log must be UTF-8 text, but byte "
            f"0x{problem.object[problem.start]:02x} is not; save it so"
        ) from None
    except (OSError, ValueError) as problem:
        if isinstance(problem, BadInput):
            raise
        reason = getattr(problem, "strerror", None) or problem
        raise BadInput(
            f"the log {str(file)[:80]!r} must be readable, but is not ({reason}); check its name"
        ) from None
