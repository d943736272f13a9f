"""Kernels that look after a packed field: its window, its edges, its guesses, its surface.

Storage, boxes and patches are those of kernels.py.
"""

import numpy as np
from numba import njit

U = np.uintp


@njit(cache=True, error_model="numpy")
def combine(out, fields, weights, strides, patch):
    """out ← w₀a + w₁b + w₂c: a guess along the parabola through three fields; out may be one of them."""
    row0, row1, first, last, deep = patch
    sr, sc, sd = strides
    a, b, c = fields
    wa, wb, wc = weights
    for row in range(row0, row1):
        col0, col1, depth = first[row], last[row], deep[row]
        for colour in range(U(2)):
            for k in range(depth):
                here = row * sr + colour * sc + k * sd
                for i in range(col0, col1):
                    out[here + i] = wa * a[here + i] + wb * b[here + i] + wc * c[here + i]


@njit(cache=True, error_model="numpy")
def warm_edges(heat, strides, window, edge):
    """Whether |H| exceeds `edge` on the south, north, west, east and lower side of the window."""
    row0, row1, first, last, deep = window
    col0, col1, depth = first[row0], last[row0], deep[row0]
    sr, sc, sd = strides
    south = north = west = east = below = False
    for colour in range(U(2)):
        for k in range(depth):
            line = colour * sc + k * sd
            for i in range(col0, col1):
                south |= abs(heat[row0 * sr + line + i]) > edge
                north |= abs(heat[(row1 - U(1)) * sr + line + i]) > edge
            for row in range(row0, row1):
                west |= abs(heat[row * sr + line + col0]) > edge
                east |= abs(heat[row * sr + line + col1 - U(1)]) > edge
        for row in range(row0, row1):
            line = row * sr + colour * sc + (depth - U(1)) * sd
            for i in range(col0, col1):
                below |= abs(heat[line + i]) > edge
    return south, north, west, east, below


@njit(cache=True, error_model="numpy")
def surface_temperature(theta, strides, window, table, out):
    """T at the surface nodes of the window, in natural order (y, x)."""
    row0, row1, first, last, _ = window
    sr, sc, _ = strides
    value_of, slope_of, bend_of, low, per_step = table
    end = float(value_of.size - 1)
    for row in range(row0, row1):
        for colour in range(U(2)):
            for i in range(first[row], last[row]):
                place = (theta[row * sr + colour * sc + i] - low) * per_step
                knot = place + 1.0 if place > -1.0 else 0.0
                j = int(knot if knot < end else end)
                part = place - max(j - 1, 0)
                value = value_of[j] + part * (slope_of[j] + part * bend_of[j])
                out[row - U(1), U(2) * (i - U(1)) + colour] = value


@njit(cache=True, error_model="numpy")
def sum_level(theta, strides, window, width_x, width_y):
    """∫θ dx dy over the deepest level of the window."""
    row0, row1, first, last, deep = window
    sr, sc, sd = strides
    total = 0.0
    for row in range(row0, row1):
        for colour in range(U(2)):
            line = row * sr + colour * sc + (deep[row] - U(1)) * sd
            part = 0.0
            for i in range(first[row], last[row]):
                part += theta[line + i] * width_x[colour * sd + i]
            total += part * width_y[row]
    return total
