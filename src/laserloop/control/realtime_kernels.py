"""Kernels of the realtime solver: arrays and numbers in, arrays out. No objects, no allocation inside a tick.

N  horizon      n  free moves      w  width, padded      p  plan, P/P_max      x (n,)  free moves of p
T  prediction, K      J = ∂T/∂x (N, n)      t = r + J x  its linearisation
f(x) = ½xᵀHx + gᵀx  power, moves and tracking      ψ(t) = ρ⁻ max(0, floor − t) + ρ⁺ max(0, t − ceiling)

Each SQP step minimises f(x) + Σ ψ(t_i) over the box exactly. ρ⁻ is the price of the slack; ρ⁺ is so steep
that the ceiling is kept whenever the linearisation allows it, and missed by the least otherwise, so that the
QP always has an answer. In the dual both are multipliers in a box, λ ∈ [−ρ⁺, ρ⁻]: no slack is a variable.

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
GUESSES = 4  # working sets tried before the walk, which always ends
EXACT = 1e-9  # relative, of the QP's conditions
DEPENDENT = 1e-10  # a row this close to the span of others is implied by them

FAR = 1e3  # of a plan of size 1: beyond, the QP's minimiser loses digits
JITTER = 1e-7  # K, by which kinks that meet in a point are parted

SOLVED, STOPPED, INFEASIBLE, SPEECHLESS = 0, 1, 2, 3
MATCH = 0.01  # K: the linear prediction is trusted when the network agrees this well
ARMIJO = 0.1
HALVINGS = 4  # of a step
CREDIT = 3  # full steps that may be worse than the anchor, since a kink of the network is found only by crossing it
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
def fold_tick(net, stats, seen, skip, kinematics, temps, location, features, units, rows, a, Cc):
    """The network of one tick: `a` (w,) and `Cc` = [C | c]; see realtime_network."""
    K, a0, T0, t0, T1, t1, M, m = net[:8]
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
    Cc[:] = m
    add_rows(rows, count, units[2], M, Cc)


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def predict(A, W, b, a, Cc, skip, plan, units, rows, T):
    """T of a plan; leaves σ and σ' of both layers in `units` (4, w) for the Jacobian."""
    horizon, width = A.shape
    for j in range(width):
        units[0, j] = a[j]
    for i in range(horizon):
        p = A.dtype.type(plan[i])
        for j in range(width):
            units[0, j] += p * A[i, j]
    activate(units[0], units[1])
    for j in range(width):
        units[2, j] = b[j]
    count = select(units[0], skip, rows)
    add_rows(rows, count, units[0], W, units[2])
    activate(units[2], units[3])
    for i in range(horizon):
        total = A.dtype.type(0)
        for j in range(width):
            total += Cc[i * width + j] * units[2, j]
        T[i] = total + Cc[horizon * width + i]


@njit(cache=True, error_model="numpy", fastmath=FAST, nogil=True)
def differentiate(AS, W, Cc, n, least, units, rows, first, D, J):
    """J = C diag(σ₂') Wᵀ diag(σ₁') Aᵀ S, forward; units with σ₁' below `least` are skipped."""
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
        for j in range(width):
            D[c, j] *= units[3, j]
        for i in range(horizon):
            total = W.dtype.type(0)
            for j in range(width):
                total += Cc[i * width + j] * D[c, j]
            J[i, c] = total


# --- the QP ----------------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def climb(n, L, Q, held, v, s, side, y, onward):
    """y = L⁻ᵀ(v + Q s) on the free moves, or onward from there: y += L⁻ᵀQ s. Overwrites v."""
    for j in range(n - 1, -1, -1):
        if side[j] != 0:
            continue
        total = 0.0 if onward else v[j]
        for q in range(held):
            total += Q[q, j] * s[q]
        for k in range(j + 1, n):
            if side[k] == 0:
                total -= L[k, j] * v[k]
        v[j] = total / L[j, j]
        y[j] = y[j] + v[j] if onward else v[j]


