"""Logs as CSV: columns named as in NIST's build data, or as in the tables that laserloop writes.

NIST: build_time_us, cmd_laser_pos_x_mm, cmd_laser_pos_y_mm, cmd_laser_power_W, and the same with real_ for
what the machine measured of itself, which is taken where it is there (doi 10.18434/mds2-3761). A row's power
lasts until the next row. Own tables: t_s, x_mm, y_mm, power_w, where a row's power is of the time
until the row.

A reading: measured_peak_k (own tables: t_measured_k); empty is none, nan a broken one. measured_time_us is
when it was taken, measured_peak_x_mm and measured_peak_y_mm (own tables: x_measured_mm, y_measured_mm) where
on the plate it was seen, if the log knows.

Other names are told by a mapping, time: "Time (ms)", with the unit in brackets; cells may lie between commas,
semicolons (with decimal commas) or tabs. Four columns of numbers without names are x and y, mm, power, W, and
a trigger or a temperature, K, every 10 µs.
"""

import csv
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from reprlib import repr as short_repr

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.logs.recording import MOST_ROWS, Readings, Recording, RowTimes

FloatArray = NDArray[np.float64]

TIME = "build_time_us"
PLACES = ("laser_pos_x_mm", "laser_pos_y_mm", "laser_power_W")
PEAK, TAKEN = "measured_peak_k", "measured_time_us"
SEEN = ("measured_peak_x_mm", "measured_peak_y_mm")
OWN = ("t_s", "x_mm", "y_mm", "power_w")
OWN_PEAK = "t_measured_k"
OWN_SEEN = ("x_measured_mm", "y_measured_mm")
OWN_LIT = "lit"
TRUTHS = ("t_true_k", "t_peak_k")  # of a run without measurements, T_max itself
OWN_MAY = (OWN_PEAK, OWN_LIT, *OWN_SEEN, *TRUTHS)
UNITS: Mapping[str, tuple[str, Mapping[str, tuple[float, float]]]] = {  # a column, and what makes its unit
    "time": (TIME, (TIMES := {"s": (1e6, 0.0), "ms": (1e3, 0.0), "us": (1.0, 0.0)})),
    "x": (f"cmd_{PLACES[0]}", (LENGTHS := {"m": (1e3, 0.0), "mm": (1.0, 0.0), "um": (1e-3, 0.0)})),
    "y": (f"cmd_{PLACES[1]}", LENGTHS),
    "power": (f"cmd_{PLACES[2]}", {"w": (1.0, 0.0), "kw": (1e3, 0.0)}),
    "peak": (PEAK, {"k": (1.0, 0.0), "c": (1.0, 273.15)}),
    "taken": (TAKEN, TIMES),
    "peak_x": (SEEN[0], LENGTHS),
    "peak_y": (SEEN[1], LENGTHS),
}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
BARE = (*(f"cmd_{name}" for name in PLACES), PEAK)  # columns of a file without names
BARE_PERIOD = 10.0  # µs
TRIGGERS = 3.0  # the largest number of a column of triggers
LONGEST_LINE = 100_000  # characters
MOST_POWER = 1e4  # W; no laser of such machines has more


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a file writes its table: the names of its columns as they are meant, and what makes their units."""

    header: list[str]
    separator: str = ","
    units: Mapping[str, tuple[float, float]]  # factor and addend
    bare: bool = False  # no names in the file


def find_dialect(file: Path, columns: Mapping[str, str] | None = None) -> Dialect:
    """How a file is written; `columns` names those that are called otherwise, by time, x, y, power, peak …"""
    for line, text in _lines(file):
        separator = max(SEPARATORS, key=lambda sign: (text.count(sign), sign == ","))
        header = next(_split([(line, text)], file, separator))[1]
        if len(header) == 1 and any(sign in text for sign in "|: "):
            raise BadInput(
                f"{file.name}, line {line}: the cells of a log must lie between "
                f"{', '.join(SEPARATORS.values())}, but this line has none of them; write it so"
            )
        if len(header) == len(BARE) and all(re.fullmatch(r"[-+0-9.,eE]+", cell) for cell in header):
            return Dialect(header=list(BARE), separator=separator, units={}, bare=True)
        units = {}
        for key, name in (columns or {}).items():
            if key not in UNITS or name not in header:
                raise BadInput(
                    f"{file.name}, line {line}: a mapping must name a column of the log by one of "
                    f"{', '.join(UNITS)}, but {key[:40]}: {name[:60]!r} does not; correct it"
                )
            meant, known = UNITS[key]
            units[meant] = _find_unit(name, key, known, file)
            header[header.index(name)] = meant
        return Dialect(header=header, separator=separator, units=units)
    raise BadInput(
        f"{file.name}, line 1: a log must begin with the names of its columns, but is empty; add them"
    )


def _find_unit(
    name: str, key: str, known: Mapping[str, tuple[float, float]], file: Path
) -> tuple[float, float]:
    """Factor and addend of the unit in a column's name: Time (ms), T [°C], x_mm."""
    unit = re.split(r"[\s_(\[/,]+", name.strip(" )]"))[-1].lower()
    unit = unit.replace("µ", "u").replace("μ", "u").replace("°", "").replace("sec", "s")
    if unit not in known:
        raise BadInput(
            f"{file.name}, line 1: the name of the column for {key} must end in its unit, one of "
            f"{', '.join(known)}, but is {name[:60]!r}; rename it, as in 'Name ({next(iter(known))})'"
        )
    return known[unit]


