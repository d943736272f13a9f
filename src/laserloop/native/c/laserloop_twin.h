/* laserloop: the power of a moving laser by the physics of its plate, one tick at a time.

   Static memory, no allocation, no input or output, no locks. Call everything from one thread, laserloop_step once every
   LASERLOOP_TICK seconds. laserloop_config.h says which process this is. Lengths are in m from the centre of the plate. */

#ifndef LASERLOOP_TWIN_H
#define LASERLOOP_TWIN_H

#include "laserloop_config.h"

#ifndef LASERLOOP_UNITS_MAX
#define LASERLOOP_UNITS_MAX 65535 /* what the laser's converter takes for LASERLOOP_POWER_HIGH */
#endif

/* With those of LASERLOOP_NO_PREDICTION to LASERLOOP_BAD_POWER the answer is to hold: what is left of the last plan, but
   never more than the last good power nor than LASERLOOP_POWER_HOLD, and the least power when nothing is left. */
enum {
    LASERLOOP_SOLVED = 0,        /* the optimum */
    LASERLOOP_STOPPED = 1,       /* iteration cap reached: best plan so far */
    LASERLOOP_INFEASIBLE = 2,    /* no plan keeps the upper bound: coolest plan */
    LASERLOOP_NO_PREDICTION = 3, /* the prediction is not finite */
    LASERLOOP_EXHAUSTED = 4,     /* one of the other reasons to hold, but no plan is left: least power */
    LASERLOOP_IMPLAUSIBLE = 5,   /* the measurement cannot be of this plate */
    LASERLOOP_FROZEN = 6,        /* the measurement does not change where it should */
    LASERLOOP_TOO_OLD = 7,       /* the measurement is older than LASERLOOP_OLDEST ticks */
    LASERLOOP_BAD_PLACE = 8,     /* the beam cannot be or go there */
    LASERLOOP_BAD_POWER = 9,     /* no laser of this process can have given that */
    LASERLOOP_BLIND = 10,        /* no new measurement, or one left out as a bad frame: planned without */
    LASERLOOP_NOT_BEGUN = 11     /* laserloop_begin was not called: no power at all */
};

typedef struct {
    double way[LASERLOOP_HORIZON + 1][2]; /* m: where the beam is now, and at the end of each coming tick */
    int dark[LASERLOOP_HORIZON];          /* coming ticks in which the path has the laser off; 0: lit */
    double given;                         /* W, really given in the tick that ends now; not read right after a begin */
    int age;                              /* ticks since the measurement was taken; negative: there is none */
    double peak;                          /* K, the hottest that was seen; not read if there is a frame */
    int columns, rows;                    /* of a frame around the peak; 0: the peak alone */
    const double *x, *y, *T;              /* m, rising, of its pixels, and K: T[row * columns + column] */
} laserloop_input;

typedef struct {
    double plan[LASERLOOP_HORIZON];      /* W, the coming tick first; 0 in dark ticks */
    double predicted[LASERLOOP_HORIZON]; /* K, T_max at the end of each tick; NaN if nothing was planned */
    double place[2];                     /* m, where T_max of the coming tick is expected */
    double gain;                         /* measured over expected: 1 if the process is as it was said to be */
    long units;                          /* the power of the coming tick for the laser's converter */
    int status;
    int iterations;
} laserloop_output;

/* A plate at rest, and the window of the export. */
void laserloop_init(void);

/* A layer or part begins with the beam at x, y, after a pause in s with the laser off, during which the plate cools; its
   heat is kept. Returns 0, or -1 if that is no place or no pause: then nothing may be lit. */
int laserloop_begin(double x, double y, double pause);

/* The power of the coming tick, W: within LASERLOOP_POWER_LOW and _HIGH, or 0 in a dark tick. `out` may be NULL. */
double laserloop_step(const laserloop_input *in, laserloop_output *out);

/* The layer or part is done: no power until the next begins. */
void laserloop_end(void);

/* Forget everything, as before laserloop_init. */
void laserloop_cleanup(void);

/* Keep T_max between low and high, K, from the next tick on. Returns 0, or -1 if that is no window. */
int laserloop_set_window(double low, double high);

/* A power, W, in whole units of the laser's converter, never above LASERLOOP_UNITS_MAX. */
long laserloop_units(double power);

/* The status of the last step and, if `sentence` is not NULL, what it means. */
int laserloop_status(const char **sentence);

#endif
