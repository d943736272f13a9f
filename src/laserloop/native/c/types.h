/* What all parts share: sizes, the two kinds of numbers, and the memory of a controller.

   N  horizon      n  free moves      W  width, padded      p  plan, P/P_max      x (n)  free moves of p
   T  prediction, K      J = dT/dx (N, n)      t = r + J x  its linearisation
   f(x) = x'Hx/2 + g'x  power, moves and tracking
   psi(t) = below * max(0, floor - t) + above * max(0, t - ceiling)

   The network's arithmetic is `real`; the optimiser is double, because `above` times J against H spans ten orders. */

#ifndef LASERLOOP_TYPES_H
#define LASERLOOP_TYPES_H

#ifndef LASERLOOP_HORIZON
#include "laserloop_config.h"
#endif

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "NaN must keep its meaning and sums their order: compile without -ffast-math, -ffinite-math-only, -fassociative-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "float and double must be rounded to their own width: compile for SSE2 or another such unit (x86: -msse2 -mfpmath=sse)"
#endif
#if FLT_RADIX != 2 || FLT_MANT_DIG != 24 || DBL_MANT_DIG != 53
#error "float and double must be those of IEEE 754, of 32 and 64 bits: use a compiler that has them (AVR: -mdouble=64)"
#endif
#if INT_MAX < 2147483647
#error "int must have at least 32 bits: use a processor that has them"
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(LASERLOOP_ENGINE)
#pragma GCC optimize("no-trapping-math", "no-math-errno") /* no exception is looked at: selects and roots are vectorised at -O2 */
#endif

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline)) /* what never runs at the same time shares its stack */
#else
#define ALIGNED
#define INLINE static inline
#define APART static
#endif

#define N LASERLOOP_HORIZON
#define W LASERLOOP_WIDTH
#define F LASERLOOP_FEATURES /* what the trunk reads */
#define RANK LASERLOOP_RANK  /* of the trunk's last layer times the branch's */
#define LANES 16             /* floats in two AVX2 registers or one cache line */
#define S (N * W + (N + LANES - 1) / LANES * LANES) /* of [C | c], row by row, padded */
#ifdef LASERLOOP_WIDTH
#define KINKS 12             /* most rows for kinks in a QP */
#else
#define KINKS 1
#endif
#define BOUND N              /* rows of the QP: predictions, then bounds of the moves, then kinks of the network */
#define KINK (2 * N)
#define ROWS (2 * N + KINKS)
#define MATCH 0.01           /* K: the linear prediction is trusted when the network agrees this well */

/* ASLEEP: a unit's value that is left out, of which smoothing leaves many; FLAT: a change of slope that is none;
   BENT: how far off its tangent a unit still is linear. In single they cost 0.005 K of prediction. */
#if LASERLOOP_DOUBLE
typedef double real;
#define ROOT(x) sqrt(x)
#define MAGNITUDE(x) fabs(x)
#define ASLEEP 1e-6
#define FLAT 1e-6
#define BENT 1e-12
#else
typedef float real;
#define ROOT(x) sqrtf(x)
#define MAGNITUDE(x) fabsf(x)
#define ASLEEP 1e-5f
#define FLAT 1e-4f
#define BENT 2e-6f
#endif

/* states of a row of the QP: below its lower level, on it, between, on the upper one, above that */
enum { BELOW = -2, FLOOR = -1, INSIDE = 0, CEILING = 1, ABOVE = 2 };
enum { SOLVED = 0, STOPPED = 1, INFEASIBLE = 2, NO_PREDICTION = 3 };

#ifdef LASERLOOP_WIDTH /* with a network */
/* An MS-DeepONet laid out for a tick, scalers and the trunk's last layer inside:
   once per tick   a = a0 + K'x,  h = sigma(T1' sigma(T0'y + t0) + t1),  [C | c] = m + M' T2' h
   every plan      T = C sigma(W1' sigma(A'p + a) + b) + c */
typedef struct {
    real K[4 * N][W], a[W];
    real T0[F][W], t0[W], T1[W][W], t1[W];
    real T2[W][RANK], M[RANK][S], m[S];
    real A[N][W], W1[W][W], b[W];
    double way_mean[4 * N], way_scale[4 * N];
    double heat_mean[F], heat_scale[F];
    int seen[F];
} network;
#endif

