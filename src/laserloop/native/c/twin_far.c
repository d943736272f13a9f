/* Old heat is smooth around the beam: there, and for the few ticks of a plan, it is one polynomial in place and time.

   About a centre c and a moment, with d = c - centre of a Gaussian, A = inv(S), s = A d and a step (a, b) from c:
       exp(-s.(a, b) - (a, b) A (a, b) / 2) = sum k_mn a^m b^n,   m k_mn = -(s_x k_m-1,n + A_xx k_m-2,n + A_xy k_m-1,n-1)
   In time a Gaussian obeys u_t = grow/2 (u_xx + u_yy), but for its factor D / sqrt(tau), whose change is kept to second
   order. What is left out of a Gaussian of width v is less than (step / v)^6 / 24 of its height (Cramer's bound), so how
   wide heat must be, over the length of the steps, says how exact this is. */

#include "twin_types.h"

#define COARSE 0.01 /* of the bottom's time: a horizon in which what is left above it does not fall in a straight line */
#define STILL 25.0 /* ages, over the ticks from its middle to the ends of a plan, from which on heat changes slowly in it */

/* out = -(s one + i two + c both) / of */
INLINE void recur(int of, const real *restrict s, const real *restrict one, const real *restrict i, const real *restrict two,
                  const real *restrict c, const real *restrict both, real *restrict out)
{
    const real per = (real)(-1.0 / of);
    for (int l = 0; l < LANES; ++l)
        out[l] = per * (s[l] * one[l] + i[l] * two[l] + c[l] * both[l]);
}

/* Add the coefficients of a block of Gaussians, or of an image: of u, and of the first and second change of its factors. */
static void add_far_block(twin *w, int j, int image, const double *centre, double moment)
{
    static const real zero[LANES] = {0};
    double sign[2], add[2];
    find_image(w, image, sign, add);
    const real grow = (real)w->grow, depth = (real)w->depth, turn = (real)(sign[0] * sign[1]);
    const real left = (real)sign[0], cx = (real)(centre[0] - add[0]), down = (real)sign[1], cy = (real)(centre[1] - add[1]);
    real(*restrict k)[ORDER + 1][LANES] = w->term, (*restrict sum)[LANES] = w->sum;
    real sx[LANES], sy[LANES], ixx[LANES], ixy[LANES], iyy[LANES], change[2][LANES];
    for (int l = 0, g = j; l < LANES; ++l, ++g) {
        const real age = (real)(moment - w->t[g]), tau = grow * age, half = (real)0.5 / age;
        const real above = left_above_bottom(depth * age), later = left_above_bottom(depth * (age + (real)N));
        const real falls = (later / above - (real)1) * (real)(1.0 / N);
        const real xx = w->xx[g] + tau + (real)1, yy = w->yy[g] + tau + (real)1, xy = turn * w->xy[g];
        const real det = xx * yy - xy * xy, one = (real)1 / det, dx = cx - left * w->x[g], dy = cy - down * w->y[g];
        ixx[l] = yy * one;
        ixy[l] = -xy * one;
        iyy[l] = xx * one;
        sx[l] = (yy * dx - xy * dy) * one;
        sy[l] = (xx * dy - xy * dx) * one;
        change[0][l] = falls - half;
        change[1][l] = half * ((real)1.5 * half - falls);
        k[0][0][l] = above * w->e[g] * inverse_root(tau * det) * exponential((real)-0.5 * (sx[l] * dx + sy[l] * dy));
    }
    for (int n = 1; n <= ORDER; ++n)
        recur(n, sy, k[0][n - 1], iyy, n > 1 ? k[0][n - 2] : zero, ixy, zero, k[0][n]);
    for (int m = 1; m <= ORDER; ++m)
        for (int n = 0; n <= ORDER - m; ++n)
            recur(m, sx, k[m - 1][n], ixx, m > 1 ? k[m - 2][n] : zero, ixy, n > 0 ? k[m - 1][n - 1] : zero, k[m][n]);
    for (int m = 0, c = 0; m <= ORDER; ++m)
        for (int n = 0; n <= ORDER - m; ++n, ++c)
            for (int l = 0; l < LANES; ++l)
                sum[c][l] += k[m][n][l];
    for (int m = 0, c = TERMS; m <= ORDER - 2; ++m)
        for (int n = 0; n <= ORDER - 2 - m; ++n, c += 2)
            for (int l = 0; l < LANES; ++l) {
                sum[c][l] += change[0][l] * k[m][n][l];
                sum[c + 1][l] += change[1][l] * k[m][n][l];
            }
}

/* out += factor (q_xx + q_yy) */
static void add_bend(double factor, double (*q)[ORDER + 1], double (*out)[ORDER + 1])
{
    for (int m = 0; m <= ORDER - 2; ++m)
        for (int n = 0; n <= ORDER - 2 - m; ++n)
            out[m][n] += factor * ((m + 2) * (m + 1) * q[m + 2][n] + (n + 2) * (n + 1) * q[m][n + 2]);
}

/* The first of the history's Gaussians that is younger than an age at a moment, rounded down to whole blocks. */
static int find_young(const twin *w, double moment, double age)
{
    int low = 0, high = w->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (moment - w->t[middle] >= age)
            low = middle + 1;
        else
            high = middle;
    }
    return low / LANES * LANES;
}

