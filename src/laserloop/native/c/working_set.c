/* The working set of the QP: which rows are held on one of their levels, and the point nearest to v on all of them.

   With H = L L' and z = L'x the cost is |z - v|^2 / 2, and every row is a.z between two levels: those of the
   prediction with finite slopes outside, then the bounds of the moves with infinite ones, then the kinks, whose two
   levels are one. In the dual the slopes are multipliers in a box, so that no slack is a variable. The normals of the
   held rows are Q R, column by column in the order in which they were taken. */

#define DEPENDENT 1e-10 /* a row this close to the span of others is implied by them */
#define FAR 1e3         /* of a plan of size 1: beyond, the QP's minimiser loses digits */

INLINE int is_held(int state)
{
    return state == FLOOR || state == CEILING;
}

/* Hq = L L', and the normals of the bounds. */
static void factor(const workspace *s, program *q)
{
    for (int j = 0; j < N; ++j)
        for (int k = 0; k <= j; ++k) {
            const double total = s->Hq[j][k] - dot(k, q->L[j], q->L[k]);
            if (k < j) {
                q->L[j][k] = total * q->inverse[k];
            } else {
                q->L[j][j] = sqrt(total > 1e-300 ? total : 1e-300);
                q->inverse[j] = 1.0 / q->L[j][j];
            }
        }
    for (int i = 0; i < N; ++i) {
        double *a = q->a[BOUND + i];
        for (int j = 0; j < N; ++j)
            a[j] = j < i ? 0.0 : ((i == j ? 1.0 : 0.0) - dot(j, q->L[j], a)) * q->inverse[j];
    }
}

/* Fill the normals and the levels, and v without the slopes of rows outside their levels. Moves stay within a
   radius of where they are. */
static void set_rows(const workspace *s, const problem *p, program *q)
{
    const double least = p->least / p->full;
    for (int j = 0; j < N; ++j)
        q->centre[j] = (-s->gq[j] - dot(j, q->L[j], q->centre)) * q->inverse[j];
    for (int i = 0; i < N; ++i) {
        const double under = s->x[i] - q->radius, over = s->x[i] + q->radius;
        for (int j = 0; j < N; ++j)
            q->a[i][j] = (s->J[i][j] - dot(j, q->L[j], q->a[i])) * q->inverse[j];
        q->low[i] = (p->below > 0.0 ? p->floor : -1e9) - s->r[i];
        q->high[i] = p->ceiling - s->r[i];
        q->below[i] = p->below;
        q->above[i] = p->above;
        q->low[BOUND + i] = under > least ? under : least;
        q->high[BOUND + i] = over < 1.0 ? over : 1.0;
        q->below[BOUND + i] = q->above[BOUND + i] = HUGE_VAL;
    }
    for (int k = 0; k < KINKS; ++k) {
        const int i = KINK + k, used = k < q->kinks;
        for (int j = 0; j < N; ++j)
            q->a[i][j] = used ? (q->normal[k][j] - dot(j, q->L[j], q->a[i])) * q->inverse[j] : 0.0;
        q->low[i] = used ? q->level[k] : -HUGE_VAL;
        q->high[i] = used ? q->level[k] : HUGE_VAL;
        q->below[i] = used ? q->weight[k] * q->slope_now[k] : 0.0;
        q->above[i] = used ? q->weight[k] * (1.0 - q->slope_now[k]) : 0.0;
    }
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < N; ++j)
            q->across[j][i] = q->a[i][j];
}

/* out = a.x for all rows */
static void project(const program *q, const double *restrict x, double *restrict out)
{
    for (int i = 0; i < ROWS; ++i)
        out[i] = x[0] * q->across[0][i];
    for (int j = 1; j < N; ++j)
        for (int i = 0; i < ROWS; ++i)
            out[i] += x[j] * q->across[j][i];
}

/* Note the state of a row. */
static void put(int i, int now, int *state, program *q)
{
    state[i] = now;
    q->up[i] = now == INSIDE ? q->high[i] : (now == BELOW ? q->low[i] : HUGE_VAL);
    q->down[i] = now == INSIDE ? q->low[i] : (now == ABOVE ? q->high[i] : -HUGE_VAL);
    q->slope[i] = now == BELOW ? q->below[i] : (now == ABOVE ? -q->above[i] : 0.0);
}

