"""Conduction kernels: arrays and numbers in, arrays changed in place. No objects, no allocation.

θ  ∫k dT, the unknown, W/m        H  ∫ρc dT, J/m³        τ  implicit step, s
b  heat before the stage, J/m³    D  dH/dθ, s/m²         δ  Newton correction of θ

One stage solves, in every control volume,  H(θ) = b + τ(∇²θ + q).

Checkerboard storage. A field is an array (row, colour, depth, column): row is y, and the nodes of a row are
split into even (colour 0) and odd (colour 1) x, so that a red-black half sweep runs over contiguous memory.
Node (ix, iy, iz) lies at [iy + 1, ix % 2, iz, ix // 2 + 1]: one pad row and one pad column on every side.
Neighbours of column i: along y the same column of the next rows, along x columns i + colour − 1 (west) and
i + colour (east) of the other colour.

A patch is (row0, row1, first, last, deep): the part of a field that is worked on. Row j of it covers the
columns first[j] … last[j] − 1 and the levels 0 … deep[j] − 1 from the surface. The window, where heat has
arrived, is a rectangular patch; the part of it where the heat balance is still open usually is not.
Link coefficients are τ/(distance · width) per axis: west, east (2, columns); south, north (rows); up, down
(depth). They vanish at insulated faces; the deepest node is not an unknown, its θ is 0 (ambient).

Fields arrive flat, with their `strides` (row, colour, depth) in elements, and indices are unsigned: views
would cost two atomic reference counts each, signed indices a wrap-around test per access, and either would
be dearer than the arithmetic. r, D, the pivots and δ are float32: they only steer Newton's method towards
a balance that is checked in float64. All that `solve_stage` calls is in this file: numba's cache does not see
changes elsewhere.
"""

import numpy as np
from numba import njit

