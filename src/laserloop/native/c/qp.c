/* The exact small dense QP: f(x) + sum psi(r + J x) over a box, by an active set that begins with the last one.

   The slope above the ceiling is so steep that it is kept whenever the linearisation allows it, and missed by the
   least otherwise: the QP always has an answer. */

#define GUESSES 3   /* times that moves beyond their bounds are held there before the walk begins */
#define EXACT 1e-11 /* of the sum of all terms, by which a multiplier may leave its range */
#define NEAR 1e-7   /* K or P_max, of the levels */
#define JITTER 1e-7 /* K, by which kinks that meet in a point are parted */

/* Solve with the working set given. Moves that leave their bounds for it are held there, a few times. Returns 1 if it
   is right; 0 if not, with the rows held in *held and z on all of them; -1 if the bounds are still not kept. */
static int guess_working_set(int *state, program *q, int *held)
{
    for (int i = 0; i < ROWS; ++i)
        put(i, state[i], state, q);
    for (int guess = 0; guess < GUESSES; ++guess) {
        int right = 1, inside = 1;
        for (int i = 0; i < ROWS; ++i) {
            q->taken[i] = 0;
            q->lam[i] = 0.0;
        }
        *held = hold_all(0, 0, state, q);
        find_centre(q);
        solve_equality(*held, state, q);
        project(q, q->y, q->t);
        for (int i = 0; i < ROWS; ++i) {
            const double t = q->t[i], low = q->low[i], high = q->high[i], level = state[i] == FLOOR ? low : high;
            if (!is_held(state[i])) {
                const int under = t < low - NEAR, over = t > high + NEAR;
                if (i >= BOUND && i < KINK) {
                    if (under || over)
                        put(i, under ? FLOOR : CEILING, state, q);
                    inside = inside && !under && !over;
                } else {
                    right = right && (state[i] == BELOW   ? t <= low + NEAR
                                      : state[i] == ABOVE ? t >= high - NEAR
                                                          : !under && !over);
                }
            } else if (!q->taken[i] && fabs(t - level) > NEAR) {
                put(i, i < KINK ? INSIDE : t < level ? BELOW : ABOVE, state, q); /* the others contradict it */
                right = 0;
                inside = inside && t >= low - NEAR && t <= high + NEAR;
            } else {
                double least, most;
                find_range(i, state[i], q, &least, &most);
                right = right && q->lam[i] >= least && q->lam[i] <= most;
            }
        }
        if (inside) {
            if (right)
                return 1;
            memcpy(q->z, q->y, sizeof q->z);
            return 0;
        }
    }
    return -1;
}

/* Go from z towards y as far as the cost falls: through kinks where it still does, up to the first wall.
   Along the way the slope is -kappa (1 - share) plus what the passed kinks added. Returns the row at whose
   level it ended or -1. */
static int walk_step(int *state, program *q, int *passed, double *walked)
{
    double curvature = 0.0, gained = 0.0, share = 0.0, d[N], sizes[N];
    int row = -1;
    for (int j = 0; j < N; ++j) {
        d[j] = q->y[j] - q->z[j];
        sizes[j] = fabs(d[j]);
        curvature += d[j] * d[j];
    }
    project(q, d, q->speed);
    for (int i = 0; i < ROWS; ++i)
        q->size[i] = 0.0;
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < ROWS; ++i)
            q->size[i] += sizes[j] * fabs(q->across[j][i]);
    for (int i = 0; i < ROWS; ++i) {
        const int moves = fabs(q->speed[i]) > 1e-13 * q->size[i];
        const double reach = ((q->speed[i] > 0.0 ? q->up[i] : q->down[i]) - q->t[i]) / q->speed[i];
        q->reach[i] = moves ? reach : HUGE_VAL;
    }
    for (int kink = 0; kink < 2 * ROWS; ++kink) {
        double stop = 1.0 - gained / curvature;
        int which = -1;
        for (int i = 0; i < ROWS; ++i) {
            which = q->reach[i] < stop ? i : which;
            stop = q->reach[i] < stop ? q->reach[i] : stop;
        }
        share = stop > share ? stop : share;
        if (which < 0)
            break;
        const int rising = q->speed[which] > 0.0, now = state[which];
        const int upper = now == ABOVE || (now == INSIDE && rising), kinked = which >= KINK;
        const double height = kinked ? q->above[which] + q->below[which] : upper ? q->above[which] : q->below[which];
        const double jump = fabs(q->speed[which]) * height;
        if (gained + jump >= curvature * (1.0 - share)) {
            put(which, upper ? CEILING : FLOOR, state, q);
            row = which;
            break;
        }
        gained += jump;
        put(which, now != INSIDE && !kinked ? INSIDE : (rising ? ABOVE : BELOW), state, q);
        q->reach[which] = ((rising ? q->up[which] : q->down[which]) - q->t[which]) / q->speed[which];
    }
    for (int j = 0; j < N; ++j)
        q->z[j] += share * d[j];
    *passed = gained > 0.0;
    *walked = share;
    return row;
}