/* The multipliers with which a row stays on its level; a kink has one level for both sides. */
INLINE void find_range(int i, int now, const program *q, double *least, double *most)
{
    *least = now == FLOOR && i < KINK ? 0.0 : -q->above[i];
    *most = now == CEILING && i < KINK ? 0.0 : q->below[i];
}

/* Take row i as the k-th held one (Gram-Schmidt, twice where digits are lost); 0 if others imply it. */
static int hold(int i, int k, program *q)
{
    double size, rest, before;
    if (k >= q->n)
        return 0;
    for (int j = 0; j < N; ++j)
        q->Q[k][j] = q->a[i][j];
    size = rest = before = dot(N, q->a[i], q->a[i]);
    for (int c = 0; c < k; ++c)
        q->R[c][k] = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int c = 0; c < k; ++c) {
            const double total = dot(N, q->Q[c], q->Q[k]);
            q->R[c][k] += total;
            for (int j = 0; j < N; ++j)
                q->Q[k][j] -= total * q->Q[c][j];
        }
        rest = dot(N, q->Q[k], q->Q[k]);
        if (rest > 0.1 * before)
            break;
        before = rest;
    }
    if (!(rest > DEPENDENT * DEPENDENT * size))
        return 0;
    rest = sqrt(rest);
    q->pivot[k] = 1.0 / rest;
    for (int j = 0; j < N; ++j)
        q->Q[k][j] *= q->pivot[k];
    q->order[k] = i;
    return 1;
}

/* Take the rows that follow place `first` of the order again, then all others that are on a level. */
static int hold_all(int first, int k, const int *state, program *q)
{
    int again[N], count = first;
    for (int c = first; c < k; ++c) {
        again[c] = q->order[c];
        q->taken[again[c]] = 0;
    }
    for (int c = first; c < k; ++c)
        if (is_held(state[again[c]]) && hold(again[c], count, q)) {
            q->taken[again[c]] = 1;
            ++count;
        }
    for (int i = 0; i < ROWS; ++i)
        if (!q->taken[i] && is_held(state[i]) && hold(i, count, q)) {
            q->taken[i] = 1;
            ++count;
        }
    return count;
}

/* v: where the cost and the slopes of the rows outside their levels balance. */
static void find_centre(program *q)
{
    double v[N];
    memcpy(v, q->centre, sizeof v);
    for (int i = 0; i < ROWS; ++i)
        if (q->slope[i] != 0.0)
            for (int j = 0; j < N; ++j)
                v[j] += q->slope[i] * q->a[i][j];
    memcpy(q->v, v, sizeof v);
}

/* y = v + Q w, the point nearest to v on all held rows, and their multipliers inv(R) w. */
static void solve_equality(int k, const int *state, program *q)
{
    double far = 0.0;
    for (int j = 0; j < N; ++j) {
        q->y[j] = q->v[j];
        far = fabs(q->v[j]) > far ? fabs(q->v[j]) : far;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int c = 0; c < k; ++c) {
            const int i = q->order[c];
            double total = (state[i] == FLOOR ? q->low[i] : q->high[i]) - dot(N, q->a[i], q->y);
            for (int d = 0; d < c; ++d)
                total -= q->R[d][c] * q->w[d];
            q->w[c] = total * q->pivot[c];
        }
        for (int c = 0; c < k; ++c)
            for (int j = 0; j < N; ++j)
                q->y[j] += q->w[c] * q->Q[c][j];
        if (pass == 0) {
            for (int c = k - 1; c >= 0; --c) {
                double total = q->w[c];
                for (int d = c + 1; d < k; ++d)
                    total -= q->R[c][d] * q->u[d];
                q->u[c] = total * q->pivot[c];
                q->lam[q->order[c]] = q->u[c];
            }
            if (far < FAR) /* else large terms cancelled in y: put the held rows back on their levels */
                break;
        }
    }
}
