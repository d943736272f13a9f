"""The lasered surface at one moment: its temperatures, its hottest node and the peak between the nodes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

POINTS = 8  # of the interpolant along each axis; ripple 0.02 K at σ/2 spacing where 5 points leave 0.7 K


@dataclass(frozen=True, slots=True)
class Hottest:
    """A temperature and where it is."""

    temperature: float  # K
    x: float  # m
    y: float  # m


@dataclass(frozen=True, eq=False)
class Surface:
    """Temperatures (y, x) in K on the grid lines x and y, m, at a time, s."""

    x: FloatArray
    y: FloatArray
    temperature: FloatArray
    time: float
    at: tuple[int, int] | None = None  # row and column of the hottest node, if known

    @cached_property
    def _hottest(self) -> tuple[int, int]:
        if self.at is not None:
            return self.at
        row, col = divmod(int(np.argmax(self.temperature)), len(self.x))
        return row, col

    @cached_property
    def node(self) -> Hottest:
        """The hottest node."""
        row, col = self._hottest
        return Hottest(float(self.temperature[row, col]), float(self.x[col]), float(self.y[row]))

    @cached_property
    def peak(self) -> Hottest:
        """The maximum of the interpolant of degree 7 through the 8 × 8 nodes around it."""
        row, col = self._hottest
        return Hottest(*find_peak(self.x, self.y, self.temperature, row, col))


def reach_edges(nodes: FloatArray, faces: FloatArray, field: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and field (nodes, …) with a line more on either edge of the plate, where the nodes end before it.

    The edge is insulated: there the parabola through the two nearest nodes has no slope.
    """
    if nodes[0] == faces[0]:
        return nodes, field
    (near, far), (near_end, far_end) = nodes[:2] - faces[0], faces[-1] - nodes[-1:-3:-1]
    out = np.empty((len(nodes) + 2, field.shape[1]))
    out[1:-1] = field
    out[0] = field[0] + near**2 / (far**2 - near**2) * (field[0] - field[1])
    out[-1] = field[-1] + near_end**2 / (far_end**2 - near_end**2) * (field[-1] - field[-2])
    return np.concatenate((faces[:1], nodes, faces[-1:])), out


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
