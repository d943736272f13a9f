"""Runs of laserloop as logs: what `control --json` and `simulate --json` write."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, show
from laserloop.logs.csv_log import (
    MOST_POWER,
    OWN,
    OWN_LIT,
    OWN_PEAK,
    OWN_SEEN,
    TRUTHS,
    find_lit,
    find_places,
    from_ticks,
    note_truth,
)
from laserloop.logs.export import need_pyarrow
from laserloop.logs.recording import MOST_ROWS, Recording, RowTimes
from laserloop.process import Process

FloatArray = NDArray[np.float64]

LARGEST = 1_000_000_000  # bytes
MOST_DIGITS = 300  # of a whole number; one with more is as good as infinite


def read_run_json(file: Path) -> Recording:
    """The recording of a run; its process is inside."""
    page = _read_object(file)
    return _read_series(_Series(page.get("series", page), file.name), page.get("process"), file.name)


def _read_series(series: "_Series", inside: object, file: str) -> Recording:
    t, x, y, power = (series.take_finite(name) for name in OWN)
    bad = np.flatnonzero((power < 0.0) | (power > MOST_POWER))
    if len(bad):
        raise BadInput(
            f"{series.where(OWN[3])(bad[0])}: power_w must lie between 0 and {MOST_POWER:g} W, but is "
            f"{power[bad[0]]:g}; correct it"
        )
    time = RowTimes(series.where(OWN[0]), OWN[0], t)
    name = next((name for name in (OWN_PEAK, *TRUTHS) if name in series.lists), OWN_PEAK)
    peaks = series.take(name)
    came = np.array([value is not None for value in series.lists[name]], dtype=np.bool_)
    positions = 1e-3 * np.stack((x, y), axis=1)
    seen = {column: series.take(column) for column in OWN_SEEN if column in series.lists}
    places = find_places(seen, OWN_SEEN)
    recording = from_ticks(file, time.seconds, positions, power, peaks, came, places)
    on, process = series.take_lit(power), _read_process(inside, file)
    return replace(recording, on=on, process=process, notes=note_truth(file, name))


def read_run_parquet(file: Path) -> Recording:
    """The recording of a run that was written as a table in Parquet; its process is inside."""
    _, parquet = need_pyarrow()
    try:
        table = parquet.read_table(file)
    except Exception as problem:  # a damaged file leads to ArrowInvalid, OSError and more
        told = " ".join(str(problem).split())[:80]
        raise BadInput(f"{file.name} must be readable Parquet, but is not ({told}); write it anew") from None
    notes = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    columns = {name: table[name].to_pylist() for name in table.column_names}
    series = _Series({OWN[0]: []} | columns, file.name)
    return _read_series(series, json.loads(notes.get("process", "null")), file.name)


def _read_process(inside: object, file: str) -> Process | None:
    """The process of a run, if it has one inside."""
    try:
        return (
            Process.from_json(inside, where="the process of this run")
            if isinstance(inside, Mapping)
            else None
        )
    except BadInput as problem:
        raise BadInput(f"{file}: {problem}") from None


class _Series:
    """The lists of a run by name, equally long."""

    def __init__(self, lists: object, file: str) -> None:
        if not isinstance(lists, Mapping):
            raise BadInput(f"{file}: series must be lists by name, but is {show(lists)}; write it anew")
        self.lists: Mapping[str, Any] = lists
        self._file = file

    def where(self, name: str) -> Callable[[np.intp | int], str]:
        """Names an entry of a list, counted from 0, in complaints."""
        return lambda entry: f"{self._file}, {name}, entry {entry}"

    def take(self, name: str) -> FloatArray:
        """The numbers of a list as long as the first; NaN where there is none."""
        values = self._find(name)
        for k, value in enumerate(values):
            number = isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) > 1e300
            if not (value is None or number):
                raise BadInput(
                    f"{self.where(name)(k)}: {name} must be a number, but is {show(value)}; write it anew"
                )
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    def take_finite(self, name: str) -> FloatArray:
        """A list in which nothing may be missing."""
        values = self.take(name)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise BadInput(f"{self.where(name)(bad[0])}: {name} must be a finite number; correct it")
        return values

    def take_lit(self, power: FloatArray) -> NDArray[np.bool_] | None:
        """Where the laser was on, if the run says."""
        if OWN_LIT not in self.lists:
            return None
        flags = np.array([float(value) if value in (0, 1) else np.nan for value in self._find(OWN_LIT)])
        return find_lit(self.where(OWN_LIT), flags, power)

    def _find(self, name: str) -> list[Any]:
        """A list as long as the first."""
        values, first = self.lists.get(name), self.lists.get(OWN[0])
        if not isinstance(values, list) or not 0 < len(values) <= MOST_ROWS:
            raise BadInput(
                f"{self._file}: {name} must be a list of 1 to {MOST_ROWS} numbers, but is {show(values)}; "
                "give what control --json or simulate --json wrote"
            )
        if isinstance(first, list) and len(values) != len(first):
            raise BadInput(
                f"{self._file}: {name} must have {len(first)} entries as {OWN[0]}, but has {len(values)}; "
                "write it anew"
            )
        return values


def _read_object(file: Path) -> Mapping[str, Any]:
    """The JSON object of a file, within limits."""
    try:
        if file.stat().st_size > LARGEST:
            raise BadInput(f"{file.name}: a run may have at most {LARGEST} bytes, but has more; cut it")
        content = file.read_bytes()
        value = json.loads(content.decode(json.detect_encoding(content)), parse_int=_read_whole)
    except json.JSONDecodeError as problem:
        raise BadInput(
            f"{file.name}, line {problem.lineno}, column {problem.colno}: a run must be JSON, but is not "
            f"({problem.msg}); write it anew"
        ) from None
    except UnicodeDecodeError as problem:
        raise BadInput(
            f"{file.name}: a run must be JSON in UTF-8, but byte {problem.start} is not; write it anew"
        ) from None
    except RecursionError:
        raise BadInput(f"{file.name}: brackets of JSON may be some hundred deep; write it anew") from None
    except OSError as problem:
        raise BadInput(
            f"the log {str(file)[:80]!r} must be readable, but is not ({problem.strerror}); check its name"
        ) from None
    if not isinstance(value, Mapping):
        raise BadInput(f"{file.name}: a run must be a JSON object, but is {show(value)}; write it anew")
    return value


def _read_whole(digits: str) -> float:
    """Python refuses to read whole numbers of very many digits."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)
