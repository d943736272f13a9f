"""A plate's temperatures as a VTK file (legacy format, binary), which ParaView and meshio open."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant import Plant

NAME = "temperature_k"


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