@njit(cache=True, error_model="numpy", nogil=True)
def solve_equality(n, H, g, J, r, limits, side, state, x, y, lam, work):
    """The minimiser y of f with the rows and moves of a working set held, and the rows' multipliers λ.

    Moves with `side` ≠ 0 stay where x has them; rows on the floor or ceiling are held there; rows below or
    above pay their slope. H y + g + Σ slopes − Jᵀλ = 0 on the free moves. A row that the others imply gets
    λ = 0. Returns how many dimensions are left.
    """
    L, Q, R = work[0], work[1], work[2]
    v, s, e, name = work[3, 0], work[3, 1], work[3, 2], work[3, 5]
    floor, ceiling, below, above = limits[0], limits[1], limits[2], limits[3]
    m = state.shape[0]
    for j in range(n):
        slope = g[j]
        for i in range(m):
            if state[i] == BELOW:
                slope -= below * J[i, j]
            elif state[i] == ABOVE:
                slope += above * J[i, j]
        e[j] = slope
        y[j] = x[j]
    # Cholesky factor of H over the free moves; row and column j of a held move are those of the identity
    for j in range(n):
        for k in range(j + 1):
            if side[j] != 0 or side[k] != 0:
                L[j, k] = 1.0 if j == k else 0.0
                continue
            total = H[j, k]
            for q in range(k):
                total -= L[j, q] * L[k, q]
            L[j, k] = total / L[k, k] if k < j else math.sqrt(max(total, 1e-300))
    for j in range(n):  # v = L⁻¹(−slope − H y_held)
        total = 0.0
        if side[j] == 0:
            total = -e[j]
            for k in range(n):
                if side[k] != 0:
                    total -= H[j, k] * x[k]
            for k in range(j):
                total -= L[j, k] * v[k]
            total /= L[j, j]
        v[j] = total
    held = 0
    free = 0
    for j in range(n):
        free += side[j] == 0
    for i in range(m):  # columns L⁻¹Jᵢᵀ = Q R by Gram–Schmidt, twice; s = R⁻ᵀ(what the row lacks)
        lam[i] = 0.0
        if held == free or (state[i] != FLOOR and state[i] != CEILING):
            continue
        lack = (floor if state[i] == FLOOR else ceiling) - r[i]
        size = 0.0
        for j in range(n):
            total = 0.0
            if side[j] != 0:
                lack -= J[i, j] * x[j]
            else:
                total = J[i, j]
                for k in range(j):
                    total -= L[j, k] * Q[held, k]
                total /= L[j, j]
            Q[held, j] = total
            lack -= total * v[j]
            size += total * total
        for q in range(held):
            R[q, held] = 0.0
        for _ in range(2):
            for q in range(held):
                total = 0.0
                for j in range(n):
                    total += Q[q, j] * Q[held, j]
                R[q, held] += total
                for j in range(n):
                    Q[held, j] -= total * Q[q, j]
        rest = 0.0
        for j in range(n):
            rest += Q[held, j] * Q[held, j]
        if rest <= DEPENDENT * DEPENDENT * size or size == 0.0:
            continue
        rest = math.sqrt(rest)
        R[held, held] = rest
        for q in range(held):
            lack -= R[q, held] * s[q]
        s[held] = lack / rest
        for j in range(n):
            Q[held, j] /= rest
        name[held] = i
        held += 1
    for q in range(held - 1, -1, -1):  # λ = R⁻¹s
        total = s[q]
        for k in range(q + 1, held):
            total -= R[q, k] * e[k]
        e[q] = total / R[q, q]
        lam[int(name[q])] = e[q]
    far = False
    for j in range(n):
        far = far or abs(v[j]) > FAR
    climb(n, L, Q, held, v, s, side, y, False)
    if far:  # large terms cancelled in y: put the held rows back on their kinks
        for q in range(held):
            i = int(name[q])
            total = (floor if state[i] == FLOOR else ceiling) - r[i]
            for j in range(n):
                total -= J[i, j] * y[j]
            for k in range(q):
                total -= R[k, q] * s[k]
            s[q] = total / R[q, q]
        climb(n, L, Q, held, v, s, side, y, True)
    return free - held


@njit(cache=True, error_model="numpy", nogil=True)
def slope_at(j, n, H, g, J, limits, state, lam, y):
    """∂/∂x_j of f + Σψ at y, with λ for the rows that are held, and the size of its terms."""
    slope, size = g[j], abs(g[j])
    for k in range(n):
        term = H[j, k] * y[k]
        slope += term
        size += abs(term)
    for i in range(state.shape[0]):
        if state[i] == BELOW:
            term = -limits[2] * J[i, j]
        elif state[i] == ABOVE:
            term = limits[3] * J[i, j]
        else:
            term = -lam[i] * J[i, j]
        slope += term
        size += abs(term)
    return slope, size


