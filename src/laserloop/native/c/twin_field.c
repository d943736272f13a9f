/* Sums of Gaussians. Loops over nodes are elementwise, so that a compiler vectorises them with nothing but -O3. */

#include "twin_types.h"

#define COARSE 0.01 /* of the bottom's time: a horizon in which what is left does not fall in a straight line */

#if LASERLOOP_DOUBLE
typedef unsigned long long bits;
#define MAGIC 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to a whole number in the low bits */
#define MANTISSA 52
#define BIAS 1023
#define LOWEST -700.0
#define ROOT_GUESS 0x5fe6eb50c7b537a9ULL
#else
typedef unsigned int bits;
#define MAGIC 12582912.0f /* 1.5 * 2^23 */
#define MANTISSA 23
#define BIAS 127
#define LOWEST -86.0f
#define ROOT_GUESS 0x5f375a86u
#endif

INLINE bits to_bits(real x)
{
    bits b;
    memcpy(&b, &x, sizeof b);
    return b;
}

INLINE real from_bits(bits b)
{
    real x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* exp(x) for x <= 0: 2^n times the series of the rest, |rest| <= ln 2 / 2. Below LOWEST it is as small as there. */
INLINE real exponential(real x)
{
    const real low = x > (real)LOWEST ? x : (real)LOWEST;
    const real shifted = low * (real)1.4426950408889634 + (real)MAGIC;
    const real n = shifted - (real)MAGIC;
    const real r = (low - n * (real)0.693145751953125) - n * (real)1.42860682030941723e-6;
    real p;
#if LASERLOOP_DOUBLE
    p = 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
#else
    p = (real)(1.0 / 720.0);
#endif
    p = p * r + (real)(1.0 / 120.0);
    p = p * r + (real)(1.0 / 24.0);
    p = p * r + (real)(1.0 / 6.0);
    p = p * r + (real)0.5;
    p = p * r + (real)1;
    p = p * r + (real)1;
    return p * from_bits((to_bits(shifted) << MANTISSA) + ((bits)BIAS << MANTISSA));
}

/* 1 / sqrt(x) for x > 0 */
INLINE real inverse_root(real x)
{
    real y = from_bits((bits)ROOT_GUESS - (to_bits(x) >> 1));
    const real half = (real)0.5 * x;
    y = y * ((real)1.5 - half * y * y);
    y = y * ((real)1.5 - half * y * y);
    y = y * ((real)1.5 - half * y * y);
#if LASERLOOP_DOUBLE
    y = y * (1.5 - half * y * y);
    y = y * (1.5 - half * y * y);
#endif
    return y;
}

/* What is left above a bottom held at ambient: images while the heat is young, modes when it is old. */
INLINE real left_above_bottom(real x)
{
    const int is_young = x < (real)0.5;
    const real young = is_young ? (x > (real)1e-3 ? x : (real)1e-3) : (real)0.5, old = is_young ? (real)0.5 : x;
    const real q = exponential(is_young ? (real)-1 / young : (real)-2.4674011002723395 * old);
    const real q2 = q * q, q4 = q2 * q2, q8 = q4 * q4;
    const real images = (real)1 - (real)2 * (q - q4 + q8 * q);
    const real modes = old * inverse_root(old) * (real)3.5449077018110318 * (q + q8 * q + q8 * q8 * q8 * q);
    return is_young ? images : modes;
}

/* Which of the history's Gaussians, or of their images, are felt within a distance of a place; returns how many. */
static int find_felt(const twin *w, const process *p, double px, double py, double distance, double moment,
                     int *restrict keep)
{
    const real qx = (real)px, qy = (real)py, near = (real)distance, far = (real)p->reach, grow = (real)w->grow;
    int total = 0;
    for (int j = 0; j < w->count; ++j) {
        const real dx = qx - w->x[j], dy = qy - w->y[j];
        const real wide = w->xx[j] + w->yy[j] + (real)1 + grow * (real)(moment - w->t[j]);
        const real reach = near + far * wide * inverse_root(wide);
        keep[j] = dx * dx + dy * dy < reach * reach;
        total += keep[j];
    }
    return total;
}

/* What is left above the bottom of live heat, now and per tick; over a short horizon it falls in a straight line. */
static void feel_bottom(twin *w)
{
    const real depth = (real)w->depth, per = (real)(1.0 / N);
    felt_heat *l = &w->live;
    int thick;
    for (thick = 0; thick < l->count && ((double)w->now - l->t[thick] + N) * w->depth > 0.04; ++thick)
        ; /* older ones feel it */
    for (int j = 0; j < thick; ++j) {
        const real age = (real)((double)w->now - l->t[j]);
        l->left[j] = left_above_bottom(depth * age);
        l->fall[j] = (left_above_bottom(depth * (age + (real)N)) - l->left[j]) * per;
    }
    for (int j = thick; j < l->count; ++j) {
        l->left[j] = (real)1;
        l->fall[j] = (real)0;
    }
}

/* What of the history is felt within `radius` of a place until `moment`, with images in the sides; all in beam widths. */
static void gather(twin *w, const process *p, const double *centre, double radius, double moment)
{
    felt_heat *l = &w->live;
    int used[4], mirrors = 0, k = 0;
    for (int mirror = 0; mirror < 4; ++mirror)
        if (find_felt(w, p, mirror & 1 ? 2.0 * w->wall[0] - centre[0] : centre[0],
                      mirror & 2 ? 2.0 * w->wall[1] - centre[1] : centre[1], radius, moment, w->keep[mirror]))
            used[mirrors++] = mirror;
    for (int j = 0; j < w->count; ++j)
        for (int i = 0; i < mirrors; ++i) {
            w->felt[k] = 4 * j + used[i];
            k += w->keep[used[i]][j];
        }
    for (int i = 0; i < k; ++i) {
        const int j = w->felt[i] / 4, mirror = w->felt[i] % 4;
        l->e[i] = w->e[j];
        l->t[i] = w->t[j];
        l->x[i] = mirror & 1 ? (real)(2.0 * w->wall[0]) - w->x[j] : w->x[j];
        l->y[i] = mirror & 2 ? (real)(2.0 * w->wall[1]) - w->y[j] : w->y[j];
        l->xx[i] = w->xx[j];
        l->xy[i] = mirror == 1 || mirror == 2 ? -w->xy[j] : w->xy[j];
        l->yy[i] = w->yy[j];
    }
    l->count = k;
    feel_bottom(w);
}

/* Gaussians at `moment` of ticks that had ended `lags` ticks before it; `out->count` is whole blocks. */
static void spread_history(const twin *w, double moment, int lags, gaussians *restrict out)
{
    const real grow = (real)w->grow, depth = (real)w->depth, ahead = (real)(moment - (double)w->now);
    const felt_heat *l = &w->live;
    int count = l->count;
    while (count > 0 && l->t[count - 1] > moment - lags)
        --count;
    for (int j = 0; j < count; ++j) {
        const real tau = grow * (real)(moment - l->t[j]);
        const real xx = l->xx[j] + tau + (real)1, yy = l->yy[j] + tau + (real)1, xy = l->xy[j];
        const real det = xx * yy - xy * xy, one = (real)1 / det;
        out->ixx[j] = yy * one;
        out->ixy[j] = -xy * one;
        out->iyy[j] = xx * one;
        out->x[j] = l->x[j];
        out->y[j] = l->y[j];
        out->height[j] = l->e[j] * inverse_root(tau * det);
    }
    if (w->depth * N > COARSE)
        for (int j = 0; j < count; ++j)
            out->height[j] *= left_above_bottom(depth * (real)(moment - l->t[j]));
    else
        for (int j = 0; j < count; ++j)
            out->height[j] *= l->left[j] + ahead * l->fall[j];
    out->count = (count + LANES - 1) / LANES * LANES;
    for (int j = count; j < out->count; ++j) {
        out->x[j] = out->y[j] = out->ixy[j] = out->height[j] = (real)0;
        out->ixx[j] = out->iyy[j] = (real)1;
    }
}

static double add_up(const real *restrict lane)
{
    double total = 0.0;
    for (int l = 0; l < LANES; ++l)
        total += (double)lane[l];
    return total;
}

/* u alone at a point, in beam widths. */
static double sum_heat(const gaussians *g, double px, double py)
{
    const real qx = (real)px, qy = (real)py;
    real sum[LANES] = {0};
    for (int j = 0; j < g->count; j += LANES)
        for (int l = 0, k = j; l < LANES; ++l, ++k) {
            const real dx = qx - g->x[k], dy = qy - g->y[k];
            const real form = g->ixx[k] * dx * dx + (real)2 * g->ixy[k] * dx * dy + g->iyy[k] * dy * dy;
            sum[l] += g->height[k] * exponential((real)-0.5 * form);
        }
    return add_up(sum);
}

/* u and its derivatives at a point, in beam widths. */
static field sum_field(const gaussians *g, double px, double py)
{
    const real qx = (real)px, qy = (real)py;
    real sum[6][LANES] = {{0}};
    for (int j = 0; j < g->count; j += LANES)
        for (int l = 0, k = j; l < LANES; ++l, ++k) {
            const real dx = qx - g->x[k], dy = qy - g->y[k];
            const real sx = g->ixx[k] * dx + g->ixy[k] * dy, sy = g->ixy[k] * dx + g->iyy[k] * dy;
            const real u = g->height[k] * exponential((real)-0.5 * (sx * dx + sy * dy));
            sum[0][l] += u;
            sum[1][l] -= u * sx;
            sum[2][l] -= u * sy;
            sum[3][l] += u * (sx * sx - g->ixx[k]);
            sum[4][l] += u * (sx * sy - g->ixy[k]);
            sum[5][l] += u * (sy * sy - g->iyy[k]);
        }
    const field f = {add_up(sum[0]), add_up(sum[1]), add_up(sum[2]), add_up(sum[3]), add_up(sum[4]), add_up(sum[5])};
    return f;
}
