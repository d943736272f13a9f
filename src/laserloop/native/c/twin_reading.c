/* What a machine says of its measurement: whether it can be, the hottest of it, where that is, and what becomes of it. */

#include "laserloop_twin.h"

#define FROZEN_K 5.0 /* K that the peak expected at one gain has moved while the measured one has not */
#define SHOULDER 0.9 /* of the peak's heat: where more is expected, old heat may be the hottest */
#define SIDE 32 /* pixels that are looked at side by side */
#define NOISY 3.0    /* deviations of the noise above the window that are not yet too hot */

typedef struct {
    double hottest; /* K, or NaN if it has a pixel that is not credible, or none, or too many */
    double sum;     /* tells frames apart */
    double x, y;    /* m: the hottest pixel of a frame, */
    int at_edge;    /* and whether it may be hotter beyond */
} reading;

/* Whether one of the next SIDE pixels reads just that. */
static int has_pixel(const double *T, double value)
{
    int has = 0;
    for (int l = 0; l < SIDE; ++l)
        has |= T[l] == value;
    return has;
}

/* The hottest of some pixels, K, or NaN if one of them is not credible; where it is; and a sum that tells frames apart. */
static double read_pixels(int count, const double *T, int *where, double *print)
{
    double most[SIDE] = {0}, least[SIDE], sum[SIDE] = {0}, coldest = HUGE_VAL, hottest = 0.0;
    int found = 0;
    for (int l = 0; l < SIDE; ++l)
        least[l] = HUGE_VAL;
    for (int j = 0; j < count; j += SIDE) {
        const int rest = count - j < SIDE ? count - j : SIDE;
        double part[SIDE];
        memcpy(part, T + j, (size_t)rest * sizeof *T);
        for (int l = rest; l < SIDE; ++l)
            part[l] = T[j];
        for (int l = 0; l < SIDE; ++l) {
            most[l] = part[l] > most[l] ? part[l] : most[l];
            least[l] = part[l] < least[l] ? part[l] : least[l];
            sum[l] = 1.015625 * sum[l] + part[l]; /* NaN, if one is */
        }
    }
    *print = 0.0;
    for (int l = 0; l < SIDE; ++l) {
        hottest = most[l] > hottest ? most[l] : hottest;
        coldest = least[l] < coldest ? least[l] : coldest;
        *print += (l + 1) * sum[l];
    }
    while (found + SIDE < count && !has_pixel(T + found, hottest))
        found += SIDE;
    while (found < count - 1 && T[found] < hottest)
        ++found;
    *where = found;
    return *print == *print && coldest >= LASERLOOP_TWIN_COLDEST && hottest <= LASERLOOP_TWIN_HOTTEST ? hottest : NAN;
}

/* Whether lines rise and are near the plate. */
static int is_grid(int count, const double *line, double most)
{
    int wrong = !is_within(line[0], -most, most);
    for (int k = 1; k < count; ++k)
        wrong |= !(line[k] >= line[k - 1]);
    return !wrong && line[count - 1] <= most;
}

static void read_frame(const laserloop_twin_input *in, reading *r)
{
    const int columns = in->columns, rows = in->rows;
    int k = 0;
    if (columns < 1 || rows < 1 || columns > LASERLOOP_TWIN_SIDE || rows > LASERLOOP_TWIN_SIDE || !in->x || !in->y || !in->T ||
        !is_grid(columns, in->x, LASERLOOP_TWIN_PLATE_X) || !is_grid(rows, in->y, LASERLOOP_TWIN_PLATE_Y))
        return;
    r->hottest = read_pixels(columns * rows, in->T, &k, &r->sum);
    const int column = k % columns, line = k / columns;
    r->x = in->x[column];
    r->y = in->y[line];
    r->at_edge = (columns > 2 && (column == 0 || column == columns - 1)) || (rows > 2 && (line == 0 || line == rows - 1));
}

APART reading read_measurement(const laserloop_twin_input *in)
{
    reading r = {NAN, 0.0, 0.0, 0.0, 0};
    if (in->seen == LASERLOOP_TWIN_FRAME_SEEN)
        read_frame(in, &r);
    else if (in->seen == LASERLOOP_TWIN_PEAK_SEEN && is_within(in->peak, LASERLOOP_TWIN_COLDEST, LASERLOOP_TWIN_HOTTEST))
        r.hottest = in->peak;
    return r;
}

/* The peak alone: as if a pixel lay just there. */
static int weigh_peak(twin *w, const process *p, int age, double T, comparison *c)
{
    double read[CELLS] = {0.0};
    pixels *b = &w->compared;
    recalled r;
    memset(b, 0, sizeof *b);
    if (!recall_peak(w, p, age, &r))
        return 0;
    note_recalled(w, p, &r, c);
    const grid at = {1, 1, {r.peak[0]}, {r.peak[1]}};
    expect_pixels(w, p, r.top, &at, 1.0, read);
    c->expected = read[0];
    b->expected[0] = b->most = look_up(&p->heat, c->expected, NULL) / w->state[GAIN];
    b->seen[0] = look_up(&p->heat, T, NULL);
    b->counts[0] = 1.0;
    if (!was_lit(w, p, age) || !(w->state[GAIN] * b->most >= p->few) || !(b->seen[0] > 0.0))
        return 0;
    weigh_pixels(w, p, age, b, c);
    return 1;
}

