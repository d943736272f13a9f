/* What a plan costs: its merit, the quadratic terms of the QP, and which tick takes which free move. */

/* The merit of a plan with a prediction, and how far it exceeds the ceiling. Ticks that are not free have no choice,
   and what they lead to does not count. */
static double weigh(const problem *p, const tick *k, const double *plan, const double *T, double *over)
{
    double merit = 0.0, last = k->before;
    *over = 0.0;
    for (int i = 0; i < N; ++i) {
        const double low = p->floor - T[i], high = T[i] - p->ceiling, off = T[i] - p->middle, move = plan[i] - last;
        last = plan[i];
        if (!k->free[i])
            continue;
        merit += p->power_cost * plan[i] * plan[i] + (k->moves[i] ? p->move_cost * move * move : 0.0);
        if (low > 0.0)
            merit += p->below * low;
        if (high > 0.0) {
            merit += p->above * high;
            *over = high > *over ? high : *over;
        }
        merit += p->tracking * off * off;
    }
    return merit;
}

/* The free move that a tick takes. */
INLINE int find_move(const problem *p, const tick *k, int i)
{
    return p->blocks[i] - p->blocks[k->first];
}

/* H and g of the costs of power and moves; a little is added to H so that it is definite at no cost. A move that only
   dark ticks take stays where it is. */
static void set_quadratic(const problem *p, const tick *k, const double *plan, workspace *s)
{
    int used[N] = {0};
    double ridge = p->power_cost + p->move_cost;
    ridge = 1e-3 * p->below > ridge ? 1e-3 * p->below : ridge;
    ridge = 1e-7 * (ridge > 1e-6 ? ridge : 1e-6);
    for (int j = 0; j < k->n; ++j) {
        s->g[j] = 0.0;
        for (int l = 0; l < k->n; ++l)
            s->H[j][l] = j == l ? 2.0 * ridge : 0.0;
    }
    for (int i = k->first; i < N; ++i) {
        const int j = find_move(p, k, i);
        if (!k->free[i])
            continue;
        used[j] = 1;
        s->H[j][j] += 2.0 * p->power_cost;
        if (!k->moves[i])
            continue;
        if (i == k->first) {
            s->H[j][j] += 2.0 * p->move_cost;
            s->g[j] -= 2.0 * p->move_cost * (i == 0 ? k->before : plan[i - 1]);
        } else if (p->blocks[i] != p->blocks[i - 1]) {
            s->H[j][j] += 2.0 * p->move_cost;
            s->H[j - 1][j - 1] += 2.0 * p->move_cost;
            s->H[j][j - 1] -= 2.0 * p->move_cost;
            s->H[j - 1][j] -= 2.0 * p->move_cost;
        }
    }
    for (int j = 0; j < k->n; ++j)
        if (!used[j]) {
            s->H[j][j] = 1.0;
            s->g[j] = -s->x[j];
        }
}

/* The costs of the QP, tracking of the linearisation among them. The QP always has N moves, so that its loops have a
   known length: those that are not free touch nothing and stay inside. */
static void set_costs(int n, const problem *p, workspace *s, int fresh)
{
    const double twice = 2.0 * p->tracking;
    for (int j = 0; j < N; ++j) {
        s->gq[j] = j < n ? s->g[j] : -s->x[j];
        for (int k = 0; k < N; ++k)
            s->Hq[j][k] = j < n && k < n ? s->H[j][k] : (j == k ? 1.0 : 0.0);
    }
    for (int i = 0; i < N && twice > 0.0; ++i)
        for (int j = 0; j < n; ++j) {
            s->gq[j] += twice * s->J[i][j] * (s->r[i] - p->middle);
            for (int k = 0; k < n; ++k)
                s->Hq[j][k] += twice * s->J[i][j] * s->J[i][k];
        }
    if (fresh || twice > 0.0)
        factor(s, &s->q);
}

/* Put the free moves into a plan; the rest of it is settled. */
static void spread_moves(const problem *p, const tick *k, const double *x, double *plan)
{
    for (int i = k->first; i < N; ++i)
        if (k->free[i])
            plan[i] = x[find_move(p, k, i)];
}

/* The free moves nearest to a plan: means over their ticks. */
static void start_moves(const problem *p, const tick *k, const double *start, double *x)
{
    const double least = p->least / p->full;
    for (int j = 0; j < k->n; ++j) {
        double total = 0.0;
        int ticks = 0;
        for (int i = k->first; i < N; ++i)
            if (k->free[i] && find_move(p, k, i) == j) {
                total += start[i];
                ++ticks;
            }
        x[j] = ticks ? clamp(total / ticks, least, 1.0) : 0.5 * (least + 1.0);
    }
}
