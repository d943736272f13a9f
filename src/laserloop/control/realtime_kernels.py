"""Kernels of the realtime solver: arrays and numbers in, arrays out. No objects, no allocation inside a tick.

N  horizon      n  free moves      w  width, padded      p  plan, P/P_max      x (n,)  free moves of p
T  prediction, K      J = ∂T/∂x (N, n)      t = r + J x  its linearisation
f(x) = ½xᵀHx + gᵀx  power, moves and tracking      ψ(t) = ρ⁻ max(0, floor − t) + ρ⁺ max(0, t − ceiling)

Each SQP step minimises f(x) + Σ ψ(t_i) over the box exactly. ρ⁻ is the price of the slack; ρ⁺ is so steep
that the ceiling is kept whenever the linearisation allows it, and missed by the least otherwise, so that the
QP always has an answer. In the dual both are multipliers in a box, λ ∈ [−ρ⁺, ρ⁻]: no slack is a variable.

The network is all but piecewise linear, and minima sit on its kinks, which a linearisation does not see. In
the Lagrangian f − λᵀT unit u with argument z_u adds g_u σ(z_u), g = −λᵀC: where g_u > 0 and the kink is near,
this is one more row with two slopes, and the QP goes across it or stops on it. A unit held on its kink by the
multiplier μ has the slope s = σ'(z_u) − μ/g_u: the next QP looks for it where σ' = s, in the bend.

The network's arithmetic has the dtype of its arrays; the optimiser is double, because ρ⁺ J against H spans
ten orders. Callers and callees share this file: numba's cache does not see changes in another one.
"""

import math

import numpy as np
from numba import njit

FAST = {"contract", "reassoc", "nsz"}  # sums in any order; NaN and infinity stay what they are
SMOOTH = 1e-6  # ε of σ(z) = ½(z + √(z² + ε)), as in the reference

# row states of the QP: below the floor, on it, between, on the ceiling, above it
BELOW, FLOOR, INSIDE, CEILING, ABOVE = -2, -1, 0, 1, 2
GUESSES = 3  # times that moves beyond their bounds are held there before the walk begins
EXACT = 1e-11  # of the sum of all terms, by which a multiplier may leave its range
NEAR = 1e-7  # K or P_max, of the levels
DEPENDENT = 1e-10  # a row this close to the span of others is implied by them

FAR = 1e3  # of a plan of size 1: beyond, the QP's minimiser loses digits
JITTER = 1e-7  # K, by which kinks that meet in a point are parted

SOLVED, STOPPED, INFEASIBLE, SPEECHLESS = 0, 1, 2, 3
MATCH = 0.01  # K: the linear prediction is trusted when the network agrees this well
ARMIJO = 0.1  # of what the linearisation promised, at least
SHORT = 0.1  # of P_max: after a longer step the slopes are looked at again
RADIUS = 0.3  # of P_max: no step is longer
BLUR = 0.05  # of z: the first step is long, and takes the mean slope of units this near to their kink
KINKS = 12  # most rows for kinks in a QP
REACH = 1.2  # last steps from its kink, within which a unit is near
BEND = 3e-3  # of z: near in any case; beyond, σ' is within 3 % of 0 or 1
HALVINGS = 4  # of a step
CREDIT = 3  # full steps that may be worse than the anchor: a kink of the network is found only by crossing it
COLD = 20.0  # K below the floor: from a start this cold the search may end in a plan that never heats
LEVELS = 4  # constant powers that are tried as starts instead
SHRINKINGS = 12  # halvings of the interval in which a plan becomes feasible


# --- the network -----------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def add_rows(rows, count, weight, matrix, out):
    """out += Σ weight_k matrix_k over the first `count` of `rows`, eight at a time."""
    size = out.shape[0]
    k = 0
    while k + 8 <= count:
        i0, i1, i2, i3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        i4, i5, i6, i7 = rows[k + 4], rows[k + 5], rows[k + 6], rows[k + 7]
        a0, a1, a2, a3 = weight[i0], weight[i1], weight[i2], weight[i3]
        a4, a5, a6, a7 = weight[i4], weight[i5], weight[i6], weight[i7]
        for j in range(size):
            out[j] += (
                a0 * matrix[i0, j]
                + a1 * matrix[i1, j]
                + a2 * matrix[i2, j]
                + a3 * matrix[i3, j]
                + a4 * matrix[i4, j]
                + a5 * matrix[i5, j]
                + a6 * matrix[i6, j]
                + a7 * matrix[i7, j]
            )
        k += 8
    while k < count:
        i0 = rows[k]
        a0 = weight[i0]
        for j in range(size):
            out[j] += a0 * matrix[i0, j]
        k += 1


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def activate(values, slopes):
    """values ← σ(values), slopes ← σ'(values)."""
    half = values.dtype.type(0.5)
    smooth = values.dtype.type(SMOOTH)
    for j in range(values.shape[0]):
        z = values[j]
        root = np.sqrt(z * z + smooth)
        values[j] = half * (z + root)
        slopes[j] = half + half * z / root


@njit(cache=True, error_model="numpy", nogil=True)
def select(values, least, rows):
    """How many values exceed `least`; writes which to `rows`."""
    count = 0
    for k in range(values.shape[0]):
        rows[count] = k
        count += values[k] > least
    return count