/* Let go of the held row whose multiplier is furthest outside its range; returns its place or -1. */
static int release(int k, int *state, program *q)
{
    double scale = 0.0, worst = 0.0;
    int place = -1;
    for (int j = 0; j < N; ++j)
        scale += fabs(q->v[j]);
    for (int c = 0; c < k; ++c) {
        const int i = q->order[c];
        double size = 0.0;
        for (int j = 0; j < N; ++j)
            size += fabs(q->a[i][j]);
        scale += size * fabs(q->lam[i]);
        double low, high;
        find_range(i, state[i], q, &low, &high);
        const double under = low - q->lam[i], over = q->lam[i] - high;
        const double beyond = (under > over ? under : over) * size;
        if (beyond > worst) {
            worst = beyond;
            place = c;
        }
    }
    if (place < 0 || !(worst > EXACT * scale))
        return -1;
    const int i = q->order[place];
    if (q->lam[i] > 0.0)
        put(i, state[i] == FLOOR || i >= KINK ? BELOW : INSIDE, state, q);
    else
        put(i, state[i] == CEILING || i >= KINK ? ABOVE : INSIDE, state, q);
    return place;
}

/* The states of all rows at z but those that are held. */
static void sort_rows(int *state, program *q)
{
    project(q, q->z, q->t);
    for (int i = 0; i < ROWS; ++i) {
        const int soft = i < BOUND || i >= KINK;
        if (!q->taken[i])
            put(i, soft && q->t[i] < q->low[i] ? BELOW : soft && q->t[i] > q->high[i] ? ABOVE : INSIDE, state, q);
        if (!q->taken[i] && i >= KINK + q->kinks)
            put(i, INSIDE, state, q);
        else if (!q->taken[i] && i >= KINK && state[i] == INSIDE)
            put(i, BELOW, state, q);
    }
    find_centre(q);
}

/* No row is held but moves at a bound; returns how many. */
static int let_go(int *state, program *q)
{
    project(q, q->z, q->t);
    for (int i = 0; i < ROWS; ++i) {
        const int move = i >= BOUND && i < KINK;
        q->taken[i] = 0;
        put(i, move && q->t[i] <= q->low[i] + NEAR ? FLOOR : move && q->t[i] >= q->high[i] - NEAR ? CEILING : INSIDE,
            state, q);
    }
    return hold_all(0, 0, state, q);
}

/* From z and k held rows, one row taken or let go at a time; how many times, or -1 if that was not enough. */
static int walk(int k, int *state, program *q)
{
    const int cap = 20 + 10 * ROWS;
    double jitter = JITTER;
    int still = 0;
    sort_rows(state, q);
    for (int count = 0; count < cap; ++count) {
        double step = 0.0, share = 1.0;
        int row = -1, passed = 0;
        for (int i = 0; i < ROWS; ++i)
            q->lam[i] = 0.0;
        solve_equality(k, state, q);
        for (int j = 0; j < N; ++j)
            step = fabs(q->y[j] - q->z[j]) > step ? fabs(q->y[j] - q->z[j]) : step;
        if (k < q->n && step > 0.0)
            row = walk_step(state, q, &passed, &share);
        else /* a vertex: what is left of the step is rounding */
            for (int j = 0; j < N; ++j)
                q->z[j] = q->y[j];
        project(q, q->z, q->t);
        if (row >= 0) {
            if (hold(row, k, q)) {
                q->taken[row] = 1;
                ++k;
            }
        } else if (!passed) {
            const int place = release(k, state, q);
            if (place < 0)
                return count + 1;
            k = hold_all(place, k, state, q);
        }
        find_centre(q);
        still = share * step <= 1e-10 ? still + 1 : 0;
        if (still > q->n + 2) { /* more kinks than dimensions meet here: part them */
            double golden = 0.0;
            for (int i = 0; i < N; ++i) {
                golden += 0.618034;
                golden -= golden >= 1.0 ? 1.0 : 0.0;
                q->low[i] += jitter * (0.5 + golden);
                q->high[i] += jitter * (0.5 + golden);
            }
            k = let_go(state, q);
            sort_rows(state, q);
            still = 0;
            jitter *= -3.0;
        }
    }
    return -1;
}

/* The minimiser of f(x) + sum psi(r + J x) over the box, into s->z; begins with the working set in s->state. */
static void solve_qp(const problem *p, workspace *s)
{
    program *q = &s->q;
    int *state = s->state;
    double x[N];
    int held;
    set_rows(s, p, q);
    const int right = guess_working_set(state, q, &held);
    q->steps = 0;
    if (right <= 0) {
        if (right < 0) { /* begin where the SQP is */
            for (int j = 0; j < N; ++j) {
                q->z[j] = 0.0;
                for (int k = j; k < N; ++k)
                    q->z[j] += q->L[k][j] * s->x[k];
            }
            held = let_go(state, q);
        }
        q->steps = walk(held, state, q);
    }
    for (int j = N - 1; j >= 0; --j) { /* z = inv(L') y, inside the box */
        double total = q->y[j];
        for (int k = j + 1; k < N; ++k)
            total -= q->L[k][j] * x[k];
        x[j] = total * q->inverse[j];
        s->z[j] = state[BOUND + j] == FLOOR     ? q->low[BOUND + j]
                  : state[BOUND + j] == CEILING ? q->high[BOUND + j]
                                                : clamp(x[j], q->low[BOUND + j], q->high[BOUND + j]);
    }
}