@njit(cache=True, error_model="numpy", nogil=True)
def guess_working_set(n, H, g, J, r, limits, bounds, side, state, x, y, lam, work):
    """Solve with the working set given, mend what it violates, a few times; True when it is the right one."""
    floor, ceiling, below, above = limits[0], limits[1], limits[2], limits[3]
    fine = EXACT * (1.0 + abs(floor) + abs(ceiling))
    for j in range(n):
        if side[j] < 0:
            x[j] = bounds[0, j]
        elif side[j] > 0:
            x[j] = bounds[1, j]
    for _ in range(GUESSES):
        solve_equality(n, H, g, J, r, limits, side, state, x, y, lam, work)
        right = True
        for j in range(n):
            if side[j] != 0:
                slope, size = slope_at(j, n, H, g, J, limits, state, lam, y)
                work[3, 3, j] = 1.0 if slope * side[j] > EXACT * size else 0.0  # to be freed
            else:
                work[3, 3, j] = 0.0
        for i in range(state.shape[0]):
            t = r[i]
            for j in range(n):
                t += J[i, j] * y[j]
            now = state[i]
            if now == FLOOR:
                if lam[i] < -EXACT * below:
                    state[i] = INSIDE
                elif lam[i] > below * (1.0 + EXACT):
                    state[i] = BELOW
                elif abs(t - floor) > fine:  # implied by others that contradict it
                    state[i] = BELOW if t < floor else INSIDE
            elif now == CEILING:
                if lam[i] > EXACT * above:
                    state[i] = INSIDE
                elif lam[i] < -above * (1.0 + EXACT):
                    state[i] = ABOVE
                elif abs(t - ceiling) > fine:
                    state[i] = ABOVE if t > ceiling else INSIDE
            elif now <= INSIDE and t > ceiling + fine:
                state[i] = CEILING
            elif now >= INSIDE and t < floor - fine:
                state[i] = FLOOR
            elif now == BELOW and t > floor + fine:
                state[i] = FLOOR
            elif now == ABOVE and t < ceiling - fine:
                state[i] = CEILING
            right = right and state[i] == now
        for j in range(n):
            if work[3, 3, j] != 0.0:
                side[j] = 0
                right = False
            elif side[j] == 0 and not bounds[0, j] - EXACT <= y[j] <= bounds[1, j] + EXACT:
                side[j] = -1 if y[j] < bounds[0, j] else 1
                right = False
            if side[j] != 0:
                y[j] = bounds[0, j] if side[j] < 0 else bounds[1, j]
            x[j] = min(max(y[j], bounds[0, j]), bounds[1, j])
        if right:
            return True
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def walk_step(n, J, limits, bounds, side, state, x, y, t, curvature):
    """Go from x towards y as far as f + Σψ falls: through kinks where it still does, up to the first bound.

    Along the way the slope is −κ(1 − α) plus what the passed kinks added. Returns the kind of the end (0: y,
    1: a kink passed on the way and a minimum before y, 2: a row or a move was added) and the share walked.
    """
    floor, ceiling, below, above = limits[0], limits[1], limits[2], limits[3]
    m = state.shape[0]
    wall, share = -1, 1.0
    for j in range(n):
        if side[j] == 0:
            step = y[j] - x[j]
            room = (bounds[1, j] if step > 0 else bounds[0, j]) - x[j]
            if abs(step) > abs(room):
                reach = room / step
                if reach < share:
                    wall, share = j, max(reach, 0.0)
    passed, done, row = 0.0, 0.0, -1
    while True:
        stop = 1.0 - passed / curvature if passed > 0 else 1.0
        best, which, rate = min(stop, share), -1, 0.0
        for i in range(m):
            if state[i] == FLOOR or state[i] == CEILING:
                continue
            speed = 0.0
            size = 0.0
            for j in range(n):
                term = J[i, j] * (y[j] - x[j])
                speed += term
                size += abs(term)
            if abs(speed) <= 1e-13 * size:
                continue
            if speed > 0:
                if state[i] == ABOVE:
                    continue
                at = ((floor if state[i] == BELOW else ceiling) - t[i]) / speed
            else:
                if state[i] == BELOW:
                    continue
                at = ((ceiling if state[i] == ABOVE else floor) - t[i]) / speed
            at = max(at, done)
            if at < best or (at == best and which < 0 and at < stop):
                best, which, rate = at, i, speed
        if which < 0:
            row = -1
            done = max(best, done)
            break
        jump = abs(rate) * (
            below if (state[which] == BELOW or (state[which] == INSIDE and rate < 0)) else above
        )
        done = best
        if -curvature * (1.0 - best) + passed + jump >= 0:
            row = which
            if rate > 0:
                state[row] = FLOOR if state[row] == BELOW else CEILING
            else:
                state[row] = CEILING if state[row] == ABOVE else FLOOR
            break
        passed += jump
        if rate > 0:
            state[which] = INSIDE if state[which] == BELOW else ABOVE
        else:
            state[which] = INSIDE if state[which] == ABOVE else BELOW
    kind = 0
    for j in range(n):
        if side[j] == 0:
            x[j] = min(max(x[j] + done * (y[j] - x[j]), bounds[0, j]), bounds[1, j])
    if row >= 0:
        kind = 2
    elif wall >= 0 and done >= share:
        kind = 2
        side[wall] = -1 if y[wall] < x[wall] else 1
        x[wall] = bounds[0, wall] if side[wall] < 0 else bounds[1, wall]
    elif passed > 0:
        kind = 1
    return kind, done


