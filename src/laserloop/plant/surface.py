"""The lasered surface at one moment: its temperatures, its hottest node and the peak between the nodes."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numba import njit
from numpy.typing import NDArray

from laserloop.plant import sampling

FloatArray = NDArray[np.float64]
View = tuple[FloatArray, FloatArray, FloatArray]  # x, y and the temperatures on them

POINTS = 8  # of the interpolant along each axis; ripple 0.02 K at σ/2 spacing where 5 points leave 0.7 K


@dataclass(frozen=True, slots=True)
class Hottest:
    """A temperature and where it is."""

    temperature: float  # K
    x: float  # m
    y: float  # m


class Surface:
    """Temperatures (y, x) in K on the grid lines x and y, m, at a time, s.

    On nested grids the finest comes first, and the coarser ones `around` it are joined when somebody asks.
    """

    def __init__(
        self,
        x: FloatArray,
        y: FloatArray,
        temperature: FloatArray,
        time: float,
        *,
        around: tuple[View, ...] = (),
    ) -> None:
        self.time = time
        self._finest = x, y, temperature
        self._around = around

    @cached_property
    def _joined(self) -> View:
        if not self._around:
            return self._finest
        views = *reversed(self._around), self._finest
        axes, field = [views[0][1], views[0][0]], views[0][2]
        for x, y, finer in views[1:]:
            axes, field = compose(axes, field, [y, x], finer)
        return axes[1], axes[0], field

    @property
    def x(self) -> FloatArray:
        """Grid lines, m."""
        return self._joined[0]

    @property
    def y(self) -> FloatArray:
        """Grid lines, m."""
        return self._joined[1]

    @property
    def temperature(self) -> FloatArray:
        """(y, x), K."""
        return self._joined[2]

    @cached_property
    def _hottest(self) -> tuple[View, int, int]:
        """The hottest node and its grid: what a beam has left behind may be on a coarser one."""
        views = self._finest, *self._around
        x, y, temperature = views[0]
        row, col = find_hottest(temperature, 0, 0, 0, 0)
        best, highest = (views[0], row, col), temperature[row, col]
        for coarse in views[1:]:
            if coarse[2].max() > highest:
                cols, rows = (np.searchsorted(a, (b[0], b[-1])) for a, b in zip(coarse, (x, y), strict=False))
                row, col = find_hottest(coarse[2], *rows, *cols)
                if coarse[2][row, col] > highest:
                    best, highest = (coarse, row, col), coarse[2][row, col]
            x, y, _ = coarse
        return best

    @cached_property
    def node(self) -> Hottest:
        """The hottest node."""
        (x, y, temperature), row, col = self._hottest
        return Hottest(float(temperature[row, col]), float(x[col]), float(y[row]))

    @cached_property
    def peak(self) -> Hottest:
        """The maximum of the interpolant of degree 7 through the 8 × 8 nodes around it."""
        view, row, col = self._hottest
        return Hottest(*find_peak(*view, row, col))


def compose(
    axes: list[FloatArray], field: FloatArray, finer_axes: list[FloatArray], finer: FloatArray
) -> tuple[list[FloatArray], FloatArray]:
    """A field on the lines of a finer grid where that is, and on its own outside, by cubics between them."""
    lines, inner = [], []
    for old, new in zip(axes, finer_axes, strict=True):
        half = 0.25 * (new[-1] - new[-2])
        before, after = old[old < new[0] - half], old[old > new[-1] + half]
        lines.append(np.concatenate((before, new, after)))
        inner.append(slice(len(before), len(before) + len(new)))
    for axis, (old, now) in enumerate(zip(axes, lines, strict=True)):
        before, after = field.shape[:axis], field.shape[axis + 1 :]
        flat = field.reshape(prod(before), len(old), prod(after))
        field = sampling.resample(old, now, flat).reshape(*before, len(now), *after)
    field[tuple(inner)] = finer
    return lines, field


@njit(cache=True, error_model="numpy")
def find_hottest(temperature, south, north, west, east):  # type: ignore[no-untyped-def]
    """Row and column of the largest value outside the rows and columns that a finer grid covers."""
    best = (0, 0)
    highest = -np.inf
    for row in range(temperature.shape[0]):
        inside = south <= row < north
        for col in range(temperature.shape[1]):
            if temperature[row, col] > highest and not (inside and west <= col < east):
                best, highest = (row, col), temperature[row, col]
    return best


@njit(cache=True, error_model="numpy")
def find_peak(x, y, temperature, row, col):  # type: ignore[no-untyped-def]
    """Newton's method for the stationary point of the tensor-product Lagrange interpolant near a node."""
    size = min(POINTS, x.size, y.size)
    warmer_row = row > 0 and (row == y.size - 1 or temperature[row - 1, col] > temperature[row + 1, col])
    warmer_col = col > 0 and (col == x.size - 1 or temperature[row, col - 1] > temperature[row, col + 1])
    first_row = min(max(row + 1 - size // 2 - warmer_row, 0), y.size - size)
    first_col = min(max(col + 1 - size // 2 - warmer_col, 0), x.size - size)
    xs, ys = x[first_col : first_col + size], y[first_row : first_row + size]
    values = temperature[first_row : first_row + size, first_col : first_col + size]
    reach_x = max(x[min(col + 1, x.size - 1)] - x[col], x[col] - x[max(col - 1, 0)])
    reach_y = max(y[min(row + 1, y.size - 1)] - y[row], y[row] - y[max(row - 1, 0)])
    reach_x, reach_y = 2.0 * reach_x, 2.0 * reach_y  # on a slanted ridge the hottest node is not the nearest
    basis_x, basis_y = np.empty((3, size)), np.empty((3, size))
    best = (temperature[row, col], x[col], y[row])
    px, py = x[col], y[row]
    for _ in range(20):
        lagrange(xs, px, basis_x)
        lagrange(ys, py, basis_y)
        d = np.zeros((3, 3))  # mixed derivatives: d[i, j] = ∂ⁱ⁺ʲ/∂yⁱ∂xʲ
        for i in range(3):
            for j in range(3 - i):
                for r in range(size):
                    for c in range(size):
                        d[i, j] += basis_y[i, r] * basis_x[j, c] * values[r, c]
        if d[0, 0] > best[0]:
            best = (d[0, 0], px, py)
        determinant = d[0, 2] * d[2, 0] - d[1, 1] ** 2
        if not (d[0, 2] < 0.0 and determinant > 0.0):
            break
        move_x = -(d[2, 0] * d[0, 1] - d[1, 1] * d[1, 0]) / determinant
        move_y = -(d[0, 2] * d[1, 0] - d[1, 1] * d[0, 1]) / determinant
        next_x = min(max(px + move_x, x[col] - reach_x, xs[0]), x[col] + reach_x, xs[-1])
        next_y = min(max(py + move_y, y[row] - reach_y, ys[0]), y[row] + reach_y, ys[-1])
        if abs(next_x - px) + abs(next_y - py) < 1e-9 * (reach_x + reach_y):
            break
        px, py = next_x, next_y
    return best


@njit(cache=True, error_model="numpy")
def lagrange(nodes, at, basis):  # type: ignore[no-untyped-def]
    """Values, first and second derivatives of the Lagrange polynomials of `nodes`."""
    for i in range(nodes.size):
        value, first, second = 1.0, 0.0, 0.0
        for j in range(nodes.size):
            if j != i:
                scale = 1.0 / (nodes[i] - nodes[j])
                factor = (at - nodes[j]) * scale
                second = second * factor + 2.0 * first * scale
                first = first * factor + value * scale
                value *= factor
        basis[0, i], basis[1, i], basis[2, i] = value, first, second