@njit(cache=True, error_model="numpy", nogil=True)
def fold_tick(net, stats, seen, skip, kinematics, temps, location, features, mix, units, rows, a, Cc):
    """The network of one tick: `a` (w,) and `Cc` = [C | c]; see realtime_network."""
    K, a0, T0, t0, T1, t1, T2, M, m = net[:9]
    for i in range(K.shape[0]):
        features[i] = (kinematics[i // 4, i % 4] - stats[0][0, i]) * stats[0][1, i]
        rows[i] = i
    a[:] = a0
    add_rows(rows, K.shape[0], features, K, a)
    for i in range(len(seen)):
        beyond = seen[i] - len(temps)
        value = temps[seen[i]] if beyond < 0 else location[beyond]
        features[i] = (value - stats[1][0, i]) * stats[1][1, i]
    units[0, :] = t0
    add_rows(rows, len(seen), features, T0, units[0])
    activate(units[0], units[1])
    count = select(units[0], skip, rows)
    units[2, :] = t1
    add_rows(rows, count, units[0], T1, units[2])
    activate(units[2], units[3])
    count = select(units[2], skip, rows)
    mix[:] = 0
    add_rows(rows, count, units[2], T2, mix)
    for i in range(mix.shape[0]):
        rows[i] = i
    Cc[:] = m
    add_rows(rows, mix.shape[0], mix, M, Cc)


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def predict(A, W, b, a, Cc, skip, plan, units, rows, T):
    """T of a plan; leaves σ and σ' of both layers in `units` (6, w), then their arguments."""
    horizon, width = A.shape
    for j in range(width):
        units[0, j] = a[j]
    for i in range(horizon):
        p = A.dtype.type(plan[i])
        for j in range(width):
            units[0, j] += p * A[i, j]
    for j in range(width):
        units[4, j] = units[0, j]
        units[2, j] = b[j]
    activate(units[0], units[1])
    count = select(units[0], skip, rows)
    add_rows(rows, count, units[0], W, units[2])
    for j in range(width):
        units[5, j] = units[2, j]
    activate(units[2], units[3])
    for i in range(horizon):
        total = A.dtype.type(0)
        for j in range(width):
            total += Cc[i * width + j] * units[2, j]
        T[i] = total + Cc[horizon * width + i]


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def differentiate(AS, W, Cc, n, least, units, rows, first, D, J):
    """J = C diag(σ₂') D with D = Wᵀ diag(σ₁') Aᵀ S, forward; units with σ₁' below `least` are skipped."""
    horizon, width = J.shape[0], W.shape[0]
    count = select(units[1], least, rows)
    for c in range(n):
        for k in range(count):
            first[c, k] = units[1, rows[k]] * AS[c, rows[k]]
        for j in range(width):
            D[c, j] = 0
    k = 0
    while k + 8 <= count:
        i0, i1, i2, i3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        i4, i5, i6, i7 = rows[k + 4], rows[k + 5], rows[k + 6], rows[k + 7]
        for c in range(n):
            a0, a1, a2, a3 = first[c, k], first[c, k + 1], first[c, k + 2], first[c, k + 3]
            a4, a5, a6, a7 = first[c, k + 4], first[c, k + 5], first[c, k + 6], first[c, k + 7]
            for j in range(width):
                D[c, j] += (
                    a0 * W[i0, j]
                    + a1 * W[i1, j]
                    + a2 * W[i2, j]
                    + a3 * W[i3, j]
                    + a4 * W[i4, j]
                    + a5 * W[i5, j]
                    + a6 * W[i6, j]
                    + a7 * W[i7, j]
                )
        k += 8
    while k < count:
        i0 = rows[k]
        for c in range(n):
            a0 = first[c, k]
            for j in range(width):
                D[c, j] += a0 * W[i0, j]
        k += 1
    for c in range(n):
        for i in range(horizon):
            total = W.dtype.type(0)
            for j in range(width):
                total += Cc[i * width + j] * units[3, j] * D[c, j]
            J[i, c] = total


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def blur(z, slopes):
    """The mean slope of each unit near its kink."""
    half = z.dtype.type(0.5)
    rate = z.dtype.type(0.5 / BLUR)
    for j in range(z.shape[0]):
        mean = half + rate * z[j]
        if 0 < mean < 1:
            slopes[j] = mean


# --- the QP ----------------------------------------------------------------------------------------------
#
# With H = L Lᵀ and z = Lᵀx the cost is ½|z − v|², and every row is a·z between two levels: those of the m
# predictions with finite slopes outside (a = L⁻¹Jᵢᵀ), then the bounds of the n moves with infinite ones
# (L⁻¹eⱼ), then the kinks, whose two levels are one. `qp` is (a (M, n), levels (4, M): low, high, slope below,
# slope above, Q, R, L, vectors, order, taken); the normals of the held rows are Q R, column by column in the
# order in which they were taken. `size` is (n, m, all rows).


@njit(cache=True, error_model="numpy", nogil=True)
def set_rows(size, H, g, J, r, limits, bounds, radius, kinks, x, qp):
    """Fill the normals and the levels, and v without the slopes of rows outside their levels."""
    n, m, rows = size
    a, levels, L, vectors = qp[0], qp[1], qp[4], qp[5]
    inverse, centre = vectors[0], vectors[1]
    normals, numbers = kinks
    for j in range(n):
        for k in range(j + 1):
            total = H[j, k]
            for q in range(k):
                total -= L[j, q] * L[k, q]
            if k < j:
                L[j, k] = total * inverse[k]
            else:
                L[j, j] = math.sqrt(max(total, 1e-300))
                inverse[j] = 1.0 / L[j, j]
    for j in range(n):
        total = -g[j]
        for k in range(j):
            total -= L[j, k] * centre[k]
        centre[j] = total * inverse[j]
    for i in range(rows):
        for j in range(n):
            if i < m:
                total = J[i, j]
            elif i < m + n:
                total = 1.0 if i - m == j else 0.0
            else:
                total = normals[i - m - n, j]
            for k in range(j):
                total -= L[j, k] * a[i, k]
            a[i, j] = total * inverse[j]
        if i < m:
            levels[0, i], levels[1, i] = limits[0] - r[i], limits[1] - r[i]
            levels[2, i], levels[3, i] = limits[2], limits[3]
        elif i < m + n:
            levels[0, i] = max(bounds[0, i - m], x[i - m] - radius)
            levels[1, i] = min(bounds[1, i - m], x[i - m] + radius)
            levels[2, i], levels[3, i] = np.inf, np.inf
        else:
            k = i - m - n
            levels[0, i], levels[1, i] = numbers[0, k], numbers[0, k]
            levels[2, i], levels[3, i] = numbers[1, k] * numbers[2, k], numbers[1, k] * (1.0 - numbers[2, k])


@njit(cache=True, error_model="numpy", nogil=True)
def find_range(i, size, state, qp):
    """The multipliers with which a held row stays on its level; a kink has one level for both sides."""
    levels, kinked = qp[1], i >= size[0] + size[1]
    least = 0.0 if state[i] == FLOOR and not kinked else -levels[3, i]
    most = 0.0 if state[i] == CEILING and not kinked else levels[2, i]
    return least, most


@njit(cache=True, error_model="numpy", nogil=True)
def hold(i, k, n, qp):
    """Take row i as the k-th held one (Gram–Schmidt, twice if digits are lost); False if others imply it."""
    a, Q, R, order = qp[0], qp[2], qp[3], qp[6]
    if k == n:
        return False
    size = 0.0
    for j in range(n):
        Q[k, j] = a[i, j]
        size += a[i, j] * a[i, j]
    for q in range(k):
        R[q, k] = 0.0
    rest, before = 0.0, size
    for _ in range(2):
        for q in range(k):
            total = 0.0
            for j in range(n):
                total += Q[q, j] * Q[k, j]
            R[q, k] += total
            for j in range(n):
                Q[k, j] -= total * Q[q, j]
        rest = 0.0
        for j in range(n):
            rest += Q[k, j] * Q[k, j]
        if rest > 0.1 * before:
            break
        before = rest
    if not rest > DEPENDENT * DEPENDENT * size:
        return False
    rest = math.sqrt(rest)
    R[k, k] = rest
    rest = 1.0 / rest
    for j in range(n):
        Q[k, j] *= rest
    order[k] = i
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def hold_all(first, k, size, state, qp):
    """Take the rows that follow place `first` of the order again, then all others that are on a level."""
    n, order, taken = size[0], qp[6], qp[7]
    for q in range(first, k):
        taken[order[q]] = 0
    count = first
    for q in range(first, k):
        i = order[q]
        if (state[i] == FLOOR or state[i] == CEILING) and hold(i, count, n, qp):
            taken[i] = 1
            count += 1
    for i in range(size[2]):
        if taken[i] == 0 and (state[i] == FLOOR or state[i] == CEILING) and hold(i, count, n, qp):
            taken[i] = 1
            count += 1
    return count


@njit(cache=True, error_model="numpy", nogil=True)
def find_centre(size, state, qp):
    """v: where the cost and the slopes of the rows outside their levels balance."""
    a, levels, centre, v = qp[0], qp[1], qp[5][1], qp[5][2]
    for j in range(size[0]):
        v[j] = centre[j]
    for i in range(size[2]):
        if state[i] == BELOW or state[i] == ABOVE:
            slope = levels[2, i] if state[i] == BELOW else -levels[3, i]
            for j in range(size[0]):
                v[j] += slope * a[i, j]


@njit(cache=True, error_model="numpy", nogil=True)
def solve_equality(n, k, state, lam, qp):
    """y = v + Q w, the point nearest to v on all held rows, and their multipliers λ = R⁻¹w."""
    a, levels, Q, R, vectors, order = qp[0], qp[1], qp[2], qp[3], qp[5], qp[6]
    v, y, w, u = vectors[2], vectors[3], vectors[4], vectors[5]
    far = 0.0
    for j in range(n):
        y[j] = v[j]
        far = max(far, abs(v[j]))
    for again in range(2):
        for q in range(k):
            i = order[q]
            total = levels[0, i] if state[i] == FLOOR else levels[1, i]
            for j in range(n):
                total -= a[i, j] * y[j]
            for p in range(q):
                total -= R[p, q] * w[p]
            w[q] = total / R[q, q]
        for q in range(k):
            for j in range(n):
                y[j] += w[q] * Q[q, j]
        if again == 0:
            for q in range(k - 1, -1, -1):
                total = w[q]
                for p in range(q + 1, k):
                    total -= R[q, p] * u[p]
                u[q] = total / R[q, q]
                lam[order[q]] = u[q]
            if far < FAR:  # else large terms cancelled in y: put the held rows back on their levels
                break


@njit(cache=True, error_model="numpy", nogil=True)
def guess_working_set(size, state, lam, qp):
    """Solve with the working set given; moves that leave their bounds for it are held there, a few times.

    Returns 1 if it is right, 0 if not and z is on all held rows, −1 if bounds are still not kept; and how
    many rows are held.
    """
    n, m, rows = size
    a, levels, y, z, taken = qp[0], qp[1], qp[5][3], qp[5][6], qp[7]
    k = 0
    for _ in range(GUESSES):
        for i in range(rows):
            taken[i] = 0
            lam[i] = 0.0
        k = hold_all(0, 0, size, state, qp)
        find_centre(size, state, qp)
        solve_equality(n, k, state, lam, qp)
        right, inside = True, True
        for i in range(rows):
            t, now = 0.0, state[i]
            for j in range(n):
                t += a[i, j] * y[j]
            low, high = levels[0, i], levels[1, i]
            under, over = t < low - NEAR, t > high + NEAR
            level = low if now == FLOOR else high
            if now not in (FLOOR, CEILING):
                if m <= i < m + n:
                    if under or over:
                        state[i] = FLOOR if under else CEILING
                        inside = False
                elif now == BELOW:
                    right = right and t <= low + NEAR
                elif now == ABOVE:
                    right = right and t >= high - NEAR
                else:
                    right = right and not (under or over)
            elif taken[i] == 0 and abs(t - level) > NEAR:  # the others contradict it
                state[i] = INSIDE
                if i >= m + n:
                    state[i] = BELOW if t < level else ABOVE
                right = False
                inside = inside and not (under or over)
            else:
                least, most = find_range(i, size, state, qp)
                right = right and least <= lam[i] <= most
        if inside:
            for j in range(n):
                z[j] = y[j]
            return (1 if right else 0), k
    return -1, k


@njit(cache=True, error_model="numpy", nogil=True)
def walk_step(size, state, qp):
    """Go from z towards y as far as the cost falls: through kinks where it still does, up to the first wall.

    Along the way the slope is −κ(1 − α), κ = |y − z|², plus what the passed kinks added. Returns the row at
    whose level it ended or −1, whether kinks were passed, and the share α walked.
    """
    n, m, rows = size
    a, levels, vectors = qp[0], qp[1], qp[5]
    y, z, t, speed = vectors[3], vectors[6], vectors[7], vectors[8]
    curvature = 0.0
    for j in range(n):
        curvature += (y[j] - z[j]) * (y[j] - z[j])
    for i in range(rows):
        speed[i] = 0.0
        if state[i] == FLOOR or state[i] == CEILING:
            continue
        total = 0.0
        for j in range(n):
            term = a[i, j] * (y[j] - z[j])
            speed[i] += term
            total += abs(term)
        if abs(speed[i]) <= 1e-13 * total:
            speed[i] = 0.0
    gained, share, row = 0.0, 0.0, -1
    while True:
        stop, which = 1.0 - gained / curvature, -1
        for i in range(rows):
            now, rate = state[i], speed[i]
            if rate == 0.0 or (now == ABOVE and rate > 0) or (now == BELOW and rate < 0):
                continue
            upper = now == ABOVE or (now == INSIDE and rate > 0)
            reach = max((levels[1 if upper else 0, i] - t[i]) / rate, share)
            if reach < stop:
                stop, which = reach, i
        share = max(stop, share)
        if which < 0:
            break
        rising, now, kinked = speed[which] > 0, state[which], which >= m + n
        upper = now == ABOVE or (now == INSIDE and rising)
        height = levels[3, which] if upper else levels[2, which]
        if kinked:
            height = levels[2, which] + levels[3, which]
        jump = abs(speed[which]) * height
        if gained + jump >= curvature * (1.0 - share):
            state[which] = CEILING if upper else FLOOR
            row = which
            break
        gained += jump
        state[which] = INSIDE if now != INSIDE and not kinked else (ABOVE if rising else BELOW)
    for j in range(n):
        z[j] += share * (y[j] - z[j])
    return row, gained > 0, share


@njit(cache=True, error_model="numpy", nogil=True)
def release(k, size, state, lam, qp):
    """Let go of the held row whose multiplier is furthest outside its range; returns its place or −1."""
    n, a, v, order = size[0], qp[0], qp[5][2], qp[6]
    scale = 0.0
    for j in range(n):
        scale += abs(v[j])
    worst, place = 0.0, -1
    for q in range(k):
        i = order[q]
        length = 0.0
        for j in range(n):
            length += abs(a[i, j])
        scale += length * abs(lam[i])
        low, high = find_range(i, size, state, qp)
        beyond = max(low - lam[i], lam[i] - high) * length
        if beyond > worst:
            worst, place = beyond, q
    if worst <= EXACT * scale:
        return -1
    i = order[place]
    kinked = i >= n + size[1]
    if lam[i] > 0:
        state[i] = BELOW if state[i] == FLOOR or kinked else INSIDE
    else:
        state[i] = ABOVE if state[i] == CEILING or kinked else INSIDE
    return place


@njit(cache=True, error_model="numpy", nogil=True)
def project(size, qp):
    """t = a·z of all rows."""
    a, z, t = qp[0], qp[5][6], qp[5][7]
    for i in range(size[2]):
        t[i] = 0.0
        for j in range(size[0]):
            t[i] += a[i, j] * z[j]


@njit(cache=True, error_model="numpy", nogil=True)
def sort_rows(size, state, qp):
    """The states of all rows at z but those that are held."""
    n, m, rows = size
    levels, t, taken = qp[1], qp[5][7], qp[7]
    project(size, qp)
    for i in range(rows):
        if taken[i] == 0:
            state[i] = INSIDE if i < m + n else BELOW
            if not m <= i < m + n:
                if t[i] < levels[0, i]:
                    state[i] = BELOW
                elif t[i] > levels[1, i]:
                    state[i] = ABOVE
    find_centre(size, state, qp)


@njit(cache=True, error_model="numpy", nogil=True)
def let_go(size, state, qp):
    """No row is held but moves at a bound; returns how many."""
    n, m, rows = size
    levels, t, taken = qp[1], qp[5][7], qp[7]
    project(size, qp)
    for i in range(rows):
        taken[i] = 0
        state[i] = INSIDE
        if m <= i < m + n:
            if t[i] <= levels[0, i] + NEAR:
                state[i] = FLOOR
            elif t[i] >= levels[1, i] - NEAR:
                state[i] = CEILING
    return hold_all(0, 0, size, state, qp)


@njit(cache=True, error_model="numpy", nogil=True)
def walk(k, size, state, lam, qp):
    """From z and k held rows, one row taken or let go at a time. Returns the steps, negative at the cap."""
    n, m, rows = size
    levels, vectors, taken = qp[1], qp[5], qp[7]
    y, z = vectors[3], vectors[6]
    still, jitter = 0, JITTER
    cap = 20 + 10 * rows
    sort_rows(size, state, qp)
    for count in range(cap):
        for i in range(rows):
            lam[i] = 0.0
        solve_equality(n, k, state, lam, qp)
        step = 0.0
        for j in range(n):
            step = max(step, abs(y[j] - z[j]))
        row, passed, share = -1, False, 1.0
        if k < n and step > 0.0:
            row, passed, share = walk_step(size, state, qp)
        else:  # a vertex: what is left of the step is rounding
            for j in range(n):
                z[j] = y[j]
        project(size, qp)
        if row >= 0:
            if hold(row, k, n, qp):
                taken[row] = 1
                k += 1
        elif not passed:
            place = release(k, size, state, lam, qp)
            if place < 0:
                return count + 1
            k = hold_all(place, k, size, state, qp)
        find_centre(size, state, qp)
        still = still + 1 if share * step <= 1e-10 else 0
        if still > n + 2:  # more kinks than dimensions meet here: part them
            for i in range(m):
                shift = jitter * (0.5 + (0.618034 * (i + 1)) % 1.0)
                levels[0, i] += shift
                levels[1, i] += shift
            k = let_go(size, state, qp)
            sort_rows(size, state, qp)
            still, jitter = 0, -3.0 * jitter
    return -cap


@njit(cache=True, error_model="numpy", nogil=True)
def solve_qp(n, m, c, H, g, J, r, limits, bounds, radius, kinks, state, x, lam, qp):
    """The minimiser x of f(x) + Σψ(r + J x) + Σ kinks over the box; begins with the working set in `state`.

    `limits` are floor, ceiling, ρ⁻ and ρ⁺; `kinks` the normals (c, n) and (3, c): level, weight g and slope
    now; x is where the search begins, and moves go no further than `radius` from there. `state` and `lam` are
    those of the m rows, then of the n bounds, then of the kinks. Returns the steps of the walk, 0 if it was
    not needed, negative if it met its cap.
    """
    L, vectors = qp[4], qp[5]
    inverse, y, z, whole = vectors[0], vectors[3], vectors[6], vectors[9]
    size = n, m, m + n + c
    set_rows(size, H, g, J, r, limits, bounds, radius, kinks, x, qp)
    steps = 0
    right, held = guess_working_set(size, state, lam, qp)
    if right < 1:
        if right < 0:
            for j in range(n):
                z[j] = 0.0
                for k in range(j, n):
                    z[j] += L[k, j] * x[k]
            held = let_go(size, state, qp)
        steps = walk(held, size, state, lam, qp)
    for j in range(n - 1, -1, -1):  # x = L⁻ᵀy, inside the box
        total = y[j]
        for k in range(j + 1, n):
            total -= L[k, j] * whole[k]
        whole[j] = total * inverse[j]
    for j in range(n):
        low, high = qp[1][0, m + j], qp[1][1, m + j]
        x[j] = min(max(whole[j], low), high)
        if state[m + j] == FLOOR:
            x[j] = low
        elif state[m + j] == CEILING:
            x[j] = high
    return steps


# --- the SQP ---------------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def weigh(plan, T, first, previous, wants):
    """The merit of a plan with a prediction: its cost with ρ⁺ for the ceiling; and how far it exceeds that.

    `wants`: floor, ceiling, ρ⁻, ρ⁺, w_P, w_ΔP, w_T/half width², middle; powers before `first` are given, and
    what they led to is over and does not count.
    """
    merit, over = 0.0, 0.0
    last = previous
    for i in range(plan.shape[0]):
        if i < first:
            last = plan[i]
            continue
        merit += wants[4] * plan[i] * plan[i] + wants[5] * (plan[i] - last) * (plan[i] - last)
        last = plan[i]
        low, high = wants[0] - T[i], T[i] - wants[1]
        if low > 0:
            merit += wants[2] * low
        if high > 0:
            merit += wants[3] * high
            over = max(over, high)
        merit += wants[6] * (T[i] - wants[7]) * (T[i] - wants[7])
    return merit, over


@njit(cache=True, error_model="numpy", nogil=True)
def set_quadratic(n, first, blocks, plan, previous, wants, H, g):
    """H and g of the costs of power and moves; a little is added to H so that it is definite at no cost."""
    ridge = 1e-7 * max(wants[4] + wants[5], 1e-3 * wants[2], 1e-6)
    for j in range(n):
        g[j] = 0.0
        for k in range(n):
            H[j, k] = 2.0 * ridge if j == k else 0.0
    for i in range(first, len(blocks)):
        j = blocks[i] - blocks[first]
        H[j, j] += 2.0 * wants[4]
        if i == first:
            H[j, j] += 2.0 * wants[5]
            g[j] -= 2.0 * wants[5] * (previous if i == 0 else plan[i - 1])
        elif blocks[i] != blocks[i - 1]:
            H[j, j] += 2.0 * wants[5]
            H[j - 1, j - 1] += 2.0 * wants[5]
            H[j, j - 1] -= 2.0 * wants[5]
            H[j - 1, j] -= 2.0 * wants[5]


@njit(cache=True, error_model="numpy", nogil=True)
def add_tracking(n, J, r, wants, H, g, Hq, gq):
    """The costs of the QP: power and moves, and w_T Σ(t_i − middle)² of the linearisation."""
    twice = 2.0 * wants[6]
    for j in range(n):
        total = 0.0
        for i in range(len(r)):
            total += J[i, j] * (r[i] - wants[7])
        gq[j] = g[j] + twice * total
        for k in range(n):
            total = 0.0
            if twice > 0:
                for i in range(len(r)):
                    total += J[i, j] * J[i, k]
            Hq[j, k] = H[j, k] + twice * total


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def price_units(first, Cc, wants, state, lam, T, slopes, prices):
    """g of each unit of layer 2 in the Lagrangian of the last QP, and the same times its slope."""
    width = prices.shape[1]
    for j in range(width):
        prices[0, j] = 0
    for i in range(first, T.shape[0]):
        price = wants[2] if state[i] == BELOW else min(max(lam[i], -10.0 * wants[2]), wants[2])
        weight = prices.dtype.type(price - 2.0 * wants[6] * (T[i] - wants[7]))
        for j in range(width):
            prices[0, j] -= weight * Cc[i * width + j]
    for j in range(width):
        prices[1, j] = prices[0, j] * slopes[j]


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def find_near(n, step, z, normals, reach, rows):
    """How many units the last step, REACH times as long, would bring to their kink; writes which to rows."""
    for j in range(z.shape[0]):
        reach[j] = 0
    for c in range(n):
        length = z.dtype.type(REACH * step[c])
        for j in range(z.shape[0]):
            reach[j] += length * normals[c, j]
    for j in range(z.shape[0]):
        reach[j] = abs(reach[j]) + z.dtype.type(BEND) - abs(z[j])
    count = 0
    for j in range(z.shape[0]):
        rows[count] = j
        count += reach[j] >= 0
    return count


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def sum_products(x, y):
    """x·y."""
    total = x.dtype.type(0)
    for j in range(x.shape[0]):
        total += x[j] * y[j]
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def find_kinks(over, n, W, Cc, wants, T, x, step, state, lam, kinks, units, prices, D, AS, rows):
    """Rows of the next QP: the steepest of the near kinks that are convex; how many.

    Where the last QP held one, its multiplier tells which slope the unit shall have, and so where in its bend
    it shall be. `kinks`: normals (K, N), numbers (5, K): level, weight, slope now, steepness, and the slope
    that the last QP wanted; units (2, K): these, and those held in the last QP; and how many there are. Ticks
    before `over` do not count.
    """
    normals, numbers, names, before = kinks
    horizon, width = T.shape[0], W.shape[0]
    first = horizon + n
    last = before[0]
    for k in range(last):
        slope = numbers[2, k] - lam[first + k] / numbers[1, k]
        held = state[first + k] == FLOOR or state[first + k] == CEILING
        names[1, k] = names[0, k] if held else -1
        numbers[4, k] = min(max(slope, 0.01), 0.99)
    price_units(over, Cc, wants, state, lam, T, units[3], prices)
    count = 0
    for layer in range(1, -1, -1):
        normal = D if layer == 1 else AS
        near = find_near(n, step, units[4 + layer], normal, prices[2], rows)
        for k in range(near):
            j = rows[k]
            weight = float(prices[0, j] if layer == 1 else sum_products(W[j], prices[1]))
            if not weight > 0.0:
                continue
            size = 0.0
            for c in range(n):
                size += abs(float(normal[c, j]))
            at = count
            while at > 0 and numbers[3, at - 1] < weight * size:
                if at < KINKS:
                    numbers[3, at] = numbers[3, at - 1]
                    numbers[1, at] = numbers[1, at - 1]
                    names[0, at] = names[0, at - 1]
                at -= 1
            if at < KINKS:
                numbers[3, at] = weight * size
                numbers[1, at] = weight
                names[0, at] = j + layer * width
                count = min(count + 1, KINKS)
    before[0] = count
    for k in range(count):
        layer = 1 if names[0, k] >= width else 0
        j = names[0, k] - layer * width
        z, level = float(units[4 + layer, j]), 0.0
        numbers[2, k] = units[1 + 2 * layer, j]
        state[first + k] = BELOW if z < 0.0 else ABOVE
        for o in range(last):
            if names[1, o] == names[0, k]:
                slope = numbers[4, o]
                level = math.sqrt(SMOOTH) * (slope - 0.5) / math.sqrt(slope * (1.0 - slope))
                state[first + k] = CEILING
        numbers[0, k] = level - z
        for c in range(n):
            normals[k, c] = D[c, j] if layer == 1 else AS[c, j]
            numbers[0, k] += normals[k, c] * x[c]
    return count


@njit(cache=True, error_model="numpy", nogil=True)
def is_finite(values):
    """Whether all are."""
    total = 0.0
    for value in values.flat:
        total += value * 0.0
    return total == 0.0


@njit(cache=True, error_model="numpy", nogil=True)
def spread_moves(first, blocks, x, plan):
    """The plan of the free moves; its first powers are given."""
    for i in range(first, plan.shape[0]):
        plan[i] = x[blocks[i] - blocks[first]]


@njit(cache=True, error_model="numpy", nogil=True)
def start_moves(n, first, blocks, start, bounds, x):
    """The free moves nearest to a plan: means over their ticks, inside the bounds."""
    for j in range(n):
        total, ticks = 0.0, 0
        for i in range(first, start.shape[0]):
            if blocks[i] - blocks[first] == j:
                total += start[i]
                ticks += 1
        x[j] = min(max(total / ticks, bounds[0, j]), bounds[1, j])


@njit(cache=True, error_model="numpy", nogil=True)
def shrink(net, folded, skips, first, previous, wants, least, plan, T, trial, Tt, units, rows):
    """Move a plan towards least power, which is cool enough, until it is too; the boundary is bisected."""
    A, W, b = net[9], net[10], net[11]
    low, high = 0.0, 1.0
    for _ in range(SHRINKINGS):
        share = 0.5 * (low + high)
        for i in range(plan.shape[0]):
            trial[i] = plan[i] if i < first else least + share * (plan[i] - least)
        predict(A, W, b, folded[0], folded[1], skips[0], trial, units, rows, Tt)
        if weigh(trial, Tt, first, previous, wants)[1] <= MATCH:
            low = share
        else:
            high = share
    for i in range(first, plan.shape[0]):
        plan[i] = least + low * (plan[i] - least)
    predict(A, W, b, folded[0], folded[1], skips[0], plan, units, rows, T)


@njit(cache=True, error_model="numpy", nogil=True)
def iterate(
    net, folded, skips, first, n, blocks, previous, wants, limits, bounds, cap, warm, real, rows, double
):
    """SQP from the plan that was predicted last; leaves the best one there. Returns status and count."""
    A, W, b = net[9], net[10], net[11]
    a, Cc = folded
    units, D, forward, AS, prices = real
    matrices, vectors, lam, qp, kinks = double
    H, Hq, J = matrices[0], matrices[1], matrices[2]
    g, gq, r, x, y = vectors[0], vectors[1], vectors[2], vectors[4], vectors[5]
    plan, T, trial, Tt, linear = vectors[6], vectors[7], vectors[8], vectors[9], vectors[10]
    best, Tb, z, step = vectors[11], vectors[12], vectors[13], vectors[14]
    xa, za = vectors[15], vectors[16]
    state = warm
    horizon = plan.shape[0]
    state[:first] = INSIDE
    set_quadratic(n, first, blocks, plan, previous, wants, H, g)
    for j in range(n):
        for k in range(A.shape[1]):
            AS[j, k] = 0
    for i in range(first, horizon):
        for k in range(A.shape[1]):
            AS[blocks[i] - blocks[first], k] += A[i, k]
    merit, over = weigh(plan, T, first, previous, wants)
    best[:] = plan
    Tb[:] = T
    best_merit, best_over = merit, over
    # the anchor: the last iterate that was worth its promise, and its step; see CREDIT
    anchor_merit, anchor_promise = merit, 0.0
    credit, near = -1, 0
    kinks[3][0] = 0
    status = STOPPED
    count = 0
    while count < cap:
        count += 1
        if count == 1:
            blur(units[4], units[1])
            blur(units[5], units[3])
        differentiate(AS, W, Cc, n, skips[1], units, rows, forward, D, J)
        for i in range(horizon):
            r[i] = T[i] if i >= first else 0.5 * (wants[0] + wants[1])
            for j in range(n):
                if i < first:  # what is over pulls at nothing
                    J[i, j] = 0.0
                r[i] -= J[i, j] * x[j]
        if count > 1:
            near = find_kinks(
                first, n, W, Cc, wants, T, x, step, state, lam, kinks, units, prices, D, AS, rows
            )
        add_tracking(n, J, r, wants, H, g, Hq, gq)
        z[:n] = x[:n]
        rests = kinks[0], kinks[1]
        solve_qp(n, horizon, near, Hq, gq, J, r, limits, bounds, RADIUS, rests, state, z, lam, qp)
        for i in range(horizon):
            linear[i] = r[i]
            for j in range(n):
                linear[i] += J[i, j] * z[j]
        trial[:] = plan
        spread_moves(first, blocks, z, trial)
        promised = merit - weigh(trial, linear, first, previous, wants)[0]
        if credit < 0:
            anchor_merit, anchor_promise, credit = merit, promised, CREDIT
            xa[:n] = x[:n]
            za[:n] = z[:n]
        predict(A, W, b, a, Cc, skips[0], trial, units, rows, Tt)
        found, beyond = weigh(trial, Tt, first, previous, wants)
        off = 0.0
        for i in range(first, horizon):
            off = max(off, abs(Tt[i] - linear[i]))
        if not off < np.inf:
            break
        share, stride = 1.0, 0.0
        for j in range(n):
            stride = max(stride, abs(z[j] - x[j]))
        if count > 1 and off <= MATCH and stride <= SHORT:
            status = SOLVED
        elif anchor_merit - found >= ARMIJO * anchor_promise:
            credit = -1
        elif credit > 0:
            credit -= 1
        else:  # the loan was not paid back: walk the anchor's own step with care
            for j in range(n):
                x[j] = xa[j]
                z[j] = za[j]
            for _ in range(HALVINGS):
                share *= 0.4
                for j in range(n):
                    y[j] = x[j] + share * (z[j] - x[j])
                spread_moves(first, blocks, y, trial)
                predict(A, W, b, a, Cc, skips[0], trial, units, rows, Tt)
                found, beyond = weigh(trial, Tt, first, previous, wants)
                if anchor_merit - found >= ARMIJO * share * anchor_promise:
                    break
            credit = -1
        for j in range(n):
            step[j] = share * (z[j] - x[j])
            x[j] += step[j]
        plan[:] = trial
        T[:] = Tt
        merit, over = found, beyond
        improves = (over <= MATCH and merit < best_merit) or (best_over > MATCH and over < best_over)
        if improves or status == SOLVED:
            best[:] = plan
            Tb[:] = T
            best_merit, best_over = merit, over
        if status == SOLVED:
            break
    plan[:] = best
    T[:] = Tb
    state[horizon + n :] = INSIDE  # the next tick begins without kinks
    return status, count


@njit(cache=True, error_model="numpy", nogil=True)
def warm_start(
    net, folded, skips, first, n, blocks, previous, wants, bounds, begin, x, trial, T, units, rows
):
    """Replace `begin`, predicted in T, and its moves x by a constant power if the merit of one is less."""
    A, W, b = net[9], net[10], net[11]
    horizon = begin.shape[0]
    merit, chosen = weigh(begin, T, first, previous, wants)[0], 0
    least, most = bounds[0, 0], bounds[1, 0]
    for level in range(1, LEVELS + 1):
        for i in range(horizon):
            trial[i] = begin[i] if i < first else least + level * (most - least) / LEVELS
        predict(A, W, b, folded[0], folded[1], skips[0], trial, units, rows, T)
        found = weigh(trial, T, first, previous, wants)[0]
        if found < merit:
            merit, chosen = found, level
    if chosen > 0:
        for i in range(first, horizon):
            begin[i] = least + chosen * (most - least) / LEVELS
        start_moves(n, first, blocks, begin, bounds, x)
        spread_moves(first, blocks, x, begin)


@njit(cache=True, error_model="numpy", nogil=True)
def solve_tick(
    net,
    stats,
    seen,
    blocks,
    wants,
    limits,
    bounds,
    skips,
    cap,
    question,
    first,
    warm,
    real,
    folded,
    rows,
    double,
):
    """Fold, check that some plan is cool enough, iterate, mend; returns status and count.

    `question`: kinematics (N, 4), temperatures, location, previous power, start; the first `first` powers of
    `start` cannot be changed any more; powers in units of P_max. `warm` (2N + K): the last QP's working set,
    begun with and left for the next tick. Leaves plan and prediction in rows 6 and 7 of the double vectors.
    """
    kinematics, temps, location, previous, start = question
    vectors = double[1]
    x, plan, T, trial, Tt = vectors[4], vectors[6], vectors[7], vectors[8], vectors[9]
    begin = vectors[3]
    units = real[0]
    A, W, b = net[9], net[10], net[11]
    a, Cc = folded
    horizon = plan.shape[0]
    n = 0 if first >= horizon else blocks[horizon - 1] - blocks[first] + 1
    least = bounds[0, 0]
    for i in range(horizon):
        value = start[i] if start[i] == start[i] else least
        begin[i] = min(max(value, least), bounds[1, 0])
        plan[i] = begin[i] if i < first else least
        T[i] = np.nan
    said = is_finite(kinematics) and is_finite(temps) and is_finite(location)
    if not (said and is_finite(start) and is_finite(previous)):
        return SPEECHLESS, 0
    before = min(max(previous[0], least), bounds[1, 0])
    fold_tick(net, stats, seen, skips[0], kinematics, temps, location, real[5], real[6], units, rows, a, Cc)
    if n > 0:
        start_moves(n, first, blocks, begin, bounds, x)
        spread_moves(first, blocks, x, begin)
    predict(A, W, b, a, Cc, skips[0], begin, units, rows, Tt)
    if not is_finite(Tt):
        return SPEECHLESS, 0
    if n > 0 and wants[2] > 0.0 and wants[0] - Tt[first:].min() > COLD:
        warm_start(
            net, folded, skips, first, n, blocks, before, wants, bounds, begin, x, trial, Tt, units, rows
        )
        predict(A, W, b, a, Cc, skips[0], begin, units, rows, Tt)
    if weigh(begin, Tt, first, before, wants)[1] > MATCH:
        # less power is cooler, mostly: if that does not help, give up
        predict(A, W, b, a, Cc, skips[0], plan, units, rows, T)
        if not is_finite(T) or weigh(plan, T, first, before, wants)[1] > MATCH:
            return (INFEASIBLE if is_finite(T) else SPEECHLESS), 0
        predict(A, W, b, a, Cc, skips[0], begin, units, rows, Tt)
    plan[:] = begin
    T[:] = Tt
    if n == 0:
        return SOLVED, 0
    status, count = iterate(
        net, folded, skips, first, n, blocks, before, wants, limits, bounds, cap, warm, real[:5], rows, double
    )
    if is_finite(T) and weigh(plan, T, first, before, wants)[1] <= MATCH:
        return status, count
    status = STOPPED if is_finite(T) else SPEECHLESS
    for i in range(horizon):
        trial[i] = plan[i] if i < first else least
    predict(A, W, b, a, Cc, skips[0], trial, units, rows, Tt)
    if status == SPEECHLESS:
        plan[:] = trial
        T[:] = np.nan
    elif weigh(trial, Tt, first, before, wants)[1] > MATCH:
        plan[:] = begin
        predict(A, W, b, a, Cc, skips[0], plan, units, rows, T)
    else:
        shrink(net, folded, skips, first, before, wants, least, plan, T, trial, Tt, units, rows)
    return status, count