@njit(cache=True, error_model="numpy", nogil=True)
def release(n, H, g, J, limits, side, state, lam, x):
    """Free the row or move whose multiplier is furthest outside its range; True if there was one."""
    below, above = limits[2], limits[3]
    worst, kind, index = 0.0, 0, -1
    for i in range(state.shape[0]):
        if state[i] != FLOOR and state[i] != CEILING:
            continue
        low, high = (0.0, below) if state[i] == FLOOR else (-above, 0.0)
        beyond = max(low - lam[i], lam[i] - high)
        if beyond <= EXACT * (high - low):
            continue
        size = 0.0
        for j in range(n):
            size += abs(J[i, j]) if side[j] == 0 else 0.0
        if beyond * size > worst:
            worst, kind, index = beyond * size, 1, i
    for j in range(n):
        if side[j] == 0:
            continue
        slope, size = slope_at(j, n, H, g, J, limits, state, lam, x)
        if slope * side[j] > max(EXACT * size, worst):
            worst, kind, index = slope * side[j], 2, j
    if kind == 1:
        if state[index] == FLOOR:
            state[index] = INSIDE if lam[index] < 0 else BELOW
        else:
            state[index] = INSIDE if lam[index] > 0 else ABOVE
    elif kind == 2:
        side[index] = 0
    return kind != 0


@njit(cache=True, error_model="numpy", nogil=True)
def sort_rows(n, J, r, limits, state, x, t):
    """t at x, and no row held: each is below, inside or above."""
    for i in range(state.shape[0]):
        t[i] = r[i]
        for j in range(n):
            t[i] += J[i, j] * x[j]
        state[i] = BELOW if t[i] < limits[0] else (ABOVE if t[i] > limits[1] else INSIDE)


