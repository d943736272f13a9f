/* Sums of Gaussians. Loops over nodes are elementwise, so that a compiler vectorises them with nothing but -O3. */

#include "twin_types.h"

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

#define YOUNG 0.04 /* of the bottom's time: younger heat has not come to it */

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

/* Where a place is seen in sides of the plate: bit 0 of a mirror for that in x, bit 1 for that in y. */
INLINE void reflect(const twin *w, int mirror, const double *place, double *image)
{
    image[0] = mirror & 1 ? 2.0 * w->wall[0] - place[0] : place[0];
    image[1] = mirror & 2 ? 2.0 * w->wall[1] - place[1] : place[1];
}

/* As which images in the nearest sides, a bit for each mirror, a block of the history is felt within a distance of a place;
   all in beam widths. `widest`: how far away any of it is felt. */
static int find_felt(const twin *w, const process *p, int j, const double *place, double distance, double moment, double *widest)
{
    const real qx = (real)place[0], qy = (real)place[1], near = (real)distance, far = (real)p->reach, grow = (real)w->grow;
    const real rx = (real)(2.0 * w->wall[0] - place[0]), ry = (real)(2.0 * w->wall[1] - place[1]);
    const real *restrict nx = w->x + j, *restrict ny = w->y + j, *restrict xx = w->xx + j, *restrict yy = w->yy + j;
    real reach[LANES];
    int seen[LANES], felt = 0;
    for (int l = 0; l < LANES; ++l) {
        const real age = (real)(moment - w->t[j + l]), wide = xx[l] + yy[l] + (real)1 + grow * age;
        const real some = near + far * wide * inverse_root(wide);
        reach[l] = age > (real)0 ? some : (real)0;
    }
    for (int l = 0; l < LANES; ++l) {
        const real x = qx - nx[l], y = qy - ny[l], mx = rx - nx[l], my = ry - ny[l], size = reach[l] * reach[l];
        const real x2 = x * x, y2 = y * y, mx2 = mx * mx, my2 = my * my;
        seen[l] = (x2 + y2 < size ? 1 : 0) + (mx2 + y2 < size ? 2 : 0) + (x2 + my2 < size ? 4 : 0) + (mx2 + my2 < size ? 8 : 0);
    }
    for (int l = 0; l < LANES; ++l)
        felt |= seen[l];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l)
            reach[l] = reach[l] > reach[l + half] ? reach[l] : reach[l + half];
    *widest = (double)reach[0];
    return felt;
}

/* How many times the plate's length along an axis farther to look for images as well: 1 where heat that is felt so far away is
   seen in both of its sides, 0 where it is not. */
static int find_copies(const twin *w, int axis, const double *place, double widest)
{
    return widest > fabs(w->wall[axis] + place[axis]);
}

/* What makes an image of a Gaussian: the signs of its coordinates, and what is added to them. */
INLINE void find_image(const twin *w, int image, double *sign, double *add)
{
    for (int axis = 0; axis < 2; ++axis) {
        const int mirrored = image >> axis & 1, copy = axis ? image / 12 - 1 : image / 4 % 3 - 1;
        sign[axis] = mirrored ? -1.0 : 1.0;
        add[axis] = (mirrored ? 2.0 * w->wall[axis] : 0.0) + 4.0 * copy * w->wall[axis];
    }
}

/* As which images a block of the history is felt within a distance of a place, into `images`; returns how many. In the
   nearest sides it is seen once, in two that face each other again and again: what is the same two lengths of the plate to
   either side is looked at, too. */
static int list_images(const twin *w, const process *p, int j, const double *place, double distance, double moment, int *images)
{
    double widest;
    const int nearest = find_felt(w, p, j, place, distance, moment, &widest);
    const int copies[2] = {find_copies(w, 0, place, widest), find_copies(w, 1, place, widest)};
    int count = 0;
    for (int mirror = 0; mirror < 4; ++mirror)
        if (nearest >> mirror & 1)
            images[count++] = mirror + SEEN_ONCE;
    for (int y = -copies[1]; y <= copies[1]; ++y)
        for (int x = -copies[0]; x <= copies[0]; ++x) {
            const double from[2] = {place[0] - 4.0 * x * w->wall[0], place[1] - 4.0 * y * w->wall[1]};
            const int felt = x || y ? find_felt(w, p, j, from, distance, moment, &widest) : 0;
            for (int mirror = 0; mirror < 4; ++mirror)
                if (felt >> mirror & 1)
                    images[count++] = mirror + 4 * (x + 1) + 12 * (y + 1);
        }
    return count;
}

/* Which blocks of the younger history, and of its images in the sides, are felt within `radius` of a place until `moment`. The
   youngest first: where a tiny plate has more images than there is room for, those of the oldest heat are left out. */