# Reassociation lets sums vectorise; NaN and infinity keep their meaning, so a lost solution is noticed.
# What `solve_stage` calls is inlined: as a function of its own it would sum in another order in the process
# that compiles it than in those that load it, and equal settings would not give equal bytes.
FAST = {"contract", "reassoc", "nsz", "arcp"}
U = np.uintp
ONE = np.float32(1.0)
STEEP = 1.5  # times the slope that a step was made with: where H(θ) is steeper, it ends
BISECTIONS = 30


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def balance(
    theta, base, heat, residual, slope, strides, patch, links, source, table, tolerance, scratch, found
):
    """Heat balance of a stage at a trial θ: H ← b + τ(∇²θ + q), r ← H − H(θ), D ← dH/dθ.

    D is that of the nearest knot of the table, which costs Newton's method nothing that can be measured; on
    lines where a node lies above the table's `watch`, as where an alloy melts, it is exact. `found` is
    busy, (first, last, deep) of each row where |r| exceeds its tolerance or is not a number, and hot, the
    rows with nodes above `watch`.
    """
    row0, row1, first, last, deep = patch
    sr, sc, sd = strides
    west_of, east_of, south_of, north_of, up_of, down_of = links
    flux_x, flux_y = source
    value_of, slope_of, bend_of, low, per_step, watch = table
    (busy_first, busy_last, busy_deep), hot = found
    width = U(west_of.size // 2)
    end = float(value_of.size - 1)
    piece, part = scratch
    for row in range(row0, row1):
        col0 = first[row]
        n = last[row] - col0
        depth = deep[row]
        busy_first[row] = U(width)
        busy_last[row] = U(0)
        busy_deep[row] = U(0)
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
                    knot = place + 1.0 if place > -1.0 else 0.0  # 0 for NaN too: never an index from nowhere
                    j = np.int32(knot if knot < end else end)
                    piece[i] = j
                    part[i] = place - max(j - np.int32(1), np.int32(0))
                for i in range(n):
                    j = np.uint32(piece[i])
                    residual[here + i] = heat[here + i] - (
                        value_of[j] + part[i] * (slope_of[j] + part[i] * bend_of[j])
                    )
                for i in range(n):
                    slope[here + i] = slope_of[np.uint32(piece[i])] * per_step
                if is_hot(theta, here, n, watch):
                    hot[row] = U(1)
                    for i in range(n):
                        j = np.uint32(piece[i])
                        slope[here + i] = (slope_of[j] + 2.0 * part[i] * bend_of[j]) * per_step
                limit = tolerance[k]
                count = 0
                for i in range(n):
                    count += not (abs(residual[here + i]) <= limit)
                if count > 0:
                    busy_deep[row] = k + U(1)
                    i = U(0)
                    while abs(residual[here + i]) <= limit:
                        i += U(1)
                    busy_first[row] = min(busy_first[row], col0 + i)
                    i = n
                    while abs(residual[here + i - U(1)]) <= limit:
                        i -= U(1)
                    busy_last[row] = max(busy_last[row], col0 + i)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def is_hot(theta, here, n, watch):
    """Is any of n nodes above `watch`?"""
    count = 0
    for i in range(n):
        count += theta[here + i] > watch
    return count > 0


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def factor(inverse, slope, strides, patch, links):
    """Pivots of the tridiagonal systems along depth: (D + Σ links) δ − up − down = …"""
    row0, row1, first, last, deep = patch
    sr, sc, sd = strides
    west_of, east_of, south_of, north_of, up_of, down_of = links
    width = U(west_of.size // 2)
    for row in range(row0, row1):
        col0 = first[row]
        n = last[row] - col0
        depth = deep[row]
        for colour in range(U(2)):
            link = colour * width + col0
            for k in range(depth):
                here = row * sr + colour * sc + k * sd + col0
                others = south_of[row] + north_of[row] + up_of[k] + down_of[k]
                if k == U(0):
                    for i in range(n):
                        inverse[here + i] = ONE / (
                            slope[here + i] + west_of[link + i] + east_of[link + i] + others
                        )
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


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def relax(delta, residual, inverse, strides, patch, links, overrelaxation, sweeps, line):
    """Red-black over-relaxation of δ by depth columns; `line` is scratch (depth + 1, columns), first row 0.

    The half sweeps follow each other at a distance of one row, so that a row is read from memory once.
    """
    row0, row1, first, last, deep = patch
    sr, sc, sd = strides
    west_of, east_of, south_of, north_of, up_of, down_of = links
    width = U(west_of.size // 2)
    halves = U(2 * sweeps)
    for front in range(row0, row1 + halves - U(1)):
        for half in range(halves):
            row = front - half
            if row < row0 or row >= row1 or front < row0 + half:
                continue
            col0 = first[row]
            n = last[row] - col0
            depth = deep[row]
            if n == U(0):
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


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def correct(theta, delta, slope, strides, patch, table):
    """θ ← θ + δ, δ ← 0 in the patch; into a steeper part of H(θ) only as far as is safe."""
    row0, row1, first, last, deep = patch
    sr, sc, sd = strides
    watch = table[5]
    for row in range(row0, row1):
        col0, col1, depth = first[row], last[row], deep[row]
        for colour in range(U(2)):
            for k in range(depth):
                here = row * sr + colour * sc + k * sd
                crossing = 0
                for i in range(col0, col1):
                    crossing += max(theta[here + i], theta[here + i] + delta[here + i]) > watch
                if crossing > 0:
                    for i in range(col0, col1):
                        at, step = theta[here + i], float(delta[here + i])
                        if max(at, at + step) > watch:
                            delta[here + i] = shorten(at, step, float(slope[here + i]), table)
                for i in range(col0, col1):
                    theta[here + i] += delta[here + i]
                    delta[here + i] = 0.0


@njit(cache=True, error_model="numpy", forceinline=True)
def shorten(theta, step, slope, table):
    """A step in θ, or the part of it that is safe where H(θ) grows steeper than `slope`.

    It ends in the first piece that is much steeper, and sooner if H has changed as much as slope·step
    promises: a step through a steep part, as through melting, may come back and go there again for ever. One
    that leads into a gentler part falls short, and the next one mends that.
    """
    _, slope_of, bend_of, low, per_step, _ = table
    most = STEEP * slope / per_step
    here, there = find_piece(theta, table), find_piece(theta + step, table)
    way = 1 if there > here else -1
    promised = abs(slope * step)
    for n in range(1, abs(there - here)):
        j = here + way * n
        if slope_of[j] + bend_of[j] > most:
            step = low + (j - 0.5) / per_step - theta
            break
    before = look_up(theta, table)
    if abs(look_up(theta + step, table) - before) <= STEEP * promised:
        return step
    short, long = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (short + long)
        if abs(look_up(theta + middle * step, table) - before) > promised:
            long = middle
        else:
            short = middle
    return long * step


@njit(cache=True, error_model="numpy", forceinline=True)
def find_piece(theta, table):
    """The piece of the table that serves θ."""
    knot = (theta - table[3]) * table[4] + 1.0
    return int(min(max(knot, 0.0), float(table[0].size - 1)))


@njit(cache=True, error_model="numpy", forceinline=True)
def look_up(theta, table):
    """H(θ) of one node."""
    value_of, slope_of, bend_of, low, per_step, _ = table
    j = find_piece(theta, table)
    part = (theta - low) * per_step - max(j - 1, 0)
    return value_of[j] + part * (slope_of[j] + part * bend_of[j])


@njit(cache=True, fastmath=FAST, error_model="numpy")
def polish(theta, residual, gain, strides, patch, line, hot, watch):
    """One damped Jacobi step by depth columns: imbalances within the tolerance fade instead of adding up.

    `gain` (damping·pivot, up·pivot, down·pivot) of each level is that of the stiffest node of the solid, safe
    for all; nodes above `watch` in `hot` rows may be stiffer and are left as they are.
    """
    row0, row1, first, last, deep = patch
    sr, sc, sd = strides
    pivot_of, up_of, down_of = gain
    for row in range(row0, row1):
        col0 = first[row]
        n = last[row] - col0
        depth = deep[row]
        for colour in range(U(2)):
            top = row * sr + colour * sc + col0
            for k in range(depth):
                here = top + k * sd
                pivot, up = pivot_of[k], up_of[k]
                for i in range(n):
                    line[(k + U(1)) * sd + i] = pivot * residual[here + i] + up * line[k * sd + i]
                if hot[row]:
                    for i in range(n):
                        line[(k + U(1)) * sd + i] *= theta[here + i] <= watch
            for up in range(U(1), depth):
                k = depth - up
                down = down_of[k - U(1)]
                for i in range(n):
                    line[k * sd + i] += down * line[(k + U(1)) * sd + i]
                if hot[row]:
                    for i in range(n):
                        line[k * sd + i] *= theta[top + (k - U(1)) * sd + i] <= watch
            for k in range(depth):
                here = top + k * sd
                for i in range(n):
                    theta[here + i] += line[(k + U(1)) * sd + i]


@njit(cache=True, error_model="numpy", forceinline=True)
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


@njit(cache=True, error_model="numpy", forceinline=True)
def widen(found, window, margin, deeper, patch):
    """Fill `patch` with all nodes near the `found` ones, inside the window; returns its rows.

    Near is `margin` rows or columns and `deeper` levels. `found` and `patch` are (first, last, deep) of each
    row; deep = 0 means that a row has none.
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
                deep[row] = max(deep[row], min(window_deep[row], from_deep[other] + deeper))
        if deep[row] > U(0):
            low, high = min(low, row), row + U(1)
    return low, high


@njit(cache=True, fastmath=FAST, error_model="numpy")
def solve_stage(
    theta, base, heat, work, strides, window, links, rough, source, table, limits, relaxation, cap
):
    """Newton's method for one implicit stage, from the guess in θ; returns the number of corrections.

    Only the part of the window whose heat balance is open is corrected: a patch around it, which is solved
    by over-relaxation, checked, and chosen anew until all nodes of the window balance to the limits of their levels.
    `rough` are the links in float32. Returns −1 when `cap` corrections did not suffice.
    """
    residual, slope, inverse, delta, line, scratch, busy, spans, wider, hot = work
    overrelaxation, sweeps, margin, deeper = relaxation
    low, high, first, last, deep = window
    hot[:] = U(0)
    found = busy, hot
    for correction in range(cap + 1):
        mirror_edges(theta, strides, window)
        patch = (low, high, first, last, deep)
        balance(
            theta, base, heat, residual, slope, strides, patch, links, source, table, limits, scratch, found
        )
        low, high = widen(busy, window, margin, deeper, spans)
        if low >= high:
            return correction
        patch = (low, high, spans[0], spans[1], spans[2])
        factor(inverse, slope, strides, patch, rough)
        relax(delta, residual, inverse, strides, patch, rough, overrelaxation, sweeps, line)
        correct(theta, delta, slope, strides, patch, table)
        busy[2][:] = U(0)
        low, high = widen(spans, window, U(1), U(1), wider)  # what the correction has touched
        first, last, deep = wider
    return -1