@njit(cache=True, error_model="numpy", nogil=True)
def solve_qp(n, H, g, J, r, limits, bounds, side, state, x, y, lam, work):
    """The minimiser x of f(x) + Σψ(r + J x) over the box, with its working set; begins with the one given.

    `limits` are floor, ceiling, ρ⁻ and ρ⁺; `bounds` (2, ≥ n); `side` (n,) −1, 0, 1 for a move at its lower
    bound, free, at its upper; `state` (N,) of the rows; `work` (4, ≥ N, ≥ N). Returns the number of equality
    problems solved, negative if the walk did not end within its cap.
    """
    m = state.shape[0]
    if guess_working_set(n, H, g, J, r, limits, bounds, side, state, x, y, lam, work):
        return 1
    t, offset = work[3, 3], work[3, 4]
    for j in range(n):
        side[j] = 0
    offset[:m] = r[:m]
    sort_rows(n, J, offset, limits, state, x, t)
    still, jitter = 0, JITTER
    cap = 20 + 10 * (n + m)
    for count in range(cap):
        loose = solve_equality(n, H, g, J, offset, limits, side, state, x, y, lam, work)
        curvature = 0.0
        step = 0.0
        for j in range(n):
            d = y[j] - x[j]
            step = max(step, abs(d))
            for k in range(n):
                curvature += d * H[j, k] * (y[k] - x[k])
        kind, share = 0, 1.0
        if loose > 0 and step > 1e-14:
            kind, share = walk_step(n, J, limits, bounds, side, state, x, y, t, curvature)
        else:  # a vertex: what is left of the step is rounding
            for j in range(n):
                x[j] = min(max(y[j], bounds[0, j]), bounds[1, j])
        for i in range(m):
            t[i] = offset[i]
            for j in range(n):
                t[i] += J[i, j] * x[j]
        if kind == 0 and not release(n, H, g, J, limits, side, state, lam, x):
            return GUESSES + count + 1
        still = still + 1 if share * step <= 1e-10 else 0
        if still > n + 2:  # more kinks than dimensions meet here: part them
            for i in range(m):
                offset[i] = r[i] + jitter * (0.5 + (0.618034 * (i + 1)) % 1.0)
            sort_rows(n, J, offset, limits, state, x, t)
            still, jitter = 0, -3.0 * jitter
    return -(GUESSES + cap)


# --- the SQP ---------------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def weigh(plan, T, first, previous, wants):
    """The merit of a plan with a prediction: its cost with ρ⁺ for the ceiling; and how far it exceeds that.

    `wants`: floor, ceiling, ρ⁻, ρ⁺, w_P, w_ΔP, w_T/half width², middle; powers before `first` are given.
    """
    merit, over = 0.0, 0.0
    last = previous
    for i in range(plan.shape[0]):
        if i >= first:
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


