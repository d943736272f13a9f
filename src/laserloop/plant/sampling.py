"""Sampling kernels: the value of a field (y, x) between the lines of a tensor grid, held at its edge.

All are tensor products, Σ_rc w_r(y) w_c(x) f_rc. In the cell of width h from x_i on, with
s = (x − x_i)/h and values f_i, f_{i+1}:

nearest  f_i up to s = ½, f_{i+1} beyond
linear    (1−s) f_i + s f_{i+1}
cubic    (1+2s)(1−s)² f_i + s²(3−2s) f_{i+1} + h s(1−s)² f′_i − h s²(1−s) f′_{i+1}

where f′_i is the slope at x_i of the parabola through nodes i−1, i, i+1, and on the first and last line of
the grid that of the parabola through the three outermost. So the cubic is C¹, exact for parabolas along each
axis on any spacing, third-order elsewhere, and needs 4 × 4 nodes.
"""

import numpy as np
from numba import njit

ROUNDING = 1e-9  # of a cell; a point in its middle belongs to the lower node, however it was rounded


@njit(cache=True, error_model="numpy")
def nearest(x, y, field, points):  # type: ignore[no-untyped-def]
    """The values at the nodes that are nearest to points (n, 2)."""
    values = np.empty(len(points))
    for n in range(len(points)):
        col, s = locate(x, points[n, 0])
        row, t = locate(y, points[n, 1])
        values[n] = field[row + (t > 0.5 + ROUNDING), col + (s > 0.5 + ROUNDING)]
    return values


@njit(cache=True, error_model="numpy")
def bilinear(x, y, field, points):  # type: ignore[no-untyped-def]
    """The piecewise bilinear interpolant at points (n, 2)."""
    values = np.empty(len(points))
    for n in range(len(points)):
        col, s = locate(x, points[n, 0])
        row, t = locate(y, points[n, 1])
        here = (1.0 - s) * field[row, col] + s * field[row, col + 1]
        above = (1.0 - s) * field[row + 1, col] + s * field[row + 1, col + 1]
        values[n] = (1.0 - t) * here + t * above
    return values


@njit(cache=True, error_model="numpy")
def smooth(x, y, field, points):  # type: ignore[no-untyped-def]
    """The C¹ bicubic interpolant at points (n, 2); it may overshoot the nodes it passes through."""
    values = np.empty(len(points))
    weights_x, weights_y = np.empty(4), np.empty(4)
    for n in range(len(points)):
        first_col = weigh(x, points[n, 0], weights_x)
        first_row = weigh(y, points[n, 1], weights_y)
        total = 0.0
        for r in range(max(-first_row, 0), min(4, y.size - first_row)):
            along = 0.0
            for c in range(max(-first_col, 0), min(4, x.size - first_col)):
                along += weights_x[c] * field[first_row + r, first_col + c]
            total += weights_y[r] * along
        values[n] = total
    return values


@njit(cache=True, error_model="numpy")
def lattice(centre, heading, size, spacing):  # type: ignore[no-untyped-def]
    """Points (size², 2) of a square lattice, row by row: columns run along `heading`, rows to its left."""
    points = np.empty((size * size, 2))
    ahead_x, ahead_y = spacing * np.cos(heading), spacing * np.sin(heading)
    for row in range(size):
        for col in range(size):
            ahead, left = col - size // 2, row - size // 2
            points[row * size + col, 0] = centre[0] + ahead * ahead_x - left * ahead_y
            points[row * size + col, 1] = centre[1] + ahead * ahead_y + left * ahead_x
    return points


@njit(cache=True, error_model="numpy")
def locate(nodes, at):  # type: ignore[no-untyped-def]
    """The cell that holds `at`, by bisection, and the place in it, 0 to 1; outside counts as the edge."""
    low, high = 0, nodes.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= at:
            low = middle
        else:
            high = middle
    return low, min(max((at - nodes[low]) / (nodes[high] - nodes[low]), 0.0), 1.0)


@njit(cache=True, error_model="numpy")
def weigh(nodes, at, weights):  # type: ignore[no-untyped-def]
    """Fill the cubic's weights of four nodes in a row and return the first; one beyond the grid weighs 0."""
    i, s = locate(nodes, at)
    h = nodes[i + 1] - nodes[i]
    weights[0], weights[3] = 0.0, 0.0
    weights[1] = (1.0 + 2.0 * s) * (1.0 - s) ** 2
    weights[2] = s**2 * (3.0 - 2.0 * s)
    left, right = max(i - 1, 0), min(i, nodes.size - 3)  # first nodes of the parabolas
    add_slope(nodes[left : left + 3], nodes[i], h * s * (1.0 - s) ** 2, weights[left - i + 1 :])
    add_slope(nodes[right : right + 3], nodes[i + 1], -h * s**2 * (1.0 - s), weights[right - i + 1 :])
    return i - 1


@njit(cache=True, error_model="numpy")
def add_slope(nodes, at, scale, weights):  # type: ignore[no-untyped-def]
    """Add `scale` times the slope at `at` of the parabola through three nodes to their weights."""
    a, b, c = nodes[0], nodes[1], nodes[2]
    weights[0] += scale * (2.0 * at - b - c) / ((a - b) * (a - c))
    weights[1] += scale * (2.0 * at - a - c) / ((b - a) * (b - c))
    weights[2] += scale * (2.0 * at - a - b) / ((c - a) * (c - b))


@njit(cache=True, error_model="numpy")
def resample(nodes, lines, field):  # type: ignore[no-untyped-def]
    """The cubic along the middle axis of a field (before, nodes, after) at other places of that axis."""
    before, size, after = field.shape
    found = np.zeros((before, lines.size, after))
    four = np.zeros(4)
    for n in range(lines.size):
        if size < 3:  # too few for a parabola
            first, s = locate(nodes, lines[n])
            four[0], four[1] = 1.0 - s, s
        else:
            first = weigh(nodes, lines[n], four)
        for m in range(max(-first, 0), min(4, size - first)):
            for b in range(before):
                for a in range(after):
                    found[b, n, a] += four[m] * field[b, first + m, a]
    return found
