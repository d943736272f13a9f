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
def guess_row(theta, history, weights, strides, patch, row):
    """θ ← w₀a + w₁b + w₂c in one row: a guess along the parabola through three fields; θ may be one."""
    _, _, first, last, deep = patch
    sr, sc, sd = strides
    a, b, c = history
    wa, wb, wc = weights
    col0, col1, depth = first[row], last[row], deep[row]
    for colour in range(U(2)):
        for k in range(depth):
            here = row * sr + colour * sc + k * sd
            for i in range(col0, col1):
                theta[here + i] = wa * a[here + i] + wb * b[here + i] + wc * c[here + i]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def mix_row(base, heat, shares, strides, patch, row):
    """b ← s₀b + s₁H in one row: where the second stage of a step starts from."""
    _, _, first, last, deep = patch
    sr, sc, sd = strides
    own, other = shares
    col0, col1, depth = first[row], last[row], deep[row]
    for colour in range(U(2)):
        for k in range(depth):
            here = row * sr + colour * sc + k * sd
            for i in range(col0, col1):
                base[here + i] = own * base[here + i] + other * heat[here + i]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def balance_row(
    theta, base, heat, residual, strides, patch, row, links, source, table, limits, scratch, found
):
    """Heat balance of a row at a trial θ: H ← b + τ(∇²θ + q), r ← H − H(θ).

    `found` is busy, (first, last, deep) of each row where |r| exceeds its limit or is not a number, and hot,
    the rows with nodes above the table's `watch`.
    """
    _, _, first, last, deep = patch
    sr, sc, sd = strides
    west_of, east_of, south_of, north_of, up_of, down_of = links
    flux_x, flux_y = source
    value_of, slope_of, bend_of, low, per_step, watch, cold = table
    coldest, warmest, c1, c2, c3, c4, c5, c6, c7 = cold
    (busy_first, busy_last, busy_deep), hot = found
    width = U(west_of.size // 2)
    end = float(value_of.size - 1)
    piece, part = scratch
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
            if is_cold(theta, here, n, coldest, warmest):
                for i in range(n):
                    t = theta[here + i]
                    value = c1 + t * (c2 + t * (c3 + t * (c4 + t * (c5 + t * (c6 + t * c7)))))
                    residual[here + i] = heat[here + i] - t * value
            else:
                for i in range(n):
                    place = (theta[here + i] - low) * per_step
                    knot = place + 1.0 if place > -1.0 else 0.0  # 0 for NaN too: no index from nowhere
                    j = np.int32(knot if knot < end else end)
                    piece[i] = j
                    part[i] = place - max(j - np.int32(1), np.int32(0))
                for i in range(n):
                    j = np.uint32(piece[i])
                    residual[here + i] = heat[here + i] - (
                        value_of[j] + part[i] * (slope_of[j] + part[i] * bend_of[j])
                    )
                if is_hot(theta, here, n, watch):
                    hot[row] = U(1)
            limit = limits[k]
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
def is_cold(theta, here, n, coldest, warmest):
    """Do n nodes all lie near ambient, where H(θ) is one polynomial and no table is asked?"""
    count = 0
    for i in range(n):
        count += not ((theta[here + i] <= warmest) & (theta[here + i] >= coldest))
    return count == 0


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def is_hot(theta, here, n, watch):
    """Is any of n nodes above `watch`?"""
    count = 0
    for i in range(n):
        count += theta[here + i] > watch
    return count > 0


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def find_slopes(slope, theta, here, n, table):
    """D ← dH/dθ of n nodes: that of the nearest knot, near ambient by its polynomial."""
    value_of, slope_of, bend_of, low, per_step, watch, cold = table
    end = float(value_of.size - 1)
    if is_cold(theta, here, n, cold[0], cold[1]):
        c1, c2, c3, c4 = cold[2], 2.0 * cold[3], 3.0 * cold[4], 4.0 * cold[5]
        step = 1.0 / per_step
        for i in range(n):
            t = low + step * np.floor((theta[here + i] - low) * per_step)
            slope[here + i] = c1 + t * (c2 + t * (c3 + t * c4))
        return
    for i in range(n):
        place = (theta[here + i] - low) * per_step
        knot = place + 1.0 if place > -1.0 else 0.0
        j = np.uint32(knot if knot < end else end)
        slope[here + i] = slope_of[j] * per_step
    if is_hot(theta, here, n, watch):
        for i in range(n):
            place = (theta[here + i] - low) * per_step
            knot = place + 1.0 if place > -1.0 else 0.0
            j = np.uint32(knot if knot < end else end)
            part = place - max(float(j) - 1.0, 0.0)
            slope[here + i] = (slope_of[j] + 2.0 * part * bend_of[j]) * per_step


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def factor(inverse, slope, theta, strides, patch, links, table):
    """D ← dH/dθ and the pivots of the tridiagonal systems along depth: (D + Σ links) δ − up − down = …

    D is that of the nearest knot of the table, which costs Newton's method nothing that can be measured; on
    lines with a node above the table's `watch`, as where an alloy melts, it is exact.
    """
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
                find_slopes(slope, theta, here, n, table)
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
    _, slope_of, bend_of, low, per_step, _, _ = table
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
    value_of, slope_of, bend_of, low, per_step, _, _ = table
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
def mirror_row(theta, strides, window, row):
    """Copy a row's outermost nodes of the window to the layer outside it: no heat crosses its edge."""
    row0, row1, first, last, deep = window
    col0, col1, depth = first[row0], last[row0], deep[row0]
    sr, sc, sd = strides
    for k in range(depth):
        line = row * sr + k * sd
        theta[line + sc + col0 - U(1)] = theta[line + col0]
        theta[line + col1] = theta[line + sc + col1 - U(1)]
    if (depth + U(1)) * sd < sc:
        for colour in range(U(2)):
            line = row * sr + colour * sc + depth * sd
            for i in range(col0, col1):
                theta[line + i] = theta[line - sd + i]
    if row == row0:
        copy_row(theta, strides, window, row0, row0 - U(1))
    if row == row1 - U(1):
        copy_row(theta, strides, window, row, row1)


@njit(cache=True, error_model="numpy", forceinline=True)
def copy_row(theta, strides, window, row, to):
    """Copy one row of the window to another."""
    row0, _, first, last, deep = window
    sr, sc, sd = strides
    for colour in range(U(2)):
        for k in range(deep[row0]):
            line = colour * sc + k * sd
            for i in range(first[row0], last[row0]):
                theta[to * sr + line + i] = theta[row * sr + line + i]


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


@njit(cache=True, error_model="numpy", forceinline=True)
def join(patch, spans, low, high):
    """Let a patch's spans cover those of rows low … high − 1 too."""
    first, last, deep = patch
    more_first, more_last, more_deep = spans
    for row in range(low, high):
        if more_deep[row] > U(0):
            old = deep[row] > U(0)
            first[row] = min(first[row], more_first[row]) if old else more_first[row]
            last[row] = max(last[row], more_last[row]) if old else more_last[row]
            deep[row] = max(deep[row], more_deep[row])


@njit(cache=True, fastmath=FAST, error_model="numpy")
def solve_stage(
    theta,
    base,
    heat,
    start,
    work,
    strides,
    window,
    warm,
    links,
    rough,
    source,
    table,
    limits,
    relaxation,
    cap,
):
    """Newton's method for one implicit stage; returns the number of corrections.

    `start` is history and weights of the guess for θ and the shares of base and heat from which the stage
    starts. Guess and first balance go row by row through `warm`, the spans of the window that heat has
    reached, and the layer around them; beyond, θ is 0. Then only what is open is corrected: a patch around
    it, which is solved by over-relaxation, checked, and chosen anew until all nodes balance to the limits of
    their levels. `rough` are the links in float32. Returns −1 when `cap` corrections did not suffice.
    """
    residual, slope, inverse, delta, line, scratch, busy, spans, wider, hot = work
    overrelaxation, sweeps, margin, deeper = relaxation
    history, weights, shares = start
    hot[:] = U(0)
    busy[2][:] = U(0)
    found = busy, hot
    low, high = widen(warm, window, U(1), U(1), wider)
    inner = (low, high, warm[0], warm[1], warm[2])
    patch = (low, high, wider[0], wider[1], wider[2])
    for row in range(low, high + U(1)):
        if row < high:
            guess_row(theta, history, weights, strides, inner, row)
            mirror_row(theta, strides, window, row)
            if shares[1] != 0.0:
                mix_row(base, heat, shares, strides, patch, row)
        if row > low:
            balance_row(
                theta,
                base,
                heat,
                residual,
                strides,
                patch,
                row - U(1),
                links,
                source,
                table,
                limits,
                scratch,
                found,
            )
    for correction in range(cap + 1):
        low, high = widen(busy, window, margin, deeper, spans)
        if low >= high:
            return correction
        if correction == cap:
            break
        join(warm, spans, low, high)
        patch = (low, high, spans[0], spans[1], spans[2])
        factor(inverse, slope, theta, strides, patch, rough, table)
        relax(delta, residual, inverse, strides, patch, rough, overrelaxation, sweeps, line)
        correct(theta, delta, slope, strides, patch, table)
        busy[2][:] = U(0)
        for row in range(low, high):
            mirror_row(theta, strides, window, row)
        low, high = widen(spans, window, U(1), U(1), wider)  # what the correction has touched
        patch = (low, high, wider[0], wider[1], wider[2])
        for row in range(low, high):
            balance_row(
                theta, base, heat, residual, strides, patch, row, links, source, table, limits, scratch, found
            )
    return -1


@njit(cache=True, error_model="numpy")
def spread(heat, strides, window, warm, work, least):
    """Let `warm` cover the nodes beside it that have taken up more than `least` of heat, J/m³."""
    first, last, deep = warm
    sr, sc, sd = strides
    around_first, around_last, around_deep = work
    low, high = widen(warm, window, U(1), U(1), work)
    for row in range(low, high):
        from_col, to_col, to_level = around_last[row], around_first[row], U(0)
        for colour in range(U(2)):
            for k in range(around_deep[row]):
                here = row * sr + colour * sc + k * sd
                inside = k < deep[row]
                i = around_first[row]
                while i < around_last[row]:
                    if inside and i == first[row]:
                        i = last[row]
                        continue
                    if not (abs(heat[here + i]) <= least):
                        from_col, to_col, to_level = (
                            min(from_col, i),
                            max(to_col, i + U(1)),
                            max(to_level, k + U(1)),
                        )
                    i += U(1)
        if to_level > U(0):
            old = deep[row] > U(0)
            first[row] = min(first[row], from_col) if old else from_col
            last[row] = max(last[row], to_col) if old else to_col
            deep[row] = max(deep[row], to_level)
