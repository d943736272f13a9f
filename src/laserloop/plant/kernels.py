"""Conduction kernels: arrays and numbers in, arrays changed in place. No objects, no allocation.

θ  ∫k dT, the unknown, W/m        H  ∫ρc dT, J/m³        τ  implicit step, s
b  heat before the stage, J/m³    D  dH/dθ, s/m²         δ  Newton correction of θ

One stage solves, in every control volume,  H(θ) = b + τ(∇²θ + q).

Checkerboard storage. A field is an array (row, colour, depth, column): row is y, and the nodes of a row are
split into even (colour 0) and odd (colour 1) x, so that a red-black half sweep runs over contiguous memory.
Node (ix, iy, iz) lies at [iy + 1, ix % 2, iz, ix // 2 + 1]: one pad row and one pad column on every side.
Neighbours of column i: along y the same column of the next rows, along x columns i + colour − 1 (west) and
i + colour (east) of the other colour.

A box is (row0, row1, column0, column1, depth): the part of a field that is worked on, depth from the surface.
Link coefficients are τ/(distance · width) per axis: west, east (2, columns); south, north (rows); up, down
(depth). They vanish at insulated faces; the deepest node is not an unknown, its θ is 0 (ambient).

Fields arrive flat, with their `strides` (row, colour, depth) in elements, and indices are unsigned: views
would cost two atomic reference counts each, signed indices a wrap-around test per access, and either would
be dearer than the arithmetic. r, D, the pivots and δ are float32: they only steer Newton's method towards
a balance that is checked in float64.
"""

import numpy as np
from numba import njit

# Reassociation lets sums vectorise; NaN and infinity keep their meaning, so a lost solution is noticed.
FAST = {"contract", "reassoc", "nsz", "arcp"}
U = np.uintp
ONE = np.float32(1.0)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def mirror_edges(theta, strides, box):
    """Copy the outermost nodes of the box to the layer outside it: no heat crosses the edge of the box."""
    row0, row1, col0, col1, depth = box
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