static void gather(twin *w, const process *p, const double *centre, double radius, double moment)
{
    const int young = w->count - w->far.count, last = w->far.count + (young > 0 ? (young - 1) / LANES * LANES : 0);
    w->blocks = 0;
    for (int j = last; j >= w->far.count && young > 0; j -= LANES) {
        int images[IMAGES];
        const int count = list_images(w, p, j, centre, radius, moment, images);
        for (int k = 0; k < count && w->blocks < LIVE / LANES; ++k) {
            w->block[w->blocks] = j;
            w->image[w->blocks++] = images[k];
        }
    }
}

/* A block of Gaussians at `moment`, as they are or as an image, but for the `lags` ticks before. */
static void spread_block(const twin *w, int j, int image, double moment, int lags, gaussians *restrict out)
{
    double sign[2], add[2];
    find_image(w, image, sign, add);
    const real grow = (real)w->grow, turn = (real)(sign[0] * sign[1]), most = (real)lags;
    const real left = (real)sign[0], wall = (real)add[0], down = (real)sign[1], floor = (real)add[1];
    for (int l = 0; l < LANES; ++l) {
        const real age = (real)(moment - w->t[j + l]), over = age - most + (real)0.5;
        const real part = over > (real)1 ? (real)1 : over, tau = grow * (part > (real)0 ? age : (real)1);
        const real xx = w->xx[j + l] + tau + (real)1, yy = w->yy[j + l] + tau + (real)1, xy = turn * w->xy[j + l];
        const real root = inverse_root(tau * (xx * yy - xy * xy)), one = tau * root * root, height = w->e[j + l] * root;
        out->ixx[l] = yy * one;
        out->ixy[l] = -xy * one;
        out->iyy[l] = xx * one;
        out->x[l] = wall + left * w->x[j + l];
        out->y[l] = floor + down * w->y[j + l];
        out->height[l] = part > (real)0 ? part * height : (real)0;
    }
    if ((moment - w->t[j]) * w->depth > YOUNG)
        for (int l = 0; l < LANES; ++l)
            out->height[l] *= left_above_bottom((real)w->depth * (real)(moment - w->t[j + l]));
}

/* Younger heat at `moment`, but for the `lags` ticks before, into w->old. */
static void spread_history(twin *w, double moment, int lags)
{
    for (int k = 0; k < w->blocks; ++k)
        spread_block(w, w->block[k], w->image[k], moment, lags, &w->old[k]);
}

INLINE double add_up(int count, const real *x)
{
    real four[4] = {x[0], x[1], x[2], x[3]};
    for (int k = 4; k < count; k += 4)
        for (int l = 0; l < 4; ++l)
            four[l] += x[k + l];
    return (double)((four[0] + four[2]) + (four[1] + four[3]));
}

/* Add u of younger heat on a grid, in LANES parts each, LINES to a row. */
static void add_old_grid(const twin *w, const grid *at, real (*restrict sum)[LANES])
{
    for (const gaussians *g = w->old; g < w->old + w->blocks; ++g)
        for (int r = 0; r < at->tall; ++r) {
            const real qy = (real)at->y[r];
            real across[LANES], down[LANES];
            for (int l = 0; l < LANES; ++l) {
                const real dy = qy - g->y[l];
                across[l] = (real)2 * g->ixy[l] * dy;
                down[l] = g->iyy[l] * dy * dy;
            }
            for (int c = 0; c < at->wide; ++c) {
                const real qx = (real)at->x[c];
                real *restrict u = sum[r * LINES + c];
                for (int l = 0; l < LANES; ++l) {
                    const real dx = qx - g->x[l], form = dx * (g->ixx[l] * dx + across[l]) + down[l];
                    u[l] += g->height[l] * exponential((real)-0.5 * form);
                }
            }
        }
}

/* u of younger heat and its derivatives at a point, in beam widths. */
static field sum_field(const twin *w, double px, double py)
{
    const real qx = (real)px, qy = (real)py;
    real sum[6][LANES] = {{0}};
    for (const gaussians *g = w->old; g < w->old + w->blocks; ++g)
        for (int l = 0; l < LANES; ++l) {
            const real dx = qx - g->x[l], dy = qy - g->y[l];
            const real sx = g->ixx[l] * dx + g->ixy[l] * dy, sy = g->ixy[l] * dx + g->iyy[l] * dy;
            const real u = g->height[l] * exponential((real)-0.5 * (sx * dx + sy * dy));
            sum[0][l] += u;
            sum[1][l] -= u * sx;
            sum[2][l] -= u * sy;
            sum[3][l] += u * (sx * sx - g->ixx[l]);
            sum[4][l] += u * (sx * sy - g->ixy[l]);
            sum[5][l] += u * (sy * sy - g->iyy[l]);
        }
    const field f = {add_up(LANES, sum[0]), add_up(LANES, sum[1]), add_up(LANES, sum[2]),
                     add_up(LANES, sum[3]), add_up(LANES, sum[4]), add_up(LANES, sum[5])};
    return f;
}
