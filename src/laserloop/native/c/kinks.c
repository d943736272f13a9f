/* Kinks: the network is all but piecewise linear, and minima sit where a unit bends, which no linearisation sees.

   In the Lagrangian f - lam'T unit u with argument z_u adds g_u sigma(z_u), g = -lam'C. Where g_u > 0 and the kink is
   near, this is one more row with two slopes, and the QP goes across it or stops on it. A unit held on its kink by the
   multiplier mu has the slope sigma'(z_u) - mu/g_u: the next QP looks for it there, in the bend. */

#define REACH 1.2 /* last steps from its kink, within which a unit is near */
#define BEND 3e-3 /* of z: near in any case; beyond, sigma' is within 3 % of 0 or 1 */

/* The price of each unit of layer 2 in the Lagrangian f - lam'T of the last QP; a kink is convex if it is positive. */
static void price_units(const problem *p, const tick *k, workspace *s)
{
    forecast *f = &s->f;
    memset(f->weight, 0, sizeof f->weight);
    for (int i = k->first; i < N; ++i) {
        if (!k->free[i])
            continue;
        const double lam = s->state[i] == BELOW ? p->below : clamp(s->q.lam[i], -10.0 * p->below, p->below);
        const real price = (real)(lam - 2.0 * p->tracking * (s->T[i] - p->middle));
        for (int j = 0; j < W; ++j)
            f->weight[j] -= price * f->Cc[i * W + j];
    }
    for (int j = 0; j < W; ++j)
        f->back[j] = f->weight[j] * f->s2[j];
}

/* The price of a unit of layer 1: its row of W1 times those of layer 2. */
static double price_first(const real *restrict row, const real *restrict back)
{
    real part[LANES];
    memset(part, 0, sizeof part);
    for (int j = 0; j < W; j += LANES)
        for (int l = 0; l < LANES; ++l)
            part[l] += row[j + l] * back[j + l];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l)
            part[l] += part[l + half];
    return (double)part[0];
}

/* For each unit of a layer: whether the last step, REACH times as long, would bring it to its kink; and how steep it
   is. */
static void find_near(int n, const double *step, const real *restrict z, real (*restrict normal)[W], int *restrict near,
                      real *restrict size)
{
    real reach[W];
    for (int j = 0; j < W; ++j)
        reach[j] = size[j] = (real)0;
    for (int c = 0; c < n; ++c) {
        const real length = (real)(REACH * step[c]);
        for (int j = 0; j < W; ++j) {
            reach[j] += length * normal[c][j];
            size[j] += MAGNITUDE(normal[c][j]);
        }
    }
    for (int j = 0; j < W; ++j)
        near[j] = MAGNITUDE(reach[j]) + (real)BEND >= MAGNITUDE(z[j]);
}

/* Put a unit among the `count` steepest of those found so far; returns how many these are now. */
static int rank_kink(program *q, double *score, int count, int unit, double weight, double steep)
{
    int at = count;
    for (; at > 0 && score[at - 1] < steep; --at)
        if (at < KINKS) {
            score[at] = score[at - 1];
            q->unit[at] = q->unit[at - 1];
            q->weight[at] = q->weight[at - 1];
        }
    if (at == KINKS)
        return count;
    score[at] = steep;
    q->unit[at] = unit;
    q->weight[at] = weight;
    return count + (count < KINKS);
}

/* Rows of the next QP: the steepest of the near kinks that are convex. Where the last QP held one, its multiplier tells
   which slope the unit shall have, and so where in its bend it shall be. */
static void find_kinks(const network *net, const problem *p, const tick *now, workspace *s)
{
    forecast *f = &s->f;
    program *q = &s->q;
    const int before = q->kinks, n = now->n;
    int old_unit[KINKS], old_state[KINKS], count = 0;
    double old_slope[KINKS], score[KINKS];
    for (int k = 0; k < before; ++k) {
        old_unit[k] = q->unit[k];
        old_state[k] = s->state[KINK + k];
        old_slope[k] = clamp(q->slope_now[k] - q->lam[KINK + k] / q->weight[k], 0.01, 0.99);
    }
    price_units(p, now, s);
    for (int layer = 1; layer >= 0; --layer) {
        real(*normal)[W] = layer ? f->D : f->AS;
        int near = 0;
        find_near(n, s->step, layer ? f->z2 : f->z1, normal, f->near, f->size);
        for (int j = 0; j < W; ++j) {
            f->rows[near] = j;
            near += f->near[j];
        }
        for (int l = 0; l < near; ++l) {
            const int j = f->rows[l];
            const double weight = layer ? (double)f->weight[j] : price_first(net->W1[j], f->back);
            if (weight > 0.0)
                count = rank_kink(q, score, count, j + layer * W, weight, weight * (double)f->size[j]);
        }
    }
    q->kinks = count;
    for (int k = 0; k < KINKS; ++k)
        s->state[KINK + k] = INSIDE;
    for (int k = 0; k < count; ++k) {
        const int layer = q->unit[k] >= W, j = q->unit[k] - layer * W;
        const double z = (double)(layer ? f->z2[j] : f->z1[j]);
        double level = 0.0;
        q->slope_now[k] = (double)(layer ? f->s2[j] : f->s1[j]);
        s->state[KINK + k] = z < 0.0 ? BELOW : ABOVE;
        for (int o = 0; o < before; ++o)
            if (old_unit[o] == q->unit[k] && is_held(old_state[o])) {
                level = sqrt((double)SMOOTH) * (old_slope[o] - 0.5) / sqrt(old_slope[o] * (1.0 - old_slope[o]));
                s->state[KINK + k] = old_state[o];
            }
        for (int c = 0; c < N; ++c)
            q->normal[k][c] = c < n ? (double)(layer ? f->D[c][j] : f->AS[c][j]) : 0.0;
        q->level[k] = level - z + dot(n, q->normal[k], s->x);
    }
}
