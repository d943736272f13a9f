/* Old heat in few Gaussians: neighbours in time merge once nobody can tell them apart. */

#include "twin_types.h"

enum { KEEP, FORGET, MERGE };

typedef struct {
    double e, t, x, y, xx, xy, yy;
} node;

typedef struct { /* one Gaussian of each pair: its height, and the form of the distance of the two in it */
    real height[PAIRS], form[PAIRS];
} row;

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
    w->t[--w->count] = HUGE_VAL; /* a time that never comes */
    w->far.count -= i < w->far.count;
}

/* A plate at rest. */
static void empty_history(twin *w)
{
    w->count = w->cursor = w->far.count = 0;
    w->far.ticks = -1.0;
    for (int i = 0; i < NODES + SPARE; ++i)
        w->t[i] = HUGE_VAL;
}

static void merge_at(twin *w, int i)
{
    const node a = get_node(w, i), b = get_node(w, i + 1), both = join_nodes(&a, &b);
    put_node(w, i + 1, &both);
    if (i + 1 == w->far.count)
        w->far.ticks = -1.0; /* of that one, the polynomial has only the elder half */
    remove_node(w, i);
}

/* What heat of some age has become, and the form of a step in it. */
INLINE void set_gaussian(const twin *w, real e, real age, real cxx, real cxy, real cyy, real dx, real dy, row *g, int l)
{
    const real tau = (real)w->grow * age, xx = cxx + tau + (real)1, yy = cyy + tau + (real)1;
    const real root = inverse_root(tau * (xx * yy - cxy * cxy));
    g->height[l] = e * root;
    g->form[l] = (real)-0.5 * tau * root * root * (yy * dx * dx - (real)2 * cxy * dx * dy + xx * dy * dy);
}

/* Its u so many of these steps from its centre. */
INLINE real rise(const row *g, int l, real steps)
{
    return g->height[l] * exponential(steps * steps * g->form[l]);
}

/* Judge the pairs i, i + 1 and so on, as they are, side by side: whether to keep each, to forget its elder or to merge it. */
static void judge_pairs(const twin *w, const process *p, int i, int *restrict verdict)
{
    static const real probes[5] = {(real)-1.0, (real)-0.5, (real)0.0, (real)0.5, (real)1.0};
    const real worth = (real)p->worth, faded = (real)p->faded, depth = (real)w->depth;
    row a, b, c;
    real share[PAIRS], worst[PAIRS] = {0}, young[PAIRS], old[PAIRS];
    for (int l = 0, k = i; l < PAIRS; ++l, ++k) {
        const real dx = w->x[k + 1] - w->x[k], dy = w->y[k + 1] - w->y[k];
        share[l] = w->e[k] / (w->e[k] + w->e[k + 1]);
        const real rest = (real)1 - share[l], spread = share[l] * rest;
        young[l] = (real)((double)w->now - w->t[k + 1]);
        old[l] = (real)((double)w->now - w->t[k]);
        set_gaussian(w, w->e[k], old[l], w->xx[k], w->xy[k], w->yy[k], dx, dy, &a, l);
        set_gaussian(w, w->e[k + 1], young[l], w->xx[k + 1], w->xy[k + 1], w->yy[k + 1], dx, dy, &b, l);
        set_gaussian(w, w->e[k] + w->e[k + 1], share[l] * old[l] + rest * young[l],
                     share[l] * w->xx[k] + rest * w->xx[k + 1] + spread * dx * dx,
                     share[l] * w->xy[k] + rest * w->xy[k + 1] + spread * dx * dy,
                     share[l] * w->yy[k] + rest * w->yy[k + 1] + spread * dy * dy, dx, dy, &c, l);
    }
    if (((double)w->now - w->t[i]) * w->depth > YOUNG)
        for (int l = 0; l < PAIRS; ++l) {
            a.height[l] *= left_above_bottom(depth * old[l]);
            b.height[l] *= left_above_bottom(depth * young[l]);
            c.height[l] *= left_above_bottom(depth * (share[l] * old[l] + ((real)1 - share[l]) * young[l]));
        }
    for (int m = 0; m < 5; ++m)
        for (int l = 0; l < PAIRS; ++l) { /* from the common centre, in distances of the two */
            const real at = probes[m], of_a = at + ((real)1 - share[l]), of_b = at - share[l];
            const real off = rise(&a, l, of_a) + rise(&b, l, of_b) - rise(&c, l, at), size = off < (real)0 ? -off : off;
            worst[l] = size > worst[l] ? size : worst[l];
        }
    for (int l = 0; l < PAIRS; ++l)
        verdict[l] = a.height[l] < faded ? FORGET : (worst[l] < worth ? MERGE : KEEP);
}

/* Judge the next few pairs of neighbours, but for the ticks kept one by one, and merge those that nobody would miss. */
static void tidy_history(twin *w, const process *p)
{
    const double old = (double)w->now - p->recent;
    int verdict[PAIRS];
    for (int left = PAIRS; left > 0;) {
        if (w->cursor + 1 >= w->count || w->t[w->cursor + 1] > old) {
            w->cursor = 0;
            if (w->count < 2 || w->t[1] > old)
                return;
        }
        judge_pairs(w, p, w->cursor, verdict);
        for (int l = 0; left > 0 && w->cursor + 1 < w->count && !(w->t[w->cursor + 1] > old); ++l, --left) {
            if (verdict[l] == KEEP) {
                ++w->cursor;
                continue;
            }
            if (verdict[l] == MERGE)
                merge_at(w, w->cursor);
            else
                remove_node(w, w->cursor);
            --left;
            break; /* its neighbour is another one now */
        }
    }
}

/* A tick is over: where it led the beam, m, and what it absorbed, W, as it was told. */
static void note_tick(twin *w, double watts, double x, double y)
{
    const int slot = (int)(w->now % RECENT);
    w->place[slot][0] = w->here[0];
    w->place[slot][1] = w->here[1];
    w->end[slot][0] = x;
    w->end[slot][1] = y;
    w->watts[slot] = watts;
    w->here[0] = x;
    w->here[1] = y;
    ++w->now;
}

/* The heat of the tick that is just over: W absorbed between two places, m. */
static void add_heat(twin *w, const process *p, double watts, const double *from, const double *to)
{
    const double sx = from[0] / p->sigma, sy = from[1] / p->sigma, dx = to[0] / p->sigma - sx, dy = to[1] / p->sigma - sy;
    const node n = {watts * p->tick * w->strength, (double)w->now - 0.5, sx + 0.5 * dx, sy + 0.5 * dy,
                    dx * dx / 12.0, dx * dy / 12.0, dy * dy / 12.0};
    if (watts > 0.0) {
        if (w->count == NODES)
            merge_at(w, 0);
        put_node(w, w->count++, &n);
    }
    tidy_history(w, p);
}