def read_csv_log(file: Path, columns: Mapping[str, str] | None = None) -> Recording:
    """The recording of a CSV file."""
    dialect = find_dialect(file, columns)
    header = dialect.header
    if dialect.bare:
        return _read_bare(file, dialect)
    if TIME in header:
        return read_machine_log(file, dialect)
    if OWN[0] in header:
        return read_own(read_table(file, must=OWN, may=OWN_MAY, dialect=dialect))
    raise BadInput(
        f"{file.name}, line 1: a log must have the column {TIME} (as NIST's build data) or {OWN[0]} (as "
        "laserloop's tables), but has neither; name its columns so, or say with "
        "--columns how they are called"
    )


def find_columns(header: list[str], file: Path) -> tuple[str, ...]:
    """Place and power: as the machine measured them if it did, otherwise as commanded."""
    chosen = []
    for name in PLACES:
        found = [f"{prefix}_{name}" for prefix in ("real", "cmd") if f"{prefix}_{name}" in header]
        if not found:
            raise BadInput(
                f"{file.name}, line 1: a log must have the column cmd_{name} or real_{name}, but has "
                "neither; add one"
            )
        chosen.append(found[0])
    return tuple(chosen)


def _read_bare(file: Path, dialect: Dialect) -> Recording:
    """A log without names and times."""
    table = read_table(file, must=BARE[:3], may=BARE[3:], dialect=dialect)
    last = table.numbers[PEAK]
    triggers = bool(np.all((last == np.round(last)) & (last >= 0.0) & (last <= TRIGGERS)))
    numbers = dict(table.numbers) | {TIME: BARE_PERIOD * np.arange(len(table), dtype=np.float64)}
    if triggers:
        del numbers[PEAK]
    told = (
        f"{file.name} has no names: x, y, mm, power, W, and {'a trigger' if triggers else 'kelvin'} are read"
    )
    found = _read_machine_table(replace(table, numbers=numbers), BARE[:3])
    return replace(found, notes=(f"{told}, every {BARE_PERIOD:g} µs", *found.notes))


def read_machine_log(file: Path, dialect: Dialect) -> Recording:
    """A log with NIST's names."""
    columns = find_columns(dialect.header, file)
    table = read_table(file, must=(TIME, *columns), may=(PEAK, TAKEN, *SEEN), dialect=dialect)
    return _read_machine_table(table, columns)


