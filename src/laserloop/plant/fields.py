"""Kernels that look after a packed field: its window, its edges, its guesses, its surface.

Storage, boxes and patches are those of kernels.py.
"""

import numpy as np
from numba import njit

U = np.uintp


@njit(cache=True, error_model="numpy")
def mirror_edges(theta, strides, window):
    """Copy the outermost nodes of the window to the layer outside it: no heat crosses its edge."""
    row0, row1, first, last, deep = window
    col0, col1, depth = first[row0], last[row0], deep[row0]
    sr, sc, sd = strides
    for colour in range(U(2)):
        for k in range(depth):
            line = colour * sc + k * sd
            for i in range(col0, col1):
                theta[(row0 - U(1)) * sr + line + i] = theta[row0 * sr + line + i]
                theta[row1 * sr + line + i] = theta[(row1 - U(1)) * sr + line + i]
    for row in range(row0, row1):
        for k in range(depth):
            line = row * sr + k * sd
            theta[line + sc + col0 - U(1)] = theta[line + col0]
            theta[line + col1] = theta[line + sc + col1 - U(1)]
        if (depth + U(1)) * sd < sc:
            for colour in range(U(2)):
                line = row * sr + colour * sc + depth * sd
                for i in range(col0, col1):
                    theta[line + i] = theta[line - sd + i]


@njit(cache=True, error_model="numpy")
def widen(found, window, margin, patch):
    """Fill `patch` with all nodes within `margin` of the `found` ones, inside the window; returns its rows.

    `found` and `patch` are (first, last, deep) of each row; deep = 0 means that a row has none.
    """
    row0, row1, window_first, window_last, window_deep = window
    from_first, from_last, from_deep = found
    first, last, deep = patch
    columns = (margin + U(1)) // U(2)
    low, high = row1, row0
    for row in range(row0, row1):
        first[row] = last[row] = window_last[row]
        deep[row] = U(0)
        for other in range(max(row0 + margin, row) - margin, min(row1, row + margin + U(1))):
            if from_deep[other] > U(0):
                wanted = max(window_first[row] + columns, from_first[other]) - columns
                first[row] = wanted if deep[row] == U(0) else min(first[row], wanted)
                until = min(window_last[row], from_last[other] + columns)
                last[row] = until if deep[row] == U(0) else max(last[row], until)
                deep[row] = max(deep[row], min(window_deep[row], from_deep[other] + margin))
        if deep[row] > U(0):
            low, high = min(low, row), row + U(1)
    return low, high


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
