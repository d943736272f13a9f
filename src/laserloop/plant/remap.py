"""Remapping: the heat of a plate on one grid, given to another, nothing lost.

F  heat up to a face, ∫H dx, J/m²      H  mean heat of a control volume, J/m³

Along one axis F is known exactly at the faces between the old control volumes. It is interpolated at the new
faces by the polynomial through the `POINTS` nearest old ones; a new volume holds the difference of F at its
two faces. So the sum is kept to round-off, a volume whose faces stay keeps its value to the last bit, and a
smooth field is moved with an error of the order of the spacing to the power `POINTS` − 1. Axes are taken one
after the other. Storage is that of kernels.py.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Weights = tuple[FloatArray, NDArray[np.intp], NDArray[np.intp]]  # (new, old); first and last + 1 of each row

POINTS = 4  # of the interpolant of F
U = np.uintp


def find_weights(old: FloatArray, new: FloatArray, points: int = POINTS) -> Weights:
    """Which share each old control volume has in the mean of each new one, from the faces of both.

    With 2 `points` every old volume is even inside: coarser, but a jump between neighbours does not ring.
    """
    volumes = len(new) - 1
    weights = np.zeros((volumes, len(old) - 1))
    first, last = np.empty(volumes, np.intp), np.empty(volumes, np.intp)
    fill_weights(old, new, points, weights, first, last)
    return weights, first, last


@njit(cache=True, error_model="numpy")
def fill_weights(old, new, points, weights, first, last):  # type: ignore[no-untyped-def]
    """The weights between two rows of faces, and the range of old volumes that each new one draws on."""
    points = min(points, old.size)
    basis = np.empty(points)
    place = 0
    for face in range(new.size):
        while place + 1 < old.size and old[place + 1] <= new[face]:
            place += 1
        if old[place] == new[face]:
            start, count = place, 1
            basis[0] = 1.0
        else:
            start = min(max(place + 1 - points // 2, 0), old.size - points)
            count = points
            lagrange_values(old[start : start + points], new[face], basis)
        if face > 0:  # F at this face ends volume face − 1
            last[face - 1] = max(last[face - 1], start + count - 1)
            add_heat(weights[face - 1], old, first[face - 1], start, basis[:count], 1.0)
        if face < new.size - 1:  # and begins the next, which counts from the first old face it needs
            until = new[face + 1]
            ahead = place
            while ahead + 1 < old.size and old[ahead + 1] <= until:
                ahead += 1
            other = ahead if old[ahead] == until else min(max(ahead + 1 - points // 2, 0), old.size - points)
            first[face] = min(start, other)
            last[face] = start + count - 1
            add_heat(weights[face], old, first[face], start, basis[:count], -1.0)
    for row in range(new.size - 1):
        for col in range(first[row], last[row]):
            weights[row, col] /= new[row + 1] - new[row]
        if last[row] == first[row] + 1 and old[last[row]] == new[row + 1] and old[first[row]] == new[row]:
            weights[row, first[row]] = 1.0


@njit(cache=True, error_model="numpy")
def add_heat(row, faces, base, start, basis, sign):  # type: ignore[no-untyped-def]
    """Add `sign`·F, counted from the face `base`, at a face that is interpolated from `start` on."""
    for point in range(basis.size):
        for volume in range(base, start + point):
            row[volume] += sign * basis[point] * (faces[volume + 1] - faces[volume])


@njit(cache=True, error_model="numpy")
def lagrange_values(nodes, at, basis):  # type: ignore[no-untyped-def]
    """The Lagrange polynomials of `nodes` at one place."""
    for i in range(nodes.size):
        basis[i] = 1.0
        for j in range(nodes.size):
            if j != i:
                basis[i] *= (at - nodes[j]) / (nodes[i] - nodes[j])


@njit(cache=True, error_model="numpy")
def remap(out, field, strides, old_strides, rows, columns, levels):  # type: ignore[no-untyped-def]
    """Packed `field` on the old grid → packed `out` on the new one, along y and x, in the upper `levels`."""
    share_y, first_y, last_y = rows
    share_x, first_x, last_x = columns
    sr, sc, sd = strides
    tr, tc, td = old_strides
    wide = share_x.shape[1]
    line = np.empty(wide)
    for row in range(share_y.shape[0]):
        for k in range(levels):
            for source in range(first_y[row], last_y[row]):
                share = share_y[row, source]
                begin = U(source + 1) * tr + U(k) * td + U(1)
                for i in range(wide):
                    value = share * field[begin + U(i & 1) * tc + U(i >> 1)]
                    line[i] = value if source == first_y[row] else line[i] + value
            begin = U(row + 1) * sr + U(k) * sd + U(1)
            for i in range(share_x.shape[0]):
                total = 0.0
                for source in range(first_x[i], last_x[i]):
                    total += share_x[i, source] * line[source]
                out[begin + U(i & 1) * sc + U(i >> 1)] = total