def _read_machine_table(table: TextTable, columns: tuple[str, ...]) -> Recording:
    time = RowTimes(table.where, TIME, 1e-6 * table.numbers[TIME])
    peaks = table.numbers.get(PEAK, np.empty(0))
    came = np.flatnonzero(table.filled[PEAK]) if len(peaks) else np.empty(0, np.intp)
    taken = (
        1e-6 * table.numbers[TAKEN][came] - time.start
        if TAKEN in table.numbers
        else np.full(len(came), np.nan)
    )
    return make_recording(table, time, columns, Readings(
        arrived=(time.seconds - time.start)[came],
        taken=taken,
        peak=peaks[came],
        saturated=np.zeros(len(came), np.bool_),
        place=find_places(table.numbers, SEEN, came),
    ), note_truth(table.file.name, PEAK, missing=PEAK not in table.numbers))  # fmt: skip


def make_recording(
    table: TextTable,
    time: RowTimes,
    columns: tuple[str, ...],
    readings: Readings,
    notes: tuple[str, ...] = (),
) -> Recording:
    """Beam and power of a table in which a row's power lasts until the next."""
    x, y, power = (table.numbers[name] for name in columns)
    check_power(table, power, columns[2])
    return Recording(
        name=table.file.name,
        times=time.seconds - time.start,
        positions=1e-3 * np.stack((x, y), axis=1),
        power=np.maximum(power[:-1], 0.0),
        readings=readings,
        notes=notes,
    )


def check_power(table: TextTable, power: FloatArray, column: str) -> None:
    """Refuse powers that no laser has; a little below 0 is a sensor's offset."""
    bad = np.flatnonzero(~((power >= -1.0) & (power <= MOST_POWER)))
    if len(bad):
        raise BadInput(
            f"{table.where(int(bad[0]))}: {column} must lie between 0 and {MOST_POWER:g} W, but is "
            f"{power[bad[0]]:g}; correct it"
        )


def read_own(table: TextTable) -> Recording:
    """A table of laserloop's."""
    file = table.file
    peak = next((name for name in (OWN_PEAK, *TRUTHS) if name in table.numbers), OWN_PEAK)
    time = RowTimes(table.where, OWN[0], table.numbers[OWN[0]])
    check_power(table, table.numbers["power_w"], "power_w")
    positions = 1e-3 * np.stack((table.numbers["x_mm"], table.numbers["y_mm"]), axis=1)
    peaks = table.numbers.get(peak, np.full(len(table), np.nan))
    came = table.filled.get(peak, np.zeros(len(table), np.bool_))
    power = np.maximum(table.numbers["power_w"], 0.0)
    places = find_places(table.numbers, OWN_SEEN)
    found = from_ticks(file.name, time.seconds, positions, power, peaks, came, places)
    on = find_lit(table.where, table.numbers[OWN_LIT], power) if OWN_LIT in table.numbers else None
    return replace(found, on=on, notes=note_truth(file.name, peak, missing=peak not in table.numbers))


def find_places(
    columns: Mapping[str, FloatArray], names: tuple[str, str], came: NDArray[np.intp] | slice = slice(None)
) -> FloatArray | None:
    """Where peaks were seen, (…, 2), m, if both columns are there."""
    if any(name not in columns for name in names):
        return None
    return 1e-3 * np.stack([columns[name][came] for name in names], axis=1)


def find_lit(where: Callable[[int], str], lit: FloatArray, power: FloatArray) -> NDArray[np.bool_]:
    """Where the laser was on, as a run of laserloop says; dark ticks have no power."""
    on = np.asarray(lit == 1.0)
    bad = np.flatnonzero(~(on | ((lit == 0.0) & (power == 0.0))))
    if len(bad):
        k = int(bad[0])
        raise BadInput(
            f"{where(k)}: lit must be 1, or 0 where power_w is 0, but is {lit[k]:g} at {power[k]:g} W; "
            "correct it"
        )
    return on


