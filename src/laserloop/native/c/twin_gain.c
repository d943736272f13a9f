/* The few numbers that images correct, by one Kalman filter: what is measured over what is expected, by how many ticks power
   and places are late, and where images lie. */

#include "twin_types.h"

typedef struct {
    double state[SLOW], spread[SLOW][SLOW];
} slow;

/* The slow numbers, to be put back if what changed them is not believed after all. */
INLINE slow get_slow(const twin *w)
{
    slow s;
    memcpy(s.state, w->state, sizeof s.state);
    memcpy(s.spread, w->spread, sizeof s.spread);
    return s;
}

INLINE void put_slow(twin *w, const slow *s)
{
    memcpy(w->state, s->state, sizeof s->state);
    memcpy(w->spread, s->spread, sizeof s->spread);
}

/* Variances of the slow numbers at the start. */
static void set_start(const process *p, double (*spread)[SLOW])
{
    const double late = p->stamp * p->stamp + p->apart * p->apart, placed = p->placed * p->placed;
    memset(spread, 0, SLOW * sizeof *spread);
    spread[GAIN][GAIN] = p->prior * p->prior;
    spread[POWER_LATE][POWER_LATE] = spread[PLACE_LATE][PLACE_LATE] = late;
    spread[POWER_LATE][PLACE_LATE] = spread[PLACE_LATE][POWER_LATE] = p->stamp * p->stamp;
    spread[OFFSET_X][OFFSET_X] = spread[OFFSET_Y][OFFSET_Y] = placed;
}

/* Let ticks pass: the slow numbers may have wandered. */
static void wait_gain(twin *w, const process *p, double ticks)
{
    const double drift[SLOW] = {p->walk, p->drift, p->drift, p->drift, p->drift};
    double start[SLOW][SLOW];
    set_start(p, start);
    for (int i = 0; i < SLOW; ++i) {
        const double was = w->spread[i][i], grown = was + ticks * drift[i] * drift[i];
        const double most = start[i][i] > was ? start[i][i] : was;
        w->spread[i][i] = grown < most ? grown : most;
    }
}

/* Take in one number, a sum of the slow ones with weights h: by how much it is off, and its variance. */
static void take_number(twin *w, const process *p, const double *h, double off, double variance)
{
    double along[SLOW], all = variance;
    for (int i = 0; i < SLOW; ++i) {
        along[i] = dot(SLOW, w->spread[i], h);
        all += along[i] * h[i];
    }
    for (int i = 0; i < SLOW; ++i) {
        w->state[i] += along[i] / all * off;
        for (int j = 0; j < SLOW; ++j)
            w->spread[i][j] -= along[i] / all * along[j];
    }
    w->state[POWER_LATE] = clamp(w->state[POWER_LATE], -p->most_late, p->most_late);
    w->state[PLACE_LATE] = clamp(w->state[PLACE_LATE], -p->most_late, p->most_late);
}

/* How late power and places are is as unknown as at the start. */
INLINE void forget_lag(twin *w, const process *p)
{
    double start[SLOW][SLOW];
    set_start(p, start);
    for (int i = POWER_LATE; i <= PLACE_LATE; ++i) {
        w->state[i] = 0.0;
        for (int j = 0; j < SLOW; ++j)
            w->spread[i][j] = w->spread[j][i] = start[i][j];
    }
}

/* How late power is is less certain. */
static void doubt_lag(twin *w, const process *p)
{
    const double most = p->stamp * p->stamp + p->apart * p->apart, now = w->spread[POWER_LATE][POWER_LATE] + p->doubt * p->doubt;
    w->spread[POWER_LATE][POWER_LATE] = now < most ? now : most;
}

/* Take in a ratio of measured to expected and its standard deviation; `change`: what a tick's delay of the power changes in
   what is expected, of itself. A single one far off is a bad frame and left out; if the next says the same, the
   plant has changed. Returns 0 if it was left out. */
