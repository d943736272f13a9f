"""Kernels of the nested plant: arrays and floats in, arrays out. No objects.

H  heat above ambient, J/m³      θ  ∫k dT from ambient, W/m

A field is (layers + 2, rows + 2, columns + 2): the cells of a box and one ghost cell beyond each face. In θ a
ghost says what lies there. In H it collects what flows out through its face, by the same recursion as the
cells, so that a step keeps the sum of all of them but for what the beam brings.
"""

from math import erf

import numpy as np
from numba import njit

INSULATED, COLD, OPEN = 0, 1, 2  # what lies beyond a face: nothing, the bottom at ambient, the parent's cells
RATIO = 3  # cells along each axis in one of the parent
SHARP = 4  # layers from the surface down, below which fluxes are of fourth order: there it is steepest
BLOCK = 64  # cells of which none or all are looked at for fronts

ONE = np.uint64(1)
THIRD = (
    np.array([[2.0, 8.0, -1.0], [0.0, 9.0, 0.0], [-1.0, 8.0, 2.0]]) / 9.0
)  # parabolas a third of a cell aside


@njit(cache=True, error_model="numpy")
def step(
    heat, thetas, scratch, beyond, faces, weights, table, melting, across, along, holes, flows, dt, stages
):  # type: ignore[no-untyped-def]
    """One step of RKL2 over `dt`, s, in `stages` ≥ 2: stable up to (s² + s − 2)/4 steps of forward Euler.

    Yₙ = μYₙ₋₁ + νYₙ₋₂ + (1 − μ − ν)Y₀ + μ̃ dt L(Yₙ₋₁) + γ̃ dt L(Y₀)   (Meyer, Balsara, Aslam 2014,
    J. Comput. Phys. 257, 594). `thetas[0]` must fit `heat`, and does so again at the end; `beyond`: the
    parent's θ at the ghosts of open faces; `weights`: 1/h² along x, y, z; `table`: see `look_up`; `melting`:
    see `pass_front`; `across`, `along`: W/m³ that the beam brings to cells of the surface, as the product
    of a row's and a column's at the time of each stage; `holes`: faces of the boxes inside, as flat places of
    the cell outside and of the one inside, and the axis; `flows`: W/m³ that come out of each.
    """
    layers, rows, columns = heat.shape
    X, P = np.uint64(columns), np.uint64(rows * columns)
    span = np.uint64((rows - 2) * columns)
    ax, ay, az = weights[0], weights[1], weights[2]
    a = 2.0 * (ax + ay + az)
    per, low, values = table
    last, melts = values.size - 2.0, melting[0] < np.inf
    line, found, at = np.empty(span), np.empty(span), np.empty(span, np.uint64)
    sharp = layers - 2 > SHARP + 2 and not len(holes)  # a box inside has the steep part
    first_share = 12.0 / 11.0 if sharp else 1.0  # of the beam's heat, to the first layer; see `sharpen`
    first_y, first_rate = heat.ravel(), scratch[2].ravel()
    newer, older = scratch[0].ravel(), scratch[1].ravel()
    theta, other = thetas[0].ravel(), thetas[1].ravel()
    whole = 4.0 / (stages * stages + stages - 2.0)
    brought = one_before = two_before = at_first = 0.0
    b_newer = b_older = 1.0 / 3.0
    for n in range(1, stages + 1):
        b = (n * n + n - 2.0) / (2.0 * n * (n + 1.0)) if n > 1 else 1.0 / 3.0
        mu, nu = (2.0 * n - 1.0) / n * b / b_newer, (1.0 - n) / n * b / b_older
        stay = 1.0 - mu - nu
        now = mu * whole * dt if n > 1 else b * whole * dt
        back = -(1.0 - b_newer) * now
        b_older, b_newer = b_newer, b
        if n == 1:
            older[:] = first_y
        target = newer if n == 1 else (first_y if n == stages else older)
        fill_ghosts(theta, beyond.ravel(), faces, columns, rows, layers)
        for k in range(
            1, layers - 1
        ):  # a layer from its first cell to its last, with the ghosts between rows
            c = np.uint64((k * rows + 1) * columns)
            for i in range(span):
                here = c + i
                rate = ax * (theta[here - ONE] + theta[here + ONE])
                rate += ay * (theta[here - X] + theta[here + X])
                rate += az * (theta[here - P] + theta[here + P])
                line[i] = rate - a * theta[here]
            if sharp and k <= SHARP + 1:
                sharpen(theta, c, span, P, k, az, line)
            if k <= 2:
                share = (first_share if k == 1 else 1.0 - first_share) * across[n - 1]
                for j in range(rows - 2):
                    for i in range(columns - 2):
                        line[j * columns + i + 1] += share[j] * along[n - 1, i]
            for j in range(rows - 2):
                west, east = np.uint64(j * columns), np.uint64((j + 1) * columns - 1)
                line[west] = ax * (theta[c + west + ONE] - theta[c + west])
                line[east] = ax * (theta[c + east - ONE] - theta[c + east])
            if n == 1:
                for i in range(span):
                    first_rate[c + i] = line[i]
                for i in range(span):
                    line[i] = first_y[c + i] + now * line[i]
            else:
                for i in range(span):
                    here = c + i
                    so_far = mu * newer[here] + nu * older[here] + stay * first_y[here]
                    line[i] = so_far + now * line[i] + back * first_rate[here]
            for i in range(span):  # in two loops, the first of which the compiler vectorises
                place = (line[i] - low) * per
                at[i] = np.uint64(min(max(place, 0.0), last))
                found[i] = place - at[i]
            for i in range(span):
                left = values[at[i]]
                found[i] = left + found[i] * (values[at[i] + ONE] - left)
            if melts:
                spread_front(found, line, theta, c, X, P, melting)
            for i in range(span):
                target[c + i] = line[i]
            for i in range(span):
                other[c + i] = found[i]
        rate = across[n - 1].sum() * along[n - 1].sum()
        at_first = rate if n == 1 else at_first
        brought = now * rate if n == 1 else mu * one_before + nu * two_before + now * rate + back * at_first
        two_before, one_before = one_before, brought
        for h in range(len(holes)):
            outside, inside, axis = holes[h, 0], holes[h, 1], holes[h, 2]
            rate = flows[h] - weights[axis] * (theta[inside] - theta[outside])
            target[outside] += now * rate
            if n == 1:
                first_rate[outside] += rate
        for h in range(len(holes)):
            outside = np.uint64(holes[h, 0])
            other[outside] = find(target[outside], table)
            this = slice(outside, outside + ONE)
            spread_front(other[this], target[this], theta, outside, X, P, melting)
        for face in range(2, 6):
            if faces[face] == INSULATED:
                continue
            start, inward, step_p, count, step_q, many = find_face(face, columns, rows, layers)
            weight = weights[face // 2]
            for p in range(count):
                for q in range(many):
                    ghost = start + p * step_p + q * step_q
                    rate = weight * (theta[ghost + inward] - theta[ghost])
                    if n == 1:
                        first_rate[ghost], newer[ghost] = rate, first_y[ghost] + now * rate
                    else:
                        so_far = mu * newer[ghost] + nu * older[ghost] + stay * first_y[ghost]
                        target[ghost] = so_far + now * rate + back * first_rate[ghost]
        theta, other = other, theta
        if n > 1:
            newer, older = older, newer
    if stages % 2:
        thetas[0] = thetas[1]
    return brought


@njit(cache=True, error_model="numpy")
def sharpen(theta, c, span, P, k, weight, line):  # type: ignore[no-untyped-def]
    """Add to layer k what its two faces lack, −δ³θ/12, to a flux of fourth order in depth.

    At the first face δ³ = 12/11 (θ₃ − 3θ₂ + 2θ₁ − q/weight), from three cells and q of the beam: the
    first cell gets 12/11 of that and the second −1/11.
    """
    lack = -weight / 12.0
    for i in range(span):
        here = c + i
        if k == 1:
            line[i] += lack * 12.0 / 11.0 * (theta[here + P + P] - 3.0 * theta[here + P] + 2.0 * theta[here])
            continue
        below = theta[here + P + P] - 3.0 * (theta[here + P] - theta[here]) - theta[here - P]
        if k == 2:
            above = 12.0 / 11.0 * (theta[here + P] - 3.0 * theta[here] + 2.0 * theta[here - P])
        else:
            above = theta[here + P] - 3.0 * (theta[here] - theta[here - P]) - theta[here - P - P]
        line[i] += lack * ((below if k <= SHARP else 0.0) - above)


@njit(cache=True, error_model="numpy")
def spread_front(found, heat, theta, first, X, P, melting):  # type: ignore[no-untyped-def]
    """θ in the middle of cells, from the place `first` on, of θ that their mean heat has: for fronts in them.

    Only blocks of cells near one are looked at.
    """
    for block in range(0, heat.size, BLOCK):
        part, near = heat[block : block + BLOCK], 0
        for i in range(part.size):
            near += is_near_front(part[i], melting)
        if near:
            pass_front(found[block : block + BLOCK], part, theta, first + np.uint64(block), X, P, melting)


@njit(cache=True, error_model="numpy")
def is_near_front(heat, melting):  # type: ignore[no-untyped-def]
    """May a cell of that mean heat have a front in it? Then its θ is not that of its heat."""
    solidus, latent = melting[0], melting[1]
    return (heat > 0.5 * solidus) & (heat < 2.0 * (solidus + latent))


@njit(cache=True, error_model="numpy")
def pass_front(found, heat, theta, first, X, P, melting):  # type: ignore[no-untyped-def]
    """What a front that passes evenly through a cell changes in its θ.

    It leaves its latent heat in the cell that it crosses. If θ differs by w across a cell, the mean takes it
    over a range of √(Δ² + w²) about the middle of Δ, that from solidus to liquidus.
    """
    solidus, latent, width, below, above = melting  # J/m³, J/m³, W/m, and dθ/dH of the solid and the liquid
    per_below, per_above, through = 1.0 / below, 1.0 / above, width / latent
    for i in range(heat.size):
        here = first + np.uint64(i)
        x, y = theta[here + ONE] - theta[here - ONE], theta[here + X] - theta[here - X]
        z = theta[here + P] - theta[here - P]
        whole = np.sqrt(width * width + 0.25 * (x * x + y * y + z * z))
        more = 0.5 * (whole - width)
        start, end = -more * per_below, latent + more * per_above
        at = min(max(heat[i] - solidus, start), end)
        sharp = min(at, 0.0) * below + max(at - latent, 0.0) * above
        sharp += min(max(at, 0.0), latent) * through
        found[i] += (at - start) * (whole / (end - start)) - more - sharp


@njit(cache=True, error_model="numpy")
def place_beam(first, cells, whole, size, start, end, past):  # type: ignore[no-untyped-def]
    """A Gaussian's integral over each of some cells of a line, at every share `past` of its way.

    `first`: of these among the `whole` plate's; `size`, of a cell, `start` and `end` in units of √2 σ. What
    falls on the plate outside, less than 1e-3, belongs to the outermost cells.
    """
    lines = np.empty((past.size, cells))
    for n in range(past.size):
        at = start + past[n] * (end - start)
        below = erf(-0.5 * size * whole - at)
        for i in range(cells):
            after = first + i + 1 if i < cells - 1 else whole
            above = erf(size * (after - 0.5 * whole) - at)
            lines[n, i] = 0.5 * (above - below)
            below = above
    return lines


@njit(cache=True, error_model="numpy")
def find_face(face, columns, rows, layers):  # type: ignore[no-untyped-def]
    """A face's first ghost as a flat place, the way in, and stride and count of its two axes."""
    plane, end = rows * columns, layers - 1
    if face < 2:  # west, east
        return plane + columns + face * (columns - 1), 1 - 2 * face, plane, layers - 2, columns, rows - 2
    if face < 4:  # south, north
        side = face - 2
        start = plane + 1 + side * (rows - 1) * columns
        return start, (1 - 2 * side) * columns, plane, layers - 2, 1, columns - 2
    side = face - 4  # top, bottom
    return columns + 1 + side * end * plane, (1 - 2 * side) * plane, columns, rows - 2, 1, columns - 2


@njit(cache=True, error_model="numpy")
def fill_ghosts(theta, beyond, faces, columns, rows, layers):  # type: ignore[no-untyped-def]
    """θ beyond each face. An open one: by the parabola through two cells and the parent's nearest."""
    for face in range(6):
        start, inward, along, count, across, many = find_face(face, columns, rows, layers)
        kind = faces[face]
        for p in range(count):
            for q in range(many):
                ghost = start + p * along + q * across
                cell = ghost + inward
                if kind == OPEN:
                    theta[ghost] = theta[cell] + (beyond[ghost] - theta[cell + inward]) / 3.0
                elif kind == COLD:
                    theta[ghost] = -theta[cell]
                else:
                    theta[ghost] = theta[cell]


@njit(cache=True, error_model="numpy")
def find(value, table):  # type: ignore[no-untyped-def]
    """What a table says: linear between its rows, of which there are `per` to a unit from `low` on."""
    per, low, known = table
    place = (value - low) * per
    row = np.uint64(min(max(place, 0.0), known.size - 2.0))
    return known[row] + (place - row) * (known[row + ONE] - known[row])


@njit(cache=True, error_model="numpy")
def look_up(values, table, found):  # type: ignore[no-untyped-def]
    """What a table says of every value of a field, into another."""
    flat, out = values.ravel(), found.ravel()
    for n in range(flat.size):
        out[n] = find(flat[n], table)


@njit(cache=True, error_model="numpy")
def read_parent(parent, beyond, faces, parent_faces, row, column):  # type: ignore[no-untyped-def]
    """The parent's θ in its cells along each open face, where the box's cells are: parabolas along the face.

    `row`, `column`: the parent's cell in which the box begins.
    """
    layers, rows, columns = beyond.shape
    flat = beyond.ravel()
    around, at = np.empty((RATIO, RATIO)), np.empty(3, np.int64)
    for face in range(6):
        if faces[face] != OPEN:
            continue
        start, _, along, count, across, many = find_face(face, columns, rows, layers)
        axis = 2 - face // 2  # of layers, rows, columns
        a, b = (1 if axis == 0 else 0), (1 if axis == 2 else 2)
        begin = (1, row + 1, column + 1)
        at[axis] = begin[axis] - 1 if face % 2 == 0 else begin[axis] + (beyond.shape[axis] - 2) // RATIO
        for p in range(count // RATIO):
            for q in range(many // RATIO):
                for m in range(RATIO):
                    for n in range(RATIO):
                        at[a], at[b] = begin[a] + p + m - 1, begin[b] + q + n - 1
                        around[m, n] = value_at(parent, parent_faces, at)
                for m in range(RATIO):
                    for n in range(RATIO):
                        value = 0.0
                        for i in range(RATIO):
                            line = around[i, 0] * THIRD[n, 0] + around[i, 1] * THIRD[n, 1]
                            value += THIRD[m, i] * (line + around[i, 2] * THIRD[n, 2])
                        flat[start + (RATIO * p + m) * along + (RATIO * q + n) * across] = value


@njit(cache=True, error_model="numpy")
def value_at(field, faces, at):  # type: ignore[no-untyped-def]
    """A field of a box that is mirrored at its edges, and at the cold bottom with the other sign."""
    layers, rows, columns = field.shape
    k, j, i = max(at[0], 1), min(max(at[1], 1), rows - 2), min(max(at[2], 1), columns - 2)
    if k > layers - 2:
        return -field[layers - 2, j, i] if faces[5] == COLD else field[layers - 2, j, i]
    return field[k, j, i]


@njit(cache=True, error_model="numpy")
def hand_over(heat, faces, row, column, parent_shape, seconds, holes, flows):  # type: ignore[no-untyped-def]
    """What left through the open faces, as flows into the parent's cells for `seconds`; how many there are.

    Each is the outside place, the inside place and the axis in `holes`, and W/m³ of the parent in `flows`.
    The ghosts are empty afterwards.
    """
    layers, rows, columns = heat.shape
    _, parent_rows, parent_columns = parent_shape
    plane = parent_rows * parent_columns
    flat = heat.ravel()
    corner = plane + (row + 1) * parent_columns + column + 1  # the parent's cell at the box's first
    found = 0
    for face in range(6):
        if faces[face] != OPEN:
            continue
        start, _, along, count, across, many = find_face(face, columns, rows, layers)
        _, inward, along_there, _, across_there, _ = find_face(face, parent_columns, parent_rows, 0)
        size = (columns, rows, layers)[face // 2] - 2
        inside = corner if face % 2 == 0 else corner - (size // RATIO - 1) * inward
        outside = inside - inward
        for p in range(count // RATIO):
            for q in range(many // RATIO):
                total = 0.0
                for m in range(RATIO):
                    for n in range(RATIO):
                        ghost = start + (RATIO * p + m) * along + (RATIO * q + n) * across
                        total += flat[ghost]
                        flat[ghost] = 0.0
                there = p * along_there + q * across_there
                holes[found, 0], holes[found, 1], holes[found, 2] = outside + there, inside + there, face // 2
                flows[found] = total / (RATIO**3 * seconds)
                found += 1
    return found


@njit(cache=True, error_model="numpy")
def restrict(heat, theta, parent, parent_theta, table, melting, row, column):  # type: ignore[no-untyped-def]
    """The means of the box's cells to the parent's under it, and their θ; at a front, the middle cell's."""
    for k in range((heat.shape[0] - 2) // RATIO):
        for j in range((heat.shape[1] - 2) // RATIO):
            for i in range((heat.shape[2] - 2) // RATIO):
                z, y, x = RATIO * k + 1, RATIO * j + 1, RATIO * i + 1
                mean = heat[z : z + RATIO, y : y + RATIO, x : x + RATIO].sum() / RATIO**3
                known = theta[z + 1, y + 1, x + 1] if is_near_front(mean, melting) else find(mean, table)
                parent[k + 1, row + j + 1, column + i + 1] = mean
                parent_theta[k + 1, row + j + 1, column + i + 1] = known


@njit(cache=True, error_model="numpy")
def move(old, old_theta, heat, theta, parent, table, row, column, rows_moved, columns_moved):  # type: ignore[no-untyped-def]
    """The heat and θ of a box that moved by so many of its cells: what stays, and what comes from the parent.

    A parent's cell is divided along limited slopes, which keeps its heat. `row`, `column`: see `read_parent`.
    """
    layers, rows, columns = heat.shape
    deep, north_end, east_end = parent.shape[0] - 2, parent.shape[1] - 2, parent.shape[2] - 2
    for k in range(1, layers - 1):
        z, at_z = (k - 1) // RATIO + 1, ((k - 1) % RATIO - 1) / RATIO
        above, below = max(z - 1, 1), min(z + 1, deep)
        for j in range(1, rows - 1):
            y, at_y = row + (j - 1) // RATIO + 1, ((j - 1) % RATIO - 1) / RATIO
            south, north = max(y - 1, 1), min(y + 1, north_end)
            stays = 1 <= j + rows_moved <= old.shape[1] - 2
            for i in range(1, columns - 1):
                if stays and 1 <= i + columns_moved <= old.shape[2] - 2:
                    heat[k, j, i] = old[k, j + rows_moved, i + columns_moved]
                    theta[k, j, i] = old_theta[k, j + rows_moved, i + columns_moved]
                    continue
                x, at_x = column + (i - 1) // RATIO + 1, ((i - 1) % RATIO - 1) / RATIO
                west, east = max(x - 1, 1), min(x + 1, east_end)
                here = parent[z, y, x]
                heat[k, j, i] = (
                    here
                    + at_x * limit(here - parent[z, y, west], parent[z, y, east] - here)
                    + at_y * limit(here - parent[z, south, x], parent[z, north, x] - here)
                    + at_z * limit(here - parent[above, y, x], parent[below, y, x] - here)
                )
                theta[k, j, i] = find(heat[k, j, i], table)


@njit(cache=True, error_model="numpy")
def limit(before, after):  # type: ignore[no-untyped-def]
    """The mean of two slopes, at most twice the flatter one; 0 where they have different signs."""
    if before * after <= 0.0:
        return 0.0
    mean, most = 0.5 * (before + after), 2.0 * min(abs(before), abs(after))
    return min(max(mean, -most), most)


@njit(cache=True, error_model="numpy")
def read_top(theta, across, along, height, top):  # type: ignore[no-untyped-def]
    """θ of the surface at the cells' centres, of what a beam of `across` · `along`, W/m², heats now.

    Downwards by the cubic of three cells' means and the flux, and from the cells' means along the surface.
    """
    rows, columns = top.shape
    mean = np.empty(top.shape)
    deep = theta.shape[0] > 4
    for j in range(rows):
        for i in range(columns):
            push = across[j] * along[i] * height
            a = theta[1, j + 1, i + 1] + 0.5 * push
            b = theta[2, j + 1, i + 1] + 1.5 * push if deep else a + 0.5 * push
            e = theta[3, j + 1, i + 1] + 2.5 * push if deep else 2.0 * b - a
            most = 0.5 * abs(b - a)  # under cold metal that has just come the cubic would overshoot
            mean[j, i] = a + min(max((a - b) / 6.0 + (e - 3.0 * b + 2.0 * a) * 2.0 / 33.0, -most), most)
    top[:] = mean
    for j in range(1, rows - 1):
        for i in range(1, columns - 1):
            bend = mean[j - 1, i] + mean[j + 1, i] + mean[j, i - 1] + mean[j, i + 1] - 4.0 * mean[j, i]
            top[j, i] -= bend / 24.0


@njit(cache=True, error_model="numpy")
def find_drift(heat, theta, beyond, faces, weights, table, drift):  # type: ignore[no-untyped-def]
    """dθ/dt of the surface where no beam is, W/m s, with which a box that waits is read at a later time."""
    layers, rows, columns = heat.shape
    per, low, values = table
    last = values.size - 2.0
    fill_ghosts(theta.ravel(), beyond.ravel(), faces, columns, rows, layers)
    rates = np.zeros(3)
    for j in range(1, rows - 1):
        for i in range(1, columns - 1):
            for k in range(1, min(4, layers - 1)):
                here = theta[k, j, i]
                flow = weights[0] * (theta[k, j, i - 1] + theta[k, j, i + 1] - 2.0 * here)
                flow += weights[1] * (theta[k, j - 1, i] + theta[k, j + 1, i] - 2.0 * here)
                flow += weights[2] * (theta[k - 1, j, i] + theta[k + 1, j, i] - 2.0 * here)
                row = np.uint64(min(max((heat[k, j, i] - low) * per, 0.0), last))
                rates[k - 1] = flow * per * (values[row + ONE] - values[row])
            a, b, e = rates
            drift[j - 1, i - 1] = (
                a - (b - a) / 6.0 + (e - 3.0 * b + 2.0 * a) * 2.0 / 33.0 if layers > 4 else a
            )