def note_truth(name: str, column: str, *, missing: bool = False) -> tuple[str, ...]:
    """A sentence if what is read is no measurement."""
    if column not in TRUTHS:
        return (f"{name} has no column {column}, so there are no readings",) if missing else ()
    return (f"{name} has no measurements, so the plant's own T_max ({column}) is taken for them",)


def from_ticks(
    name: str,
    ends: FloatArray,  # (n,), s
    positions: FloatArray,  # (n, 2), m
    power: FloatArray,  # (n,), W, of the time that ends here
    peaks: FloatArray,  # (n,), K
    came: NDArray[np.bool_],  # (n,), did a reading come here?
    places: FloatArray | None = None,  # (n, 2), m, where its peak was seen
) -> Recording:
    """A recording of what laserloop writes: entry k is of the end of tick k; the start is one tick before."""
    first = ends[0] - (ends[1] - ends[0])
    start = 2.0 * positions[0] - positions[1]
    return Recording(
        name=name,
        times=np.concatenate(([0.0], ends - first)),
        positions=np.vstack((start, positions)),
        power=power,
        readings=Readings(
            arrived=(ends - first)[came],
            taken=np.full(int(came.sum()), np.nan),
            peak=peaks[came],
            saturated=np.zeros(int(came.sum()), np.bool_),
            place=None if places is None else places[came],
        ),
    )


def read_table(
    file: Path,
    *,
    must: Sequence[str],
    may: Sequence[str] = (),
    words: Sequence[str] = (),
    dialect: Dialect | None = None,
) -> TextTable:
    """The columns `must`, whose cells must be finite numbers, and those of `may` and `words` that are there.

    A number of `may` can be empty, or NaN; other columns are passed over.
    """
    dialect = dialect or find_dialect(file)
    header = dialect.header
    rows = _split(_lines(file), file, dialect.separator)
    if not dialect.bare:
        next(rows)
    for name in must:
        if header.count(name) != 1:
            raise BadInput(
                f"{file.name}, line 1: a log must have the column {name} once, but it is there "
                f"{header.count(name)} times; name it so"
            )
    taken = {name: header.index(name) for name in (*must, *may, *words) if name in header}
    found = {name: (array("d"), array("b")) for name in taken if name not in words}  # values, filled?
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
                values, there = found[name]
                cell = cells[column] if dialect.separator == "," else cells[column].replace(",", ".")
                values.append(_number(cell, name, f"{file.name}, line {line}", name in must))
                there.append(bool(cell))
    numbers = {name: np.array(values) for name, (values, _) in found.items()}
    for name, (factor, addend) in dialect.units.items():
        if name in numbers:
            numbers[name] = factor * numbers[name] + addend
    filled = {name: np.array(there, np.bool_) for name, (_, there) in found.items()}
    return TextTable(file=file, lines=np.array(lines, np.int64), numbers=numbers, filled=filled, words=said)


def _number(cell: str, name: str, where: str, needed: bool) -> float:
    if not cell and not needed:
        return np.nan
    try:
        value = float(cell.replace("_", "?"))  # Python alone would read 1_5 as 15
    except ValueError:
        value = None
    if value is None or (needed and not np.isfinite(value)):
        rule = "a finite number" if needed else "a number or empty"
        raise BadInput(f"{where}: {name} must be {rule}, but is {short_repr(cell)}; correct it")
    return value


def _split(lines: Iterable[tuple[int, str]], file: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells."""
    for line, text in lines:
        try:
            cells = next(csv.reader([text], strict=True, delimiter=separator))
        except csv.Error as problem:
            raise BadInput(
                f"{file.name}, line {line}: a row must be CSV, but is not ({problem}); correct it"
            ) from None
        yield line, [cell.strip() for cell in cells]


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Line numbers and text, one at a time; blank lines and lines that begin with # are passed over."""
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
                    yield line, text
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