static int read_gain(twin *w, const process *p, double ratio, double noise, double change)
{
    const double size = change * change, flat = p->flat * p->flat, slope = size > flat ? change * (1.0 - flat / size) : 0.0;
    const double late = w->state[POWER_LATE], unknown = w->spread[POWER_LATE][POWER_LATE];
    const double crude = p->crude * slope * sqrt(late * late + unknown);
    const double variance = noise * noise + p->error * p->error + crude * crude, off = ratio - w->state[GAIN];
    const double h[SLOW] = {1.0, w->state[GAIN] * slope, 0.0, 0.0, 0.0}, least = (1.0 - p->fall) * w->state[GAIN];
    double spread = 0.0;
    if (!(ratio + p->gate * noise >= p->gain_low)) { /* true of NaN; what reads too hot is believed in the end */
        ++w->refused;
        return 0;
    }
    for (int i = 0; i < SLOW; ++i)
        spread += h[i] * dot(SLOW, w->spread[i], h);
    if (!(fabs(off) <= p->gate * sqrt(spread + variance))) {
        const double same = p->gate * sqrt(2.0 * variance + p->walk * p->walk);
        const int hotter = off > 0.0 && w->outlier > w->state[GAIN];
        if (!w->has_outlier || !(hotter || fabs(ratio - w->outlier) <= same)) {
            w->has_outlier = ratio == ratio;
            w->outlier = ratio;
            ++w->refused;
            doubt_lag(w, p); /* a wrong one makes good readings look bad */
            return 0;
        }
        for (int i = 0; i < SLOW; ++i)
            w->spread[GAIN][i] = w->spread[i][GAIN] = 0.0;
        w->spread[GAIN][GAIN] = off * off;
    }
    w->has_outlier = 0;
    take_number(w, p, h, off, variance);
    if (w->state[GAIN] < least) { /* the rest may come with the next readings */
        w->state[GAIN] = least;
        w->spread[GAIN][GAIN] = w->spread[GAIN][GAIN] > off * off ? w->spread[GAIN][GAIN] : off * off;
    }
    w->state[GAIN] = clamp(w->state[GAIN], p->gain_low, p->gain_high);
    return 1;
}

/* Take in by how much the spot lies off from where it is expected, in beam widths, and how far that may be wrong along each
   axis; `hop`: the way of the beam in the tick, `turned`: how much that differs from those before; `believed`: how much of
   it is. Returns 0 if it is far off and left out, but not twice in a row. */
static int read_place(twin *w, const process *p, const double *off, const double *hop, double turned, double noise,
                      double *believed)
{
    const double turn = p->turned * turned, unknown = w->spread[PLACE_LATE][PLACE_LATE];
    const double variance = noise * noise + p->rough * p->rough + turn * turn * unknown;
    double before[SLOW], h[2][SLOW] = {{0.0}};
    int near = 1;
    memcpy(before, w->state, sizeof before);
    for (int axis = 0; axis < 2; ++axis) {
        double spread = variance;
        h[axis][OFFSET_X + axis] = 1.0;
        h[axis][PLACE_LATE] = -hop[axis];
        for (int i = 0; i < SLOW; ++i)
            spread += h[axis][i] * dot(SLOW, w->spread[i], h[axis]);
        near = near && fabs(off[axis]) <= p->gate * sqrt(spread);
    }
    if (!near) {
        w->is_astray = !w->is_astray;
        w->refused += w->is_astray;
        if (w->is_astray)
            return 0;
        for (int axis = OFFSET_X; axis <= OFFSET_Y; ++axis) { /* the camera was knocked */
            for (int i = 0; i < SLOW; ++i)
                w->spread[axis][i] = w->spread[i][axis] = 0.0;
            w->spread[axis][axis] = off[0] * off[0] + off[1] * off[1];
        }
    }
    w->is_astray = 0;
    for (int axis = 0; axis < 2; ++axis) {
        double gone = 0.0;
        for (int i = 0; i < SLOW; ++i)
            gone += h[axis][i] * (w->state[i] - before[i]);
        take_number(w, p, h[axis], off[axis] - gone, variance);
    }
    for (int axis = 0; axis < 2; ++axis) {
        believed[axis] = 0.0;
        for (int i = 0; i < SLOW; ++i)
            believed[axis] += h[axis][i] * (w->state[i] - before[i]);
    }
    return 1;
}
