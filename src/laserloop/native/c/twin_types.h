/* The physics twin: heat as superposed moving Gaussians. What its parts share.

   Lengths are in beam widths (sigma), ages in ticks, u = int k dT from ambient in W/m.
   age  ticks since the heat was absorbed      tau = grow * age, so that S = C + (1 + tau) I
   u = sum e D(age) / sqrt(tau det S) exp(-d' inv(S) d / 2),  e = energy * alpha / (sqrt(2) pi^1.5 sigma^3) */

#ifndef LASERLOOP_TWIN_TYPES_H
#define LASERLOOP_TWIN_TYPES_H

#include "types.h"

enum {
    NODES = LASERLOOP_NODES, /* Gaussians of the history; beyond, the oldest two merge whatever it costs */
    LIVE = 4 * NODES, /* of them and their images in two sides, those that are felt */
    SPARE = 16,       /* so that loops may run over whole blocks of LANES */
    RULE = 288,       /* points of the rule for the newest ticks */
    DEEP = 32,        /* most of them for one tick */
    WIDE = ((N > 8 ? N : 8) + 7) / 8 * 8, /* ticks of the rule, in whole blocks */
    RECENT = LASERLOOP_RECENT, /* ticks kept one by one: those of the rule, the camera's delay and exposure */
    LEVELS_OF_T = 1024, /* steps of the tables of T(u) and u(T) */
    FRAMES = 8,       /* of an exposure that are looked at, at most */
    LINES = 5,        /* rows and columns of pixels compared with an image, */
    CELLS = (LINES * LINES + LANES - 1) / LANES * LANES, /* all of them, in whole blocks */
    IMAGES = 36,      /* of heat in the sides of a plate: as it is and in the two nearest, each nine times */
    SEEN_ONCE = 16,   /* the first of those that are no copies */
    PAIRS = 8,        /* of neighbours judged each tick */
    ORDER = 5,        /* of the polynomial of far heat */
    TERMS = (ORDER + 1) * (ORDER + 2) / 2, /* up to it, */
    FEWER = (ORDER - 1) * ORDER / 2        /* and to two less */
};

/* what images correct: measured over expected; ticks by which power and places are late; where images lie, in beam widths */
enum { GAIN, POWER_LATE, PLACE_LATE, OFFSET_X, OFFSET_Y, SLOW };

typedef struct {
    double from, per; /* first argument and steps per unit of it */
    double value[LEVELS_OF_T + 1];
} table;

typedef struct {
    double sigma, alpha, plate[3], tick, absorptivity; /* m, m2/s, m, s, 1 */
    double lag_left, lag_mean;                         /* of the laser: what a tick leaves of a difference, at its end and on average */
    double ambient;                                    /* K */
    double worth, faded;                               /* W/m: what a merge may cost, and what is forgotten */
    double prior, walk, error, gate, gain_low, gain_high, fall; /* of the gain */
    double placed, stamp, apart, drift, most_late;     /* of the other slow numbers at the start, in a tick, and at most */
    double crude, doubt, flat, rough, turned, sure;                   /* how wrong a reading may be about them, and what counts as known */
    double dim, start_error;                           /* W absorbed, below which it is dark; of a ratio when the laser comes on */
    double noise, pixel;                               /* K, m; a pixel of 0 reads points */
    double steep, few, subpixel, slender, telling, enough, farthest; /* of the comparison with an image */
    double behind, longest, reach;                     /* of the search for the peak, and of what is felt, in deviations */
    double smooth;                                     /* widths of heat that is far, over the distance it is told for */
    int recent, lags, points;                          /* ticks kept, lags of the rule and its points */
    int exposure, frames;                              /* ticks of an image, and how many of them are looked at */
    int start_ticks;                                   /* until a start is over */
    int lag[RULE];
    double age[RULE], share[RULE], way[RULE];          /* ticks, of the tick's energy, of the tick that had passed */
    table temperature, heat;                           /* K of u, and u of K */
} process;

