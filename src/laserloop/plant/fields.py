"""Kernels that look after a packed field: its window, its edges, its surface.

Storage, boxes and patches are those of kernels.py.
"""

import numpy as np
from numba import njit

U = np.uintp


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
    """T at the surface nodes of the window, in natural order (y, x); returns where the hottest is."""
    row0, row1, first, last, _ = window
    sr, sc, _ = strides
    value_of, slope_of, bend_of, low, per_step = table
    end = float(value_of.size - 1)
    top, top_row, top_col = out[0, 0], 0, 0
    for row in range(row0, row1):
        for colour in range(U(2)):
            for i in range(first[row], last[row]):
                place = (theta[row * sr + colour * sc + i] - low) * per_step
                knot = place + 1.0 if place > -1.0 else 0.0
                j = int(knot if knot < end else end)
                part = place - max(j - 1, 0)
                value = value_of[j] + part * (slope_of[j] + part * bend_of[j])
                out[row - U(1), U(2) * (i - U(1)) + colour] = value
                col = 2 * (int(i) - 1) + int(colour)
                if value > top or (value == top and int(row) - 1 == top_row and col < top_col):
                    top, top_row, top_col = value, int(row) - 1, col
    return top_row, top_col


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
