/* laserloop: the power of a moving laser by the physics of its plate, one tick at a time.

   No allocation, no input or output, no locks, nothing hidden: all that is remembered lies in the handle. A handle belongs
   to one thread; other handles may be in others. laserloop_twin_config.h says which process this is. Lengths are in m from
   the centre of the plate. */

#ifndef LASERLOOP_TWIN_H
#define LASERLOOP_TWIN_H

#include "laserloop_twin_config.h"

#include <stddef.h>

#define LASERLOOP_TWIN_VERSION 2 /* of this interface */

#ifndef LASERLOOP_TWIN_UNITS_MAX
#define LASERLOOP_TWIN_UNITS_MAX 65535 /* what the laser's converter takes for LASERLOOP_TWIN_POWER_HIGH */
#endif

#if defined(__GNUC__)
#define LASERLOOP_TWIN_ALIGNED __attribute__((aligned(64)))
#else
#define LASERLOOP_TWIN_ALIGNED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One laser. Make it static, or take memory of sizeof(struct laserloop_twin) at a multiple of 64. */
struct laserloop_twin {
    union {
        double number;
        long long whole;
        unsigned char bytes[LASERLOOP_TWIN_BYTES];
    } memory;
} LASERLOOP_TWIN_ALIGNED;

/* What a measurement is. */
enum { LASERLOOP_TWIN_NOTHING_SEEN = 0, LASERLOOP_TWIN_PEAK_SEEN = 1, LASERLOOP_TWIN_FRAME_SEEN = 2 };

/* What became of the measurement. From LASERLOOP_TWIN_IMPLAUSIBLE on it is not believed, and the power is held. */
enum {
    LASERLOOP_TWIN_NONE = 0,        /* there was none that is new: planned with what is known */
    LASERLOOP_TWIN_TAKEN = 1,       /* taken in */
    LASERLOOP_TWIN_COLD = 2,        /* nothing to compare: the laser was off, or has hardly heated yet */
    LASERLOOP_TWIN_LEFT_OUT = 3,    /* left out: far from the ones before; if the next says the same, that is taken in */
    LASERLOOP_TWIN_IMPLAUSIBLE = 4, /* it cannot be of this plate */
    LASERLOOP_TWIN_FROZEN = 5,      /* it does not change where it should */
    LASERLOOP_TWIN_TOO_OLD = 6,     /* older than LASERLOOP_TWIN_OLDEST ticks */
    LASERLOOP_TWIN_MISPLACED = 7,   /* its hottest pixel is not where the peak is */
    LASERLOOP_TWIN_TOO_HOT = 8,     /* hotter than the window, and not taken in: least power */
    LASERLOOP_TWIN_IN_FUTURE = 9,   /* its age is negative */
    LASERLOOP_TWIN_NOT_READ = 10    /* not looked at, because of the status */
};

/* How the power was decided. HELD, NO_PREDICTION, BAD_PLACE and BAD_POWER hold: what is left of the last plan, but never
   more than the last good power nor than LASERLOOP_TWIN_POWER_HOLD. When nothing is left: EXHAUSTED. */
enum {
    LASERLOOP_TWIN_SOLVED = 0,        /* the optimum */
    LASERLOOP_TWIN_STOPPED = 1,       /* iteration cap reached: best plan so far */
    LASERLOOP_TWIN_INFEASIBLE = 2,    /* no plan keeps the upper bound: the one that leaves it least */
    LASERLOOP_TWIN_HELD = 3,          /* the measurement is not believed */
    LASERLOOP_TWIN_NO_PREDICTION = 4, /* the prediction is not finite */
    LASERLOOP_TWIN_BAD_PLACE = 5,     /* the beam cannot be or go there */
    LASERLOOP_TWIN_BAD_POWER = 6,     /* no laser of this process can have been told that */
    LASERLOOP_TWIN_LEAST = 7,         /* the plate may be too hot: least power in this tick */
    LASERLOOP_TWIN_EXHAUSTED = 8,     /* held for longer than a plan: least power until the next begin */
    LASERLOOP_TWIN_BAD_TICK = 9,      /* no input, or its tick number goes back or jumps: least power, nothing is changed */
    LASERLOOP_TWIN_BUSY = 10,         /* entered while another call is running: least power, nothing is changed */
    LASERLOOP_TWIN_NOT_BEGUN = 11     /* laserloop_twin_begin did not succeed: no power at all */
};