@njit(cache=True, error_model="numpy", nogil=True)
def learn_curvature(n, H, J, Jold, wants, state, lam, step, B, v, u):
    """Powell's damped BFGS update of B for the Lagrangian f − λᵀT after a step: kinks of T are curvature."""
    inner, old = 0.0, 0.0
    for j in range(n):
        v[j], u[j] = 0.0, 0.0
        for k in range(n):
            v[j] += H[j, k] * step[k]
            u[j] += B[j, k] * step[k]
        for i in range(state.shape[0]):
            price = lam[i]
            if state[i] == BELOW:
                price = wants[2]
            price = min(max(price, -10.0 * wants[2]), wants[2])
            v[j] -= price * (J[i, j] - Jold[i, j])
        inner += step[j] * v[j]
        old += step[j] * u[j]
    if old <= 0.0:
        return
    if inner < 0.2 * old:
        share = 0.8 * old / (old - inner)
        for j in range(n):
            v[j] = share * v[j] + (1.0 - share) * u[j]
        inner = 0.2 * old
    for j in range(n):
        for k in range(n):
            B[j, k] += v[j] * v[k] / inner - u[j] * u[k] / old


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
    A, W, b = net[8], net[9], net[10]
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
    """SQP from the plan given; leaves the best plan in its place. Returns solved or stopped, and the count."""
    A, W, b = net[8], net[9], net[10]
    a, Cc = folded
    units, D, forward, AS = real
    matrices, vectors, work = double
    H, Hq, J, B, Jold = matrices[0], matrices[1], matrices[2], matrices[3], matrices[4]
    g, gq, r, lam, x, y = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    plan, T, trial, Tt, linear = vectors[6], vectors[7], vectors[8], vectors[9], vectors[10]
    best, Tb, z, step = vectors[11], vectors[12], vectors[13], vectors[14]
    xa, za = vectors[15], vectors[16]
    side, state = warm[0], warm[1]
    horizon = plan.shape[0]
    set_quadratic(n, first, blocks, plan, previous, wants, H, g)
    for j in range(n):
        for k in range(n):
            B[j, k] = H[j, k]
    for j in range(n):
        for k in range(A.shape[1]):
            AS[j, k] = 0
    for i in range(first, horizon):
        for k in range(A.shape[1]):
            AS[blocks[i] - blocks[first], k] += A[i, k]
    spread_moves(first, blocks, x, plan)
    predict(A, W, b, a, Cc, skips[0], plan, units, rows, T)
    merit, over = weigh(plan, T, first, previous, wants)
    best[:] = plan
    Tb[:] = T
    best_merit, best_over = merit, over
    # the anchor: the last iterate that was worth its promise, and its step; see CREDIT
    anchor_merit, anchor_promise = merit, 0.0
    credit = -1
    status = STOPPED
    count = 0
    while count < cap:
        count += 1
        differentiate(AS, W, Cc, n, skips[1], units, rows, forward, D, J)
        for i in range(horizon):
            r[i] = T[i]
            for j in range(n):
                r[i] -= J[i, j] * x[j]
        if count > 1:
            learn_curvature(n, H, J, Jold, wants, state, lam, step, B, y, linear)
        Jold[:, :] = J
        add_tracking(n, J, r, wants, B, g, Hq, gq)
        for j in range(n):
            z[j] = x[j]
            for k in range(n):  # the gradient at x is that of f, whatever was learned
                gq[j] += (H[j, k] - B[j, k]) * x[k]
        solve_qp(n, Hq, gq, J, r, limits, bounds, side, state, z, y, lam, work)
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
        for i in range(horizon):
            off = max(off, abs(Tt[i] - linear[i]))
        if not off < np.inf:
            break
        share = 1.0
        if off <= MATCH:
            status = SOLVED
        elif anchor_merit - found >= ARMIJO * anchor_promise:
            credit = -1
        elif credit > 0:
            credit -= 1
        else:  # the loan was not paid back: walk the anchor's own step with care
            for j in range(n):
                x[j] = xa[j]
                z[j] = za[j]
            share = 1.0
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
        if status == SOLVED or (over <= MATCH and merit < best_merit) or (best_over > MATCH and over < best_over):
            best[:] = plan
            Tb[:] = T
            best_merit, best_over = merit, over
        if status == SOLVED:
            break
    plan[:] = best
    T[:] = Tb
    return status, count


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
    """Fold, check that least power is cool enough, iterate, mend; returns status and count.

    `question`: kinematics (N, 4), temperatures, location, previous power, start; the first `first` powers of
    `start` cannot be changed any more; powers in units of P_max. `warm` (2, N): the working set of the last QP,
    begun with and left for the next tick. Leaves plan and prediction in rows 6 and 7 of the double vectors.
    """
    kinematics, temps, location, previous, start = question
    vectors = double[1]
    x, plan, T, trial, Tt = vectors[4], vectors[6], vectors[7], vectors[8], vectors[9]
    units = real[0]
    horizon = plan.shape[0]
    n = 0 if first >= horizon else blocks[horizon - 1] - blocks[first] + 1
    least = bounds[0, 0]
    for i in range(horizon):
        value = start[i] if start[i] == start[i] else least
        plan[i] = min(max(value, least), bounds[1, 0])
        T[i] = np.nan
    if not (is_finite(kinematics) and is_finite(temps) and is_finite(location) and is_finite(start)):
        return SPEECHLESS, 0
    if not is_finite(previous):
        return SPEECHLESS, 0
    before = min(max(previous[0], least), bounds[1, 0])
    fold_tick(net, stats, seen, skips[0], kinematics, temps, location, real[4], units, rows, folded[0], folded[1])
    if n > 0:
        start_moves(n, first, blocks, plan, bounds, x)
    for i in range(horizon):
        trial[i] = plan[i] if i < first else least
    predict(net[8], net[9], net[10], folded[0], folded[1], skips[0], trial, units, rows, Tt)
    if not is_finite(Tt):
        return SPEECHLESS, 0
    over = weigh(trial, Tt, first, before, wants)[1]
    if over > MATCH or n == 0:
        plan[:] = trial
        T[:] = Tt
        return (INFEASIBLE if over > MATCH else SOLVED), 0
    status, count = iterate(
        net, folded, skips, first, n, blocks, before, wants, limits, bounds, cap, warm, real[:4], rows, double
    )
    if not is_finite(T):
        plan[:] = trial
        T[:] = Tt
        return SPEECHLESS, count
    if weigh(plan, T, first, before, wants)[1] > MATCH:
        status = STOPPED
        shrink(net, folded, skips, first, before, wants, least, plan, T, trial, Tt, units, rows)
    return status, count