/* The polynomial of sums: u(t) = exp(grow t/2 (d_xx + d_yy)) of the Gaussians with their factors at t. */
static void set_far(double grow, real (*sum)[LANES], far_heat *f)
{
    double bend[ORDER + 1][ORDER + 1] = {{0}};
    memset(f->c, 0, sizeof f->c);
    for (int m = 0, c = 0; m <= ORDER; ++m)
        for (int n = 0; n <= ORDER - m; ++n)
            f->c[0][m][n] = add_up(LANES, sum[c++]);
    for (int m = 0, c = TERMS; m <= ORDER - 2; ++m)
        for (int n = 0; n <= ORDER - 2 - m; ++n) {
            f->c[1][m][n] = add_up(LANES, sum[c++]);
            f->c[2][m][n] = add_up(LANES, sum[c++]);
        }
    add_bend(0.5 * grow, f->c[0], bend);
    add_bend(0.5 * grow, f->c[1], f->c[2]);
    add_bend(0.25 * grow, bend, f->c[2]);
    for (int m = 0; m <= ORDER - 2; ++m)
        for (int n = 0; n <= ORDER - 2 - m; ++n)
            f->c[1][m][n] += bend[m][n];
}

/* Expand old heat about a place, in beam widths, for steps of some length, and a moment, for so many ticks either way. */
static void expand_far(twin *w, const process *p, const double *centre, double length, double moment, double ticks)
{
    const double wide = p->smooth * length, old = (wide * wide - 1.0) / w->grow;
    memset(&w->far, 0, sizeof w->far);
    memset(w->sum, 0, sizeof w->sum);
    memcpy(w->far.centre, centre, sizeof w->far.centre);
    memcpy(w->far.wall, w->wall, sizeof w->far.wall);
    w->far.length = length;
    w->far.moment = moment;
    w->far.ticks = ticks;
    w->far.count = w->depth * N > COARSE ? 0 : find_young(w, moment, old > STILL * ticks ? old : STILL * ticks);
    for (int j = 0; j < w->far.count; j += LANES) {
        int images[IMAGES];
        const int count = list_images(w, p, j, centre, length, moment, images);
        for (int k = 0; k < count; ++k)
            add_far_block(w, j, images[k], centre, moment);
    }
    if (w->far.count > 0)
        set_far(w->grow, w->sum, &w->far);
}

/* Whether the polynomial holds for steps of some length about a place, between two moments. */
static int is_told(const twin *w, const double *centre, double length, double from, double to)
{
    const far_heat *f = &w->far;
    const double dx = centre[0] - f->centre[0], dy = centre[1] - f->centre[1], rest = f->length - length;
    return rest >= 0.0 && dx * dx + dy * dy <= rest * rest && from >= f->moment - f->ticks && to <= f->moment + f->ticks &&
           w->wall[0] == f->wall[0] && w->wall[1] == f->wall[1];
}

/* Old heat at a moment, into f->now. */
static void move_far(far_heat *f, double moment)
{
    const double ticks = moment - f->moment;
    for (int m = 0; m <= ORDER && f->count > 0; ++m)
        for (int n = 0; n <= ORDER - m; ++n)
            f->now[m][n] = f->c[0][m][n] + ticks * (f->c[1][m][n] + ticks * f->c[2][m][n]);
}

/* Add u of old heat on a grid, LINES to a row. */
static void add_far_grid(const far_heat *f, const grid *at, double *u)
{
    for (int r = 0; r < at->tall && f->count > 0; ++r) {
        const double b = at->y[r] - f->centre[1];
        double row[ORDER + 1];
        for (int m = 0; m <= ORDER; ++m) {
            row[m] = 0.0;
            for (int n = ORDER - m; n >= 0; --n)
                row[m] = row[m] * b + f->now[m][n];
        }
        for (int c = 0; c < at->wide; ++c) {
            const double a = at->x[c] - f->centre[0];
            double sum = 0.0;
            for (int m = ORDER; m >= 0; --m)
                sum = sum * a + row[m];
            u[r * LINES + c] += sum;
        }
    }
}

/* Add u of old heat and its derivatives at a point, in beam widths. */
static void add_far_field(const far_heat *f, const double *point, field *sum)
{
    const double a = point[0] - f->centre[0], b = point[1] - f->centre[1];
    field s = {0, 0, 0, 0, 0, 0};
    if (f->count == 0)
        return;
    for (int m = ORDER; m >= 0; --m) {
        double u = 0.0, first = 0.0, second = 0.0; /* halves of second derivatives */
        for (int n = ORDER - m; n >= 0; --n) {
            second = second * b + first;
            first = first * b + u;
            u = u * b + f->now[m][n];
        }
        s.xx = s.xx * a + s.x;
        s.x = s.x * a + s.u;
        s.u = s.u * a + u;
        s.xy = s.xy * a + s.y;
        s.y = s.y * a + first;
        s.yy = s.yy * a + second;
    }
    sum->u += s.u;
    sum->x += s.x;
    sum->y += s.y;
    sum->xx += 2.0 * s.xx;
    sum->xy += s.xy;
    sum->yy += 2.0 * s.yy;
}
