/* The newest ticks, each by some points in time, because young heat is strong: what any watt in them adds.

   A tick is a column and its points are rows, so that what each tick adds comes out of sums down the columns. */

#include "twin_types.h"

/* The points of a process, as they are at any time. */
static void lay_rule(twin *w, const process *p)
{
    newest *g = &w->rule;
    int rows[WIDE] = {0};
    for (int k = 0; k < DEEP * WIDE; ++k)
        g->inverse[k] = (real)1;
    for (int j = 0; j < p->points; ++j) {
        const double tau = w->grow * p->age[j], inverse = 1.0 / (1.0 + tau);
        const int k = rows[p->lag[j]]++ * WIDE + p->lag[j];
        g->way[k] = (real)p->way[j];
        g->inverse[k] = (real)inverse;
        g->height[k] = (real)(p->share[j] * p->tick * w->strength *
                              (double)left_above_bottom((real)(w->depth * p->age[j])) * inverse / sqrt(tau));
        g->size = k / WIDE * WIDE + WIDE > g->size ? k / WIDE * WIDE + WIDE : g->size;
    }
}

/* Where the points are at the end of tick `from` of a track. */
static void place_rule(const track *t, int from, newest *restrict g)
{
    real x[WIDE], y[WIDE], dx[WIDE], dy[WIDE];
    for (int l = 0; l < WIDE; ++l) {
        x[l] = t->x[from + l];
        y[l] = t->y[from + l];
        dx[l] = t->to_x[from + l] - x[l];
        dy[l] = t->to_y[from + l] - y[l];
    }
    for (int j = 0; j < g->size; j += WIDE)
        for (int l = 0; l < WIDE; ++l) {
            g->x[j + l] = x[l] + g->way[j + l] * dx[l];
            g->y[j + l] = y[l] + g->way[j + l] * dy[l];
        }
}

/* Add u on a grid at some watts in each tick, in LANES parts each, LINES to a row: a round Gaussian is one of x times one of y. */
static void add_rule_grid(newest *g, const real *restrict watts, const grid *at, real (*restrict sum)[LANES])
{
    for (int j = 0; j < g->size; j += WIDE)
        for (int l = 0; l < WIDE; ++l)
            g->given[j + l] = g->height[j + l] * watts[l];
    for (int j = 0; j < g->size; j += LANES) {
        real along[LINES][LANES], across[LANES];
        for (int c = 0; c < at->wide; ++c) {
            const real qx = (real)at->x[c];
            for (int l = 0; l < LANES; ++l) {
                const real dx = qx - g->x[j + l];
                along[c][l] = exponential((real)-0.5 * g->inverse[j + l] * dx * dx);
            }
        }
        for (int r = 0; r < at->tall; ++r) {
            const real qy = (real)at->y[r];
            for (int l = 0; l < LANES; ++l) {
                const real dy = qy - g->y[j + l];
                across[l] = g->given[j + l] * exponential((real)-0.5 * g->inverse[j + l] * dy * dy);
            }
            for (int c = 0; c < at->wide; ++c)
                for (int l = 0; l < LANES; ++l)
                    sum[r * LINES + c][l] += across[l] * along[c][l];
        }
    }
}

/* What each tick adds to u and its derivatives at a point, in beam widths, per watt. */
static void sum_rule_field(const newest *g, double px, double py, real (*restrict sum)[WIDE])
{
    const real qx = (real)px, qy = (real)py;
    memset(sum, 0, 6 * sizeof *sum);
    for (int j = 0; j < g->size; j += WIDE)
        for (int l = 0, k = j; l < WIDE; ++l, ++k) {
            const real inverse = g->inverse[k], sx = inverse * (qx - g->x[k]), sy = inverse * (qy - g->y[k]);
            const real dx = qx - g->x[k], dy = qy - g->y[k];
            const real u = g->height[k] * exponential((real)-0.5 * (sx * dx + sy * dy));
            sum[0][l] += u;
            sum[1][l] -= u * sx;
            sum[2][l] -= u * sy;
            sum[3][l] += u * (sx * sx - inverse);
            sum[4][l] += u * sx * sy;
            sum[5][l] += u * (sy * sy - inverse);
        }
}