@njit(cache=True, fastmath=FAST, error_model="numpy")
def balance(theta, base, heat, residual, slope, strides, box, links, source, table, tolerance, scratch, busy):
    """Heat balance of a stage at a trial θ: H ← b + τ(∇²θ + q), r ← H − H(θ), D ← dH/dθ.

    D is that of the nearest knot of the table, which costs Newton's method nothing that can be measured.
    Marks in `busy` (rows, columns, depth) where |r| exceeds `tolerance` or is not a number.
    """
    row0, row1, col0, col1, depth = box
    sr, sc, sd = strides
    west_of, east_of, south_of, north_of, up_of, down_of = links
    flux_x, flux_y = source
    value_of, slope_of, bend_of, low, per_step = table
    busy_row, busy_col, busy_depth = busy
    n = col1 - col0
    width = U(west_of.size // 2)
    last = float(value_of.size - 1)
    piece, part = scratch
    for row in range(row0, row1):
        south_link = south_of[row]
        north_link = north_of[row]
        for colour in range(U(2)):
            link = colour * width + col0
            for k in range(depth):
                here = row * sr + colour * sc + k * sd + col0
                west = row * sr + (U(1) - colour) * sc + k * sd + col0 + colour - U(1)
                south = here - sr
                north = here + sr
                up = here - sd if k > U(0) else here
                down = here + sd
                up_link = up_of[k]
                down_link = down_of[k]
                for i in range(n):
                    t = theta[here + i]
                    heat[here + i] = (
                        base[here + i]
                        + west_of[link + i] * (theta[west + i] - t)
                        + east_of[link + i] * (theta[west + U(1) + i] - t)
                    )
                for i in range(n):
                    t = theta[here + i]
                    heat[here + i] += (
                        south_link * (theta[south + i] - t)
                        + north_link * (theta[north + i] - t)
                        + up_link * (theta[up + i] - t)
                        + down_link * (theta[down + i] - t)
                    )
                if k == U(0):
                    flux = flux_y[row]
                    for i in range(n):
                        heat[here + i] += flux * flux_x[link + i]
                for i in range(n):
                    place = (theta[here + i] - low) * per_step
                    j = np.int32(min(max(place + 1.0, 0.0), last))
                    piece[i] = j
                    part[i] = place - max(j - np.int32(1), np.int32(0))
                for i in range(n):
                    j = np.uint32(piece[i])
                    residual[here + i] = heat[here + i] - (
                        value_of[j] + part[i] * (slope_of[j] + part[i] * bend_of[j])
                    )
                for i in range(n):
                    slope[here + i] = slope_of[np.uint32(piece[i])] * per_step
                count = 0
                for i in range(n):
                    count += not (abs(residual[here + i]) <= tolerance)
                if count > 0:
                    busy_row[row] = True
                    busy_depth[k] = True
                    for i in range(n):
                        busy_col[col0 + i] |= not (abs(residual[here + i]) <= tolerance)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def factor(inverse, slope, strides, box, links):
    """Pivots of the tridiagonal systems along depth: (D + Σ links) δ − up − down = …"""
    row0, row1, col0, col1, depth = box
    sr, sc, sd = strides
    west_of, east_of, south_of, north_of, up_of, down_of = links
    n = col1 - col0
    width = U(west_of.size // 2)
    for row in range(row0, row1):
        for colour in range(U(2)):
            link = colour * width + col0
            for k in range(depth):
                here = row * sr + colour * sc + k * sd + col0
                others = south_of[row] + north_of[row] + up_of[k] + down_of[k]
                if k == U(0):
                    for i in range(n):
                        inverse[here + i] = ONE / (slope[here + i] + west_of[link + i] + east_of[link + i] + others)
                else:
                    product = up_of[k] * down_of[k - U(1)]
                    above = here - sd
                    for i in range(n):
                        inverse[here + i] = ONE / (
                            slope[here + i]
                            + west_of[link + i]
                            + east_of[link + i]
                            + others
                            - product * inverse[above + i]
                        )


@njit(cache=True, fastmath=FAST, error_model="numpy")
def relax(delta, residual, inverse, strides, box, links, overrelaxation, sweeps, line):
    """Red-black over-relaxation of δ by depth columns; `line` is scratch (depth + 1, columns), first row 0.

    The half sweeps follow each other at a distance of one row, so that a row is read from memory once.
    """
    row0, row1, col0, col1, depth = box
    sr, sc, sd = strides
    west_of, east_of, south_of, north_of, up_of, down_of = links
    n = col1 - col0
    width = U(west_of.size // 2)
    halves = U(2 * sweeps)
    for front in range(row0, row1 + halves - U(1)):
        for half in range(halves):
            row = front - half
            if row < row0 or row >= row1 or front < row0 + half:
                continue
            colour = (row + half) & U(1)
            south_link = south_of[row]
            north_link = north_of[row]
            link = colour * width + col0
            for k in range(depth):
                here = row * sr + colour * sc + k * sd + col0
                west = row * sr + (U(1) - colour) * sc + k * sd + col0 + colour - U(1)
                south = here - sr
                north = here + sr
                above = k * width
                below = above + width
                up_link = up_of[k]
                for i in range(n):
                    line[below + i] = (
                        residual[here + i] + south_link * delta[south + i] + north_link * delta[north + i]
                    )
                for i in range(n):
                    line[below + i] += (
                        west_of[link + i] * delta[west + i] + east_of[link + i] * delta[west + U(1) + i]
                    )
                for i in range(n):
                    line[below + i] = inverse[here + i] * (line[below + i] + up_link * line[above + i])
            here = row * sr + colour * sc + (depth - U(1)) * sd + col0
            below = depth * width
            for i in range(n):
                delta[here + i] += overrelaxation * (line[below + i] - delta[here + i])
            for up in range(U(1), depth):
                k = depth - U(1) - up
                here = row * sr + colour * sc + k * sd + col0
                above = (k + U(1)) * width
                below = above + width
                down_link = down_of[k]
                for i in range(n):
                    line[above + i] += down_link * inverse[here + i] * line[below + i]
                for i in range(n):
                    delta[here + i] += overrelaxation * (line[above + i] - delta[here + i])


@njit(cache=True, fastmath=FAST, error_model="numpy")
def correct(theta, delta, strides, box):
    """θ ← θ + δ, δ ← 0 inside the box."""
    row0, row1, col0, col1, depth = box
    sr, sc, sd = strides
    for row in range(row0, row1):
        for colour in range(U(2)):
            for k in range(depth):
                here = row * sr + colour * sc + k * sd
                for i in range(col0, col1):
                    theta[here + i] += delta[here + i]
                    delta[here + i] = 0.0


@njit(cache=True, fastmath=FAST, error_model="numpy")
def extrapolate(out, first, second, weight, strides, box):
    """out ← second + weight · (second − first): along the line through two fields."""
    row0, row1, col0, col1, depth = box
    sr, sc, sd = strides
    for row in range(row0, row1):
        for colour in range(U(2)):
            for k in range(depth):
                here = row * sr + colour * sc + k * sd
                for i in range(col0, col1):
                    b = second[here + i]
                    out[here + i] = b + weight * (b - first[here + i])


@njit(cache=True, fastmath=FAST, error_model="numpy")
def busy_box(window, busy, margin):
    """The smallest box around everything marked busy, `margin` nodes wider; clears the marks.

    Its depth is 0 when nothing was busy.
    """
    row0, row1, col0, col1, depth = window
    busy_row, busy_col, busy_depth = busy
    low_row, high_row, low_col, high_col, high_depth = row1, row0, col1, col0, U(0)
    for row in range(row0, row1):
        if busy_row[row]:
            low_row = min(low_row, row)
            high_row = row + U(1)
    for col in range(col0, col1):
        if busy_col[col]:
            low_col = min(low_col, col)
            high_col = col + U(1)
    for k in range(depth):
        if busy_depth[k]:
            high_depth = k + U(1)
    busy_row[:] = False
    busy_col[:] = False
    busy_depth[:] = False
    if high_depth == U(0):
        return (row0, row0, col0, col0, U(0))
    return widened((low_row, high_row, low_col, high_col, high_depth), margin, (margin + U(1)) // U(2), window)


@njit(cache=True, error_model="numpy")
def widened(box, margin, columns, window):
    """The box grown by `margin` rows and levels and by `columns`, inside the window."""
    return (
        max(window[0], box[0] - margin),
        min(window[1], box[1] + margin),
        max(window[2], max(box[2], columns) - columns),
        min(window[3], box[3] + columns),
        min(window[4], box[4] + margin),
    )


@njit(cache=True, fastmath=FAST, error_model="numpy")
def solve_stage(
    theta, base, heat, work, strides, window, links, rough, source, table, tolerance, overrelaxation, sweeps, cap
):
    """Newton's method for one implicit stage, from the guess in θ; returns the number of corrections.

    Only the part of the window whose heat balance is open is corrected: a box around it, which is solved by
    over-relaxation, checked, and chosen anew until every node of the window balances to `tolerance`.
    `rough` are the links in float32. Returns −1 when `cap` corrections did not suffice.
    """
    residual, slope, inverse, delta, line, scratch, busy = work
    mirror_edges(theta, strides, window)
    balance(theta, base, heat, residual, slope, strides, window, links, source, table, tolerance, scratch, busy)
    for correction in range(cap):
        box = busy_box(window, busy, U(3))
        if box[4] == U(0):
            return correction
        factor(inverse, slope, strides, box, rough)
        relax(delta, residual, inverse, strides, box, rough, overrelaxation, sweeps, line)
        correct(theta, delta, strides, box)
        mirror_edges(theta, strides, window)
        box = widened(box, U(1), U(1), window)
        balance(theta, base, heat, residual, slope, strides, box, links, source, table, tolerance, scratch, busy)
    return -1


@njit(cache=True, error_model="numpy")
def warm_edges(theta, strides, window, edge):
    """Whether |θ| exceeds `edge` on the south, north, west, east and lower side of the window."""
    row0, row1, col0, col1, depth = window
    sr, sc, sd = strides
    south = north = west = east = below = False
    for colour in range(U(2)):
        for k in range(depth):
            line = colour * sc + k * sd
            for i in range(col0, col1):
                south |= abs(theta[row0 * sr + line + i]) > edge
                north |= abs(theta[(row1 - U(1)) * sr + line + i]) > edge
            for row in range(row0, row1):
                west |= abs(theta[row * sr + line + col0]) > edge
                east |= abs(theta[row * sr + line + col1 - U(1)]) > edge
        for row in range(row0, row1):
            line = row * sr + colour * sc + (depth - U(1)) * sd
            for i in range(col0, col1):
                below |= abs(theta[line + i]) > edge
    return south, north, west, east, below


@njit(cache=True, error_model="numpy")
def surface_temperature(theta, strides, window, table, out):
    """T at the surface nodes of the window, in natural order (y, x)."""
    row0, row1, col0, col1, _ = window
    sr, sc, _ = strides
    value_of, slope_of, bend_of, low, per_step = table
    last = float(value_of.size - 1)
    for row in range(row0, row1):
        for colour in range(U(2)):
            for i in range(col0, col1):
                place = (theta[row * sr + colour * sc + i] - low) * per_step
                j = int(min(max(place + 1.0, 0.0), last))
                part = place - max(j - 1, 0)
                value = value_of[j] + part * (slope_of[j] + part * bend_of[j])
                out[row - U(1), U(2) * (i - U(1)) + colour] = value