typedef struct {
    double low, high;                   /* K, the window */
    double margin_above, margin_below;  /* K */
    double below, above;                /* price of a kelvin outside */
    double power_cost, move_cost, tracking_cost;
    double least, full;                 /* W */
    double floor, ceiling, middle, tracking; /* worked out by set_window */
    int blocks[N];                      /* the move that each tick takes */
    int cap;                            /* of the iterations */
} problem;

/* What a tick leaves open. Powers in units of P_max. */
typedef struct {
    int first;     /* powers given already: the first of the plan */
    int n;         /* free moves */
    int free[N];   /* ticks whose power can be chosen; the temperatures of the others do not count */
    int moves[N];  /* ticks whose change of power has a price: with light in it and in the one before */
    double before; /* the power before the plan */
} tick;

#ifdef LASERLOOP_WIDTH
typedef struct {
    real a[W], Cc[S];
    real z1[W], u1[W], s1[W], z2[W], u2[W], s2[W]; /* both layers: argument, sigma and its slope */
    real AS[N][W], D[N][W], G[N][W];                /* first layer by moves, dz2/dx at the base, C diag(s2) */
    real base_z1[W], base_u1[W], base_s1[W], base_z2[W];
    double base_x[N];
    real change[W], share[N][W];
    real weight[W], back[W];                        /* price of each unit of layer 2, and the same times its slope */
    real size[W], mix[RANK], features[4 * N + F];
    int near[W], rows[W + RANK + 4 * N];
} forecast;
#endif

typedef struct {
    double a[ROWS][N], across[N][ROWS]; /* normals, and the same by columns */
    double low[ROWS], high[ROWS], below[ROWS], above[ROWS];
    double up[ROWS], down[ROWS], slope[ROWS]; /* the next level either way, and what a row outside adds to v */
    double Q[N][N], R[N][N], pivot[N], L[N][N], inverse[N], centre[N], v[N], y[N], w[N], u[N], z[N];
    double t[ROWS], speed[ROWS], size[ROWS], reach[ROWS], lam[ROWS];
    int order[N], taken[ROWS];
    int n;                              /* free moves; the others touch nothing */
    double radius;                      /* of a step */
    int steps;                          /* walked in the last QP; 0: its working set was right at once, -1: too many */
    int kinks, unit[KINKS];             /* rows in use, and their units: layer 1, then layer 2 */
    double normal[KINKS][N], level[KINKS], weight[KINKS], slope_now[KINKS];
} program;

typedef struct {
#ifdef LASERLOOP_WIDTH
    forecast f ALIGNED;
#endif
    program q;
    int state[ROWS]; /* the working set of the last QP, with which the next begins */
    double H[N][N], Hq[N][N], J[N][N];
    double g[N], gq[N], r[N], x[N], z[N], step[N], xa[N], za[N];
    double plan[N], T[N], trial[N], Tt[N], linear[N], best[N], Tb[N];
} workspace;

INLINE double clamp(double x, double low, double high) /* NaN becomes low */
{
    return x > low ? (x < high ? x : high) : low;
}

INLINE double dot(int n, const double *x, const double *y)
{
    double total = 0.0;
    for (int j = 0; j < n; ++j)
        total += x[j] * y[j];
    return total;
}

static void copy(double *to, const double *from)
{
    memcpy(to, from, N * sizeof *to);
}

static int is_finite(int count, const double *x)
{
    double total = 0.0;
    for (int i = 0; i < count; ++i)
        total += x[i] * 0.0;
    return total == 0.0;
}

/* Whether arithmetic means what it says: a few compiler flags that change that leave no macro behind. */
static inline int is_arithmetic_exact(void)
{
    volatile double third = 1.0 / 3.0, zero = 0.0;
    const double x = third, large = 6755399441055744.0, nan = zero / zero; /* 1.5 * 2^52: nothing is left of a third */
    return (x + large) - large == 0.0 && nan != nan && !(nan <= 1.0) && !(nan >= 1.0);
}

#endif
