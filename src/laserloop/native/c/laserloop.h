/* laserloop: the power of a moving laser, one tick at a time.

   Four functions, static memory, no allocation, no input or output, no locks. Call them from one thread, every
   LASERLOOP_TICK seconds. laserloop_config.h says which model this is and what it was made for. */

#ifndef LASERLOOP_H
#define LASERLOOP_H

#include "laserloop_config.h"

enum {
    LASERLOOP_SOLVED = 0,        /* the optimum */
    LASERLOOP_STOPPED = 1,       /* iteration cap reached: best plan so far */
    LASERLOOP_INFEASIBLE = 2,    /* no plan keeps the upper bound: coolest plan */
    LASERLOOP_NO_PREDICTION = 3, /* the prediction is not finite: previous plan shifted by one tick */
    LASERLOOP_EXHAUSTED = 4,     /* the same, but no plan is left: least power */
    LASERLOOP_IMPLAUSIBLE = 5    /* the input is not credible: previous plan shifted by one tick */
};

typedef struct {
    double kinematics[LASERLOOP_HORIZON][4]; /* x, y in m and their velocities in m/s, at the start of each tick */
    double temps[LASERLOOP_HORIZON + 1];     /* K: T_max, then the surface now where the beam will be after each tick */
    double location[2];                      /* m, where T_max is; the origin is the centre of the plate */
    double previous;                         /* W, the power before the plan's first */
    int committed_count;                     /* powers given since the image was taken; at most LASERLOOP_HORIZON - 1 */
    double committed[LASERLOOP_HORIZON];     /* W, these powers */
    int dark[LASERLOOP_HORIZON];             /* ticks of the plan in which the path has the laser off; 0: lit */
    int was_dark;                            /* whether the tick before the plan was such a tick */
    const double *start;                     /* W, a plan to begin the search with; NULL: hold the last power */
} laserloop_input;

typedef struct {
    double plan[LASERLOOP_HORIZON];      /* W, the committed powers first, 0 in dark ticks */
    double predicted[LASERLOOP_HORIZON]; /* K, T_max at the end of each tick; NaN if nothing was predicted */
    int status;
    int iterations;
} laserloop_output;

/* Forget everything; the next tick is the first. Restores the window of the export. */
void laserloop_init(void);

/* Keep T_max between low and high, K, from the next tick on. Returns 0, or -1 if that is no window. */
int laserloop_set_window(double low, double high);

/* The power of the coming tick, W. Within LASERLOOP_POWER_LOW and _HIGH, or 0 in a dark tick; `out` may be NULL. */
double laserloop_step(const laserloop_input *in, laserloop_output *out);

/* The status of the last step and, if `sentence` is not NULL, what it means. */
int laserloop_status(const char **sentence);

#endif
