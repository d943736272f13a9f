"""Runs as tables: one row per tick, one column per quantity with its unit in the name; CSV or Parquet."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput

ENDINGS = (".csv", ".parquet")


def tidy(record: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The lists of a run's record that have one entry per tick, and the number of the tick before them."""
    series = record.get("series", record)
    n = len(series["t_s"])
    columns = {
        name: values for name, values in series.items() if isinstance(values, list) and len(values) == n
    }
    scalars = {name: [value] * n for name, value in record.items() if name in ("path", "plant", "controller")}
    return {"tick": range(n), **columns, **scalars}


def check_table(file: Path) -> None:
    """Refuse an ending that is no table, and Parquet without its library, before any work is done."""
    if file.suffix.lower() not in ENDINGS:
        raise BadInput(f"a table must end in {' or '.join(ENDINGS)}, but got {file.name[-60:]!r}; rename it")
    if file.suffix.lower() == ".parquet":
        _need_pyarrow()


def render_table(record: Mapping[str, Any], ending: str) -> bytes:
    """A run's record as the content of a file."""
    columns = tidy(record)
    return _render_csv(columns) if ending.lower() == ".csv" else _render_parquet(columns, record)


def render_rows(rows: Sequence[Mapping[str, Any]], ending: str) -> bytes:
    """Rows with the same names as the content of a file."""
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
    return _render_csv(columns) if ending.lower() == ".csv" else _render_parquet(columns, {})


def can_parquet() -> bool:
    """Whether the library for it is installed."""
    try:
        _need_pyarrow()
    except BadInput:
        return False
    return True


def _render_csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Booleans are 0 and 1; what is not known is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(int(cell) if isinstance(cell, bool) else "" if cell is None else cell for cell in row)
    return stream.getvalue().encode()


def _render_parquet(columns: Mapping[str, Sequence[Any]], record: Mapping[str, Any]) -> bytes:
    """The process and the version are in the file's own notes."""
    import json

    arrow, parquet = _need_pyarrow()
    notes = {name: json.dumps(record[name]) for name in ("process", "version", "notes") if name in record}
    table = arrow.table({name: list(values) for name, values in columns.items()})
    sink = arrow.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata(notes), sink)
    return bytes(sink.getvalue())


def _need_pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput(
            "Parquet needs pyarrow, which is not installed; pip install 'laserloop[logs]', or write .csv"
        ) from None
    return pyarrow, pyarrow.parquet
