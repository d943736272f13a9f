/* laserloop: the power of a moving laser by a trained network, one tick at a time.

   No allocation, no input or output, no locks, nothing hidden: all that is remembered lies in the handle. A handle belongs
   to one thread; other handles may be in others. laserloop_network_config.h says which model this is and what it was made
   for. Lengths are in m from the centre of the plate. */

#ifndef LASERLOOP_NETWORK_H
#define LASERLOOP_NETWORK_H

#include "laserloop_network_config.h"

#include <stddef.h>

#define LASERLOOP_NETWORK_VERSION 2 /* of this interface */

#if defined(__GNUC__)
#define LASERLOOP_NETWORK_ALIGNED __attribute__((aligned(64)))
#else
#define LASERLOOP_NETWORK_ALIGNED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One laser. Make it static, or take memory of sizeof(struct laserloop_network) at a multiple of 64. */
struct laserloop_network {
    union {
        double number;
        long long whole;
        unsigned char bytes[LASERLOOP_NETWORK_BYTES];
    } memory;
} LASERLOOP_NETWORK_ALIGNED;

/* What became of the image. From LASERLOOP_NETWORK_IMPLAUSIBLE on it is not believed, and the power is held. */
enum {
    LASERLOOP_NETWORK_TAKEN = 0,       /* planned with */
    LASERLOOP_NETWORK_IMPLAUSIBLE = 1, /* it cannot be of a plate, or its peak is not on it */
    LASERLOOP_NETWORK_FROZEN = 2,      /* it is called new, but it is the last one */
    LASERLOOP_NETWORK_TOO_OLD = 3,     /* older than any plan */
    LASERLOOP_NETWORK_NOT_READ = 4     /* not looked at, because of the status */
};

/* How the power was decided. HELD, NO_PREDICTION and BAD_PLACE hold: what is left of the last plan. When nothing is left:
   EXHAUSTED. */
enum {
    LASERLOOP_NETWORK_SOLVED = 0,        /* the optimum */
    LASERLOOP_NETWORK_STOPPED = 1,       /* iteration cap reached: best plan so far */
    LASERLOOP_NETWORK_INFEASIBLE = 2,    /* no plan keeps the upper bound: the one that leaves it least */
    LASERLOOP_NETWORK_HELD = 3,          /* the image is not believed */
    LASERLOOP_NETWORK_NO_PREDICTION = 4, /* the prediction is not finite */
    LASERLOOP_NETWORK_BAD_PLACE = 5,     /* the beam cannot be there, or the model has never been */
    LASERLOOP_NETWORK_LEAST = 6,         /* the image is not believed, and hotter than the window or too old: least power in this tick */
    LASERLOOP_NETWORK_EXHAUSTED = 7,     /* held for longer than a plan: least power until the next begin */
    LASERLOOP_NETWORK_BAD_TICK = 8,      /* no input, or its tick number goes back or jumps: least power, nothing is changed */
    LASERLOOP_NETWORK_BUSY = 9,          /* entered while another call is running: least power, nothing is changed */
    LASERLOOP_NETWORK_NOT_BEGUN = 10     /* laserloop_network_begin did not succeed: no power at all */
};

/* Bits of what was ever wrong since begin. */
#define LASERLOOP_NETWORK_FAULT_OF_IMAGE(code) (1UL << (code))         /* from LASERLOOP_NETWORK_IMPLAUSIBLE on */
#define LASERLOOP_NETWORK_FAULT_OF_STATUS(code) (1UL << (16 + (code))) /* all but LASERLOOP_NETWORK_SOLVED */
#define LASERLOOP_NETWORK_FAULT_MISSED (1UL << 29)                     /* calls were missed */
#define LASERLOOP_NETWORK_FAULT_DOUBLED (1UL << 30)                    /* a tick was asked for again */

typedef struct {
    unsigned tick;                                   /* one more with every tick, whether or not a call was missed; may wrap */
    double kinematics[LASERLOOP_NETWORK_HORIZON][4]; /* x, y in m and their velocities in m/s, at the start of each tick */
    double temps[LASERLOOP_NETWORK_HORIZON + 1];     /* K: T_max, then the surface now where the beam will be after each tick */
    double location[2];                              /* m, where T_max is */
    double previous;                                 /* W, the power before the plan's first */
    int committed_count;                             /* powers given since the image was taken; at most HORIZON - 1 */
    double committed[LASERLOOP_NETWORK_HORIZON];     /* W, these powers */
    int dark[LASERLOOP_NETWORK_HORIZON];             /* ticks of the plan in which the path has the laser off; 0: lit */
    int was_dark;                                    /* whether the tick before the plan was such a tick */
    const double *start;                             /* W, a plan to begin the search with; NULL: hold the last power */
} laserloop_network_input;

typedef struct {
    double plan[LASERLOOP_NETWORK_HORIZON];      /* W, the committed powers first, 0 in dark ticks */
    double predicted[LASERLOOP_NETWORK_HORIZON]; /* K, T_max at the end of each tick; NaN if nothing was predicted */
    unsigned long faults;                        /* since begin */
    int status;                                  /* how the power was decided */
    int image;                                   /* what became of the image */
    int missed;                                  /* calls that were missed before this one */
    int iterations;
} laserloop_network_output;

/* Forget everything, and the window of the export. Returns 0, or -1 if this cannot work: the handle is not where it may be,
   or the compiler was told to change what arithmetic means. Then no begin succeeds. */
int laserloop_network_init(struct laserloop_network *laser);

/* A layer, part or vector begins; faults are cleared. Returns 0, or -1: then nothing may be lit. */
int laserloop_network_begin(struct laserloop_network *laser);

/* The power of the coming tick, W: within LASERLOOP_NETWORK_POWER_LOW and _HIGH, or 0 in a dark tick. `out` may be NULL. */
double laserloop_network_step(struct laserloop_network *laser, const laserloop_network_input *in, laserloop_network_output *out);

/* It is done: no power until the next begins. */
void laserloop_network_end(struct laserloop_network *laser);

/* Keep T_max between low and high, K, from the next tick on. Returns 0, or -1 if that is no window. */
int laserloop_network_set_window(struct laserloop_network *laser, double low, double high);

/* Of the last step; if `sentence` is not NULL, also what it means. */
int laserloop_network_status(const struct laserloop_network *laser, const char **sentence);
int laserloop_network_image(const struct laserloop_network *laser, const char **sentence);

/* What was ever wrong since begin. */
unsigned long laserloop_network_faults(const struct laserloop_network *laser);

/* sizeof(struct laserloop_network) as it was compiled. */
size_t laserloop_network_size(void);

#ifdef __cplusplus
}
#endif

#endif