/* Bits of what was ever wrong since begin. */
#define LASERLOOP_TWIN_FAULT_OF_MEASUREMENT(code) (1UL << (code))   /* from LASERLOOP_TWIN_LEFT_OUT on */
#define LASERLOOP_TWIN_FAULT_OF_STATUS(code) (1UL << (16 + (code))) /* all but LASERLOOP_TWIN_SOLVED */
#define LASERLOOP_TWIN_FAULT_MISSED (1UL << 29)                     /* calls were missed, and made good */
#define LASERLOOP_TWIN_FAULT_DOUBLED (1UL << 30)                    /* a tick was asked for again */
#define LASERLOOP_TWIN_FAULT_METER (1UL << 31)                      /* the power meter contradicts the command: not believed */

/* The power of the tick that ends now. */
typedef struct {
    double commanded; /* W, that the laser was told to give */
    double measured;  /* W, its mean by a power meter; read only if metered */
    int metered;      /* whether there is one; 0: the laser follows its commands as the process says */
} laserloop_twin_power;

typedef struct {
    unsigned tick;                              /* one more with every tick, whether or not a call was missed; may wrap */
    double way[LASERLOOP_TWIN_HORIZON + 1][2];  /* m: where the beam is now, and at the end of each coming tick */
    int dark[LASERLOOP_TWIN_HORIZON];           /* coming ticks in which the path has the laser off; 0: lit */
    laserloop_twin_power power;                 /* not read right after a begin */
    int seen;                                   /* LASERLOOP_TWIN_NOTHING_SEEN, _PEAK_SEEN or _FRAME_SEEN */
    int age;                                    /* ticks since it was taken */
    double peak;                                /* K, the hottest that was seen */
    int columns, rows;                          /* of a frame around the peak */
    const double *x, *y, *T;                    /* m, rising, of its pixels, and K: T[row * columns + column] */
} laserloop_twin_input;

typedef struct {
    double plan[LASERLOOP_TWIN_HORIZON];      /* W, the coming tick first; 0 in dark ticks */
    double predicted[LASERLOOP_TWIN_HORIZON]; /* K, T_max at the end of each tick; NaN if nothing was planned */
    double place[2];                          /* m, where T_max of the coming tick is expected */
    double gain;                              /* measured over expected: 1 if the process is as it was said to be */
    unsigned long faults;                     /* since begin */
    long units;                               /* the power of the coming tick for the laser's converter */
    int status;                               /* how the power was decided */
    int measurement;                          /* what became of the measurement */
    int missed;                               /* calls that were missed before this one, and made good */
    int unmeasured;                           /* ticks since a measurement was taken in, or since begin */
    int iterations;
} laserloop_twin_output;

/* A plate at rest, and the window of the export. Returns 0, or -1 if this cannot work: the handle is not where it may be, or
   the compiler was told to change what arithmetic means. Then no begin succeeds. */
int laserloop_twin_init(struct laserloop_twin *laser);

/* A layer, part or vector begins with the beam at x, y, after a pause in s with the laser off, during which the plate cools;
   its heat is kept, and faults are cleared. Returns 0, or -1 if that is no place or no pause (at most
   LASERLOOP_TWIN_PAUSE_MOST): then nothing may be lit. */
int laserloop_twin_begin(struct laserloop_twin *laser, double x, double y, double pause);

/* The power of the coming tick, W: within LASERLOOP_TWIN_POWER_LOW and _HIGH, or 0 in a dark tick. `out` may be NULL. */
double laserloop_twin_step(struct laserloop_twin *laser, const laserloop_twin_input *in, laserloop_twin_output *out);

/* The layer, part or vector is done: no power until the next begins. `last` is the power of the tick that ends now; NULL: as
   it was told by the last step. */
void laserloop_twin_end(struct laserloop_twin *laser, const laserloop_twin_power *last);

/* Keep T_max between low and high, K, from the next tick on. Returns 0, or -1 if that is no window, or so far from that of
   the export that nothing would be hot enough to be compared. */
int laserloop_twin_set_window(struct laserloop_twin *laser, double low, double high);

/* Of the last step; if `sentence` is not NULL, also what it means. */
int laserloop_twin_status(const struct laserloop_twin *laser, const char **sentence);
int laserloop_twin_measurement(const struct laserloop_twin *laser, const char **sentence);

/* What was ever wrong since begin. */
unsigned long laserloop_twin_faults(const struct laserloop_twin *laser);

/* A power, W, in whole units of the laser's converter, never above LASERLOOP_TWIN_UNITS_MAX. */
long laserloop_twin_units(double power);

/* sizeof(struct laserloop_twin) as it was compiled. */
size_t laserloop_twin_size(void);

#ifdef __cplusplus
}
#endif

#endif