/* Whether a measurement is the last one again, to the last bit. */
static int is_repeated(const door *d, const reading *r)
{
    return d->taken >= 0 && r->hottest == d->hottest && r->sum == d->sum;
}

/* Whether one that repeats should have changed. A frame may follow the beam, so only its temperatures count, and with noise
   no two are the same; a peak should change with what is expected of it at the gain of its first time. */
static int is_frozen(const door *d, const laserloop_twin_input *in, double expected)
{
    const process *p = &exported_process;
    const double told = FROZEN_K + NOISY * p->noise;
    const double dx = d->own.w.here[0] - d->at[0], dy = d->own.w.here[1] - d->at[1];
    const double heat = look_up(&p->heat, expected, NULL) / d->own.w.state[GAIN];
    if (in->seen == LASERLOOP_TWIN_FRAME_SEEN)
        return p->noise > 0.0 || dx * dx + dy * dy > 0.01 * p->sigma * p->sigma;
    return fabs(look_up(&p->temperature, d->trust * heat, NULL) - look_up(&p->temperature, d->trust * d->heat, NULL)) > told;
}

/* Remember a measurement that is another than the last one. */
static void note_reading(door *d, const reading *r, double expected)
{
    d->hottest = r->hottest;
    d->sum = r->sum;
    memcpy(d->at, d->own.w.here, sizeof d->at);
    d->heat = look_up(&exported_process.heat, expected, NULL) / d->own.w.state[GAIN];
    d->trust = d->own.w.state[GAIN];
}

/* Whether a frame does not show the peak where it is expected. */
static int is_misplaced(twin *w, const laserloop_twin_input *in, const reading *r, const comparison *c)
{
    const process *p = &exported_process;
    const double off[2] = {r->x / p->sigma - c->peak[0], r->y / p->sigma - c->peak[1]};
    if (in->seen != LASERLOOP_TWIN_FRAME_SEEN || w->state[GAIN] * c->top < p->few)
        return 0;
    return c->misplaced || r->at_edge ||
           (hypotenuse(off[0], off[1]) > p->farthest && expect_heat(w, p, r->x, r->y) < SHOULDER * c->top);
}

/* Correct the gain; returns what became of the measurement, and whether it is of a plate that may be too hot. */
APART int take_measurement(door *d, const laserloop_twin_input *in, int *hot)
{
    const process *p = &exported_process;
    twin *w = &d->own.w;
    comparison c = {0};
    *hot = 0;
    if (in->seen == LASERLOOP_TWIN_NOTHING_SEEN)
        return LASERLOOP_TWIN_NONE;
    if (in->age < 0)
        return LASERLOOP_TWIN_IN_FUTURE;
    if (w->now - in->age <= d->taken)
        return LASERLOOP_TWIN_NONE; /* the last one again, with its true age */
    const reading r = read_measurement(in);
    *hot = r.hottest > d->wanted.high + NOISY * p->noise;
    if (in->age > LASERLOOP_TWIN_OLDEST)
        return LASERLOOP_TWIN_TOO_OLD;
    d->taken = w->now - in->age;
    if (!was_lit(w, p, in->age)) /* many sensors read nonsense of a cold plate */
        return *hot ? LASERLOOP_TWIN_TOO_HOT : LASERLOOP_TWIN_COLD;
    if (!(r.hottest > 0.0))
        return LASERLOOP_TWIN_IMPLAUSIBLE;
    const picture image = {in->age, in->columns, in->rows, in->x, in->y, in->T};
    const slow before = get_slow(w);
    const int warm = in->seen == LASERLOOP_TWIN_FRAME_SEEN ? weigh_image(w, p, &image, &c)
                                                           : weigh_peak(w, p, in->age, r.hottest, &c);
    const int repeated = is_repeated(d, &r), frozen = repeated && (warm || c.astray) && is_frozen(d, in, c.expected);
    const int misplaced = is_misplaced(w, in, &r, &c);
    const int possible = is_within(c.ratio, p->gain_low, p->gain_high);
    if (!repeated)
        note_reading(d, &r, c.expected);
    if (misplaced || frozen || (warm && !possible))
        put_slow(w, &before); /* it tells nothing of where images lie */
    if (misplaced)
        return LASERLOOP_TWIN_MISPLACED;
    if (frozen)
        return LASERLOOP_TWIN_FROZEN;
    if (c.astray)
        return *hot ? LASERLOOP_TWIN_TOO_HOT : LASERLOOP_TWIN_LEFT_OUT;
    if (!warm)
        return *hot ? LASERLOOP_TWIN_TOO_HOT : LASERLOOP_TWIN_COLD;
    if (!possible)
        return *hot ? LASERLOOP_TWIN_TOO_HOT : LASERLOOP_TWIN_IMPLAUSIBLE;
    d->is_outlier = (repeated && d->is_outlier) ||
                    !read_gain(w, p, c.ratio, c.noise, c.slope); /* its copy says nothing more */
    if (d->is_outlier)
        return *hot ? LASERLOOP_TWIN_TOO_HOT : LASERLOOP_TWIN_LEFT_OUT;
    *hot = 0;
    d->unmeasured = 0;
    return LASERLOOP_TWIN_TAKEN;
}
