/* Old heat in few Gaussians: neighbours in time merge once nobody can tell them apart. */

#include "twin_types.h"

typedef struct {
    double e, t, x, y, xx, xy, yy;
} node;

static node get_node(const twin *w, int i)
{
    const node n = {(double)w->e[i], w->t[i], (double)w->x[i], (double)w->y[i],
                    (double)w->xx[i], (double)w->xy[i], (double)w->yy[i]};
    return n;
}

static void put_node(twin *w, int i, const node *n)
{
    w->e[i] = (real)n->e;
    w->t[i] = n->t;
    w->x[i] = (real)n->x;
    w->y[i] = (real)n->y;
    w->xx[i] = (real)n->xx;
    w->xy[i] = (real)n->xy;
    w->yy[i] = (real)n->yy;
}

/* One Gaussian of the same energy, centre, mean time and scatter. */
static node join_nodes(const node *a, const node *b)
{
    node n;
    const double p = a->e / (a->e + b->e), q = 1.0 - p, dx = b->x - a->x, dy = b->y - a->y;
    n.e = a->e + b->e;
    n.t = p * a->t + q * b->t;
    n.x = p * a->x + q * b->x;
    n.y = p * a->y + q * b->y;
    n.xx = p * a->xx + q * b->xx + p * q * dx * dx;
    n.xy = p * a->xy + q * b->xy + p * q * dx * dy;
    n.yy = p * a->yy + q * b->yy + p * q * dy * dy;
    return n;
}

static void remove_node(twin *w, int i)
{
    const size_t rest = (size_t)(w->count - 1 - i);
    memmove(w->e + i, w->e + i + 1, rest * sizeof *w->e);
    memmove(w->t + i, w->t + i + 1, rest * sizeof *w->t);
    memmove(w->x + i, w->x + i + 1, rest * sizeof *w->x);
    memmove(w->y + i, w->y + i + 1, rest * sizeof *w->y);
    memmove(w->xx + i, w->xx + i + 1, rest * sizeof *w->xx);
    memmove(w->xy + i, w->xy + i + 1, rest * sizeof *w->xy);
    memmove(w->yy + i, w->yy + i + 1, rest * sizeof *w->yy);
    --w->count;
}

static void merge_at(twin *w, int i)
{
    const node a = get_node(w, i), b = get_node(w, i + 1), both = join_nodes(&a, &b);
    put_node(w, i + 1, &both);
    remove_node(w, i);
}

/* Three Gaussians at one moment and some points: a, b and both. */
static void set_gaussian(const twin *w, const node *n, gaussians *g, int j)
{
    const double age = (double)w->now - n->t, tau = w->grow * age;
    const double xx = n->xx + tau + 1.0, yy = n->yy + tau + 1.0, det = xx * yy - n->xy * n->xy;
    g->ixx[j] = (real)(yy / det);
    g->ixy[j] = (real)(-n->xy / det);
    g->iyy[j] = (real)(xx / det);
    g->height[j] = (real)n->e * inverse_root((real)(tau * det)) * left_above_bottom((real)(w->depth * age));
}

/* Merge the pair i, i + 1, or forget its elder, if that can be afforded. */
static int judge_pair(twin *w, const process *p, int i)
{
    static const double probes[5] = {-1.0, -0.5, 0.0, 0.5, 1.0};
    const node a = get_node(w, i), b = get_node(w, i + 1), both = join_nodes(&a, &b);
    const node *all[3];
    gaussians *g = &w->old;
    real form[16], worst = (real)0;
    all[0] = &a;
    all[1] = &b;
    all[2] = &both;
    for (int j = 0; j < 3; ++j)
        set_gaussian(w, all[j], g, j);
    if ((double)g->height[0] < p->faded) {
        remove_node(w, i);
        return 1;
    }
    for (int k = 0; k < 5; ++k)
        for (int j = 0; j < 3; ++j) {
            const real dx = (real)(both.x + probes[k] * (b.x - a.x) - all[j]->x);
            const real dy = (real)(both.y + probes[k] * (b.y - a.y) - all[j]->y);
            form[3 * k + j] = (real)-0.5 * (g->ixx[j] * dx * dx + (real)2 * g->ixy[j] * dx * dy + g->iyy[j] * dy * dy);
        }
    form[15] = (real)0;
    for (int k = 0; k < 16; ++k)
        form[k] = exponential(form[k]);
    for (int k = 0; k < 5; ++k) {
        const real off = g->height[0] * form[3 * k] + g->height[1] * form[3 * k + 1] - g->height[2] * form[3 * k + 2];
        worst = off > worst ? off : (-off > worst ? -off : worst);
    }
    if (!((double)worst < p->worth))
        return 0;
    merge_at(w, i);
    return 1;
}

/* Judge the next few pairs of neighbours, but for the ticks kept one by one. */
static void tidy_history(twin *w, const process *p)
{
    const double old = (double)w->now - p->recent;
    for (int k = 0; k < PAIRS; ++k) {
        if (w->cursor + 1 >= w->count || w->t[w->cursor + 1] > old) {
            w->cursor = 0;
            if (w->count < 2 || w->t[1] > old)
                return;
        }
        if (!judge_pair(w, p, w->cursor))
            ++w->cursor;
    }
}

/* One tick at a mean power absorbed, W, from where the beam was to a place in m. */
static void absorb(twin *w, const process *p, double watts, double x, double y)
{
    const double sx = w->here[0] / p->sigma, sy = w->here[1] / p->sigma, dx = x / p->sigma - sx, dy = y / p->sigma - sy;
    const int slot = (int)(w->now % RECENT);
    w->place[slot][0] = w->here[0];
    w->place[slot][1] = w->here[1];
    w->watts[slot] = watts;
    w->here[0] = x;
    w->here[1] = y;
    ++w->now;
    if (watts > 0.0) {
        const node n = {watts * p->tick * w->strength, (double)w->now - 0.5, sx + 0.5 * dx, sy + 0.5 * dy,
                        dx * dx / 12.0, dx * dy / 12.0, dy * dy / 12.0};
        if (w->count == NODES)
            merge_at(w, 0);
        put_node(w, w->count++, &n);
    }
    tidy_history(w, p);
}
