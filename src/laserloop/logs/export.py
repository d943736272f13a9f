"""Runs as tables, one row per tick, CSV or Parquet; a plate's temperatures as a VTK file.

One column per quantity with its unit in the name. VTK is the legacy format, binary, which ParaView and meshio
open.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant import Plant

NAME = "temperature_k"
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
        need_pyarrow()


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
        need_pyarrow()
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
    arrow, parquet = need_pyarrow()
    notes = {name: json.dumps(record[name]) for name in ("process", "version", "notes") if name in record}
    table = arrow.table({name: list(values) for name, values in columns.items()})
    sink = arrow.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata(notes), sink)
    return bytes(sink.getvalue())


def need_pyarrow() -> tuple[Any, Any]:
    """The library of Parquet, and its part for files."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput(
            "Parquet needs pyarrow, which is not installed; pip install 'laserloop[logs]', or write .csv"
        ) from None
    return pyarrow, pyarrow.parquet


def check_field(file: Path) -> None:
    """Refuse another ending before any work is done."""
    if file.suffix.lower() != ".vtk":
        raise BadInput(f"a field must end in .vtk, but got {file.name[-60:]!r}; rename it")


def render_field(plant: Plant) -> bytes:
    """The whole plate now; lengths in mm, the surface at z = 0, what lies below it at z < 0."""
    x, y, z, temperature = plant.cells()
    lines, temperature = [1e3 * x, 1e3 * y, -1e3 * z[::-1]], temperature[::-1]
    counts = [len(line) for line in lines]
    parts = [
        b"# vtk DataFile Version 3.0\n",
        f"laserloop, {plant.settings.name} plant, K, mm, t = {plant.time:.9g} s\n".encode(),
        b"BINARY\nDATASET RECTILINEAR_GRID\n",
        f"DIMENSIONS {' '.join(map(str, counts))}\n".encode(),
    ]
    for axis, line in zip("XYZ", lines, strict=True):
        parts += [f"{axis}_COORDINATES {len(line)} double\n".encode(), _big_endian(line, ">f8"), b"\n"]
    parts += [
        f"POINT_DATA {temperature.size}\nSCALARS {NAME} float 1\nLOOKUP_TABLE default\n".encode(),
        _big_endian(temperature, ">f4"),
        b"\n",
    ]
    return b"".join(parts)


def _big_endian(values: NDArray[np.float64], kind: str) -> bytes:
    return np.ascontiguousarray(values).astype(kind).tobytes()
