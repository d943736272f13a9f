"""Checkerboard storage: how a field (z, y, x) lies in memory for the kernels (see kernels.py)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Box = tuple[int, int, int, int, int]  # row0, row1, column0, column1, depth

EMPTY: Box = (1, 1, 1, 1, 0)


@dataclass(frozen=True, slots=True)
class Checkerboard:
    """Rows of y, split into even and odd x, then depth, then columns; one pad row and column all around."""

    nz: int
    ny: int
    nx: int

    @property
    def columns(self) -> int:
        """Columns of one colour."""
        return (self.nx + 1) // 2

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of a packed field."""
        return self.ny + 2, 2, self.nz, self.columns + 2

    @property
    def size(self) -> int:
        """Of a packed field."""
        return int(np.prod(self.shape))

    @property
    def strides(self) -> tuple[np.uintp, np.uintp, np.uintp]:
        """Of row, colour and depth, in elements."""
        _, _, nz, width = self.shape
        return np.uintp(2 * nz * width), np.uintp(nz * width), np.uintp(width)

    def pack(self, field: FloatArray) -> FloatArray:
        """(z, y, x) → packed and flat."""
        packed = np.zeros(self.shape)
        for colour in (0, 1):
            half = field[:, :, colour::2].transpose(1, 0, 2)
            packed[1:-1, colour, :, 1 : 1 + half.shape[2]] = half
        return packed.ravel()

    def unpack(self, packed: FloatArray) -> FloatArray:
        """Packed → (z, y, x)."""
        return np.stack([self.level(packed, k) for k in range(self.nz)])

    def level(self, packed: FloatArray, k: int) -> FloatArray:
        """One depth level of a packed field as (y, x)."""
        inner = packed.reshape(self.shape)[1:-1, :, k, 1:-1]
        return inner.transpose(0, 2, 1).reshape(self.ny, 2 * self.columns)[:, : self.nx]

    def pack_x(self, values: FloatArray) -> FloatArray:
        """Values along x → one line of each colour."""
        packed = np.zeros((2, self.columns + 2))
        for colour in (0, 1):
            half = values[colour::2]
            packed[colour, 1 : 1 + len(half)] = half
        return packed.ravel()

    def pack_y(self, values: FloatArray) -> FloatArray:
        """Values along y → rows."""
        return np.concatenate(([0.0], values, [0.0]))

    def part(self, packed: FloatArray, box: Box) -> FloatArray:
        """A view of a box of a packed field."""
        row0, row1, col0, col1, depth = box
        return packed.reshape(self.shape)[row0:row1, :, :depth, col0:col1]

    @property
    def whole(self) -> Box:
        """The box of all unknowns."""
        return 1, self.ny + 1, 1, self.columns + 1, self.nz - 1

    def patch(self, box: Box) -> tuple[object, ...]:
        """A box as the kernels want it: rows, then first and last column and depth of each row."""
        row0, row1, *rest = box
        return np.uintp(row0), np.uintp(row1), *(np.full(self.ny + 2, n, np.uintp) for n in rest)

    def clip(self, box: Box) -> Box:
        """The part of a box that holds unknowns: the deepest level is not one."""
        row0, row1, col0, col1, depth = box
        return (
            max(1, row0),
            min(self.ny + 1, row1),
            max(1, col0),
            min(self.columns + 1, col1),
            min(self.nz - 1, depth),
        )


def enclose(a: Box, b: Box) -> Box:
    """The smallest box around both."""
    if a[4] == 0:
        return b
    return min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]), max(a[4], b[4])