typedef struct { /* sum over Gaussians: u, its gradient and second derivatives xx, xy, yy */
    double u, x, y, xx, xy, yy;
} field;

typedef struct { /* a block of Gaussians at one moment */
    real x[LANES], y[LANES], ixx[LANES], ixy[LANES], iyy[LANES], height[LANES];
} gaussians;

typedef struct { /* points in rows and columns, in beam widths */
    int wide, tall;
    double x[LINES], y[LINES];
} grid;

typedef struct { /* some pixels, as they are expected and seen */
    double x[CELLS], y[CELLS]; /* in beam widths from the peak */
    double expected[CELLS], seen[CELLS]; /* u, at a gain of 1 */
    double counts[CELLS]; /* 0 of what is broken or not in the image, else 1 */
    double most; /* expected */
} pixels;

typedef struct { /* the newest ticks: a column for each of them, its points below one another */
    real way[DEEP * WIDE], inverse[DEEP * WIDE], height[DEEP * WIDE]; /* of the tick that had passed; of S; per watt */
    real given[DEEP * WIDE];                                          /* height at some watts */
    real x[DEEP * WIDE], y[DEEP * WIDE];                              /* at one moment */
    int size;                                                         /* points, those of no height included */
} newest;

typedef struct { /* where ticks began and ended, in beam widths, and W absorbed in each, newest first */
    real x[WIDE + N + 2], y[WIDE + N + 2], to_x[WIDE + N + 2], to_y[WIDE + N + 2], watts[WIDE + N + 2];
} track;

typedef struct { /* the oldest of the history: u = sum c[k][m][n] ticks^k a^m b^n, a step (a, b) from a centre */
    double centre[2], wall[2], length;                            /* beam widths: of the steps, too */
    double moment, ticks;                                         /* for so many ticks either way */
    int count;                                                    /* Gaussians that it stands for: the first of the history */
    double c[3][ORDER + 1][ORDER + 1], now[ORDER + 1][ORDER + 1]; /* at all moments, and at one */
} far_heat;

typedef struct {
    /* history: energy as e above, mean time in ticks, centre and scatter in beam widths */
    real e[NODES + SPARE], x[NODES + SPARE], y[NODES + SPARE];
    real xx[NODES + SPARE], xy[NODES + SPARE], yy[NODES + SPARE];
    double t[NODES + SPARE];
    int count, cursor;
    /* the newest ticks, in a ring: where each began and ended, and W absorbed; a layer may begin elsewhere at once */
    double place[RECENT][2], end[RECENT][2], watts[RECENT], here[2];
    long long now; /* ticks since the start */
    double emitted; /* W, of a laser with a lag */
    double state[SLOW], spread[SLOW][SLOW], outlier; /* mean and covariance of the slow numbers */
    int has_outlier, is_astray, refused; /* whether the last ratio or place was left out; how many were */
    double offset[2]; /* of the peak from the beam, along the heading and to its left, in beam widths */
    double peak[N][2]; /* in beam widths: where the last plan expects it after each tick, */
    double beam[N][2]; /* m: with the beam there */
    int known[N];      /* and whether it shone */
    long long planned; /* tick in which that was */
    /* worked out from the process */
    double grow, strength, depth; /* per tick; e per joule; alpha tick / h2 */
    double wall[2];               /* the nearest sides, in beam widths */
    int sides;                    /* which of them the newest heat feels: bit 0 in x, bit 1 in y */
    far_heat far;
    int blocks, block[LIVE / LANES], image[LIVE / LANES];  /* of younger heat that is felt: where each begins, as which image */
    gaussians old[LIVE / LANES] ALIGNED; /* those blocks at one moment */
    real term[ORDER + 1][ORDER + 1][LANES] ALIGNED, sum[TERMS + 2 * FEWER][LANES] ALIGNED; /* while far heat is expanded */
    real cell[LINES * LINES][LANES] ALIGNED; /* while heat on a grid is summed */
    pixels compared ALIGNED; /* with an image, the last time */
    newest rule ALIGNED;
    track past, coming; /* up to an image, and up to the end of the plan */
} twin;

#endif
