/* The one number that is fed back: what the pixels around the peak read over what is expected of them. */

#include "twin_types.h"

#define ROUNDS 3 /* of the search for the peak */

static const double gauss[2] = {-0.57735026918962576, 0.57735026918962576}; /* points of a pixel, in half pixels */

typedef struct {
    double expected;     /* K, at the hottest pixel */
    double ratio, noise; /* measured over expected, and its standard deviation */
} comparison;

/* Let ticks pass: the gain may have wandered. */
static void wait_gain(twin *w, const process *p, double ticks)
{
    const double most = p->prior * p->prior > w->variance ? p->prior * p->prior : w->variance;
    const double grown = w->variance + ticks * p->walk * p->walk;
    w->variance = grown < most ? grown : most;
}

/* Take in a ratio of measured to expected with its standard deviation. A single one far off is a bad frame and left
   out; if the next says the same, the plant has changed. Returns 0 if it was left out. */
static int read_gain(twin *w, const process *p, double ratio, double noise)
{
    const double variance = noise * noise + p->error * p->error, off = ratio - w->gain;
    const double far = p->gate * sqrt(w->variance + variance);
    if (!(fabs(off) <= far)) {
        const double same = p->gate * sqrt(2.0 * variance + p->walk * p->walk);
        if (!w->has_outlier || !(fabs(ratio - w->outlier) <= same)) {
            w->has_outlier = ratio == ratio;
            w->outlier = ratio;
            ++w->refused;
            return 0;
        }
        w->variance = off * off;
    }
    w->has_outlier = 0;
    const double weight = w->variance / (w->variance + variance);
    w->gain = clamp(w->gain + weight * off, p->gain_low, p->gain_high);
    w->variance *= 1.0 - weight;
    return 1;
}

/* The first of `count` lines that lie nearest to a place, m. */
static int find_lines(int all, const double *line, double at, int count)
{
    int low = 0, high = all;
    while (low < high) { /* the first line beyond */
        const int middle = (low + high) / 2;
        if (line[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    low -= (count + 1) / 2;
    low = low < 0 ? 0 : low;
    if (low + count < all && at - line[low] > line[low + count] - at)
        ++low;
    return low + count > all ? all - count : low;
}

/* u at a point, m, of the heat that w->old and w->rule hold. */
static double expect_heat(twin *w, const process *p, long long moment, double x, double y)
{
    double total = sum_heat(&w->old, x / p->sigma, y / p->sigma, w->sums.part[0]);
    for (int mirror = 0; mirror < 4; ++mirror) {
        const double px = mirror & 1 ? 2.0 * w->wall[0] - x / p->sigma : x / p->sigma;
        const double py = mirror & 2 ? 2.0 * w->wall[1] - y / p->sigma : y / p->sigma;
        if (mirror & ~w->sides)
            continue;
        sum_heat(&w->rule, px, py, w->sums.part[0]);
        for (int j = 0; j < p->points; ++j) {
            const long long when = moment - 1 - p->lag[j];
            if (when >= 0)
                total += (double)w->sums.part[0][j] * w->watts[when % RECENT];
        }
    }
    return total;
}

/* u that a pixel is expected to read: at its centre, or of its mean temperature. */
static double expect_pixel(twin *w, const process *p, long long moment, double x, double y)
{
    double mean = 0.0;
    if (p->pixel <= p->subpixel * p->sigma)
        return expect_heat(w, p, moment, x, y);
    for (int k = 0; k < 4; ++k) {
        const double px = x + 0.5 * p->pixel * gauss[k % 2], py = y + 0.5 * p->pixel * gauss[k / 2];
        const double u = expect_heat(w, p, moment, px, py);
        mean += 0.25 * look_up(&p->temperature, w->gain * u, NULL);
    }
    return look_up(&p->heat, mean, NULL) / w->gain;
}

/* The heat `age` ticks ago, and the peak in it, in beam widths. Returns 0 if that is too long ago or nothing had been
   given yet. */
static int recall_peak(twin *w, const process *p, int age, double *peak)
{
    const long long moment = w->now - age;
    double step[2];
    if (age < 0 || moment < 1 || p->recent - age < p->lags)
        return 0;
    const double *here = find_end(w, NULL, moment);
    spread_history(w, (double)moment, p->lags, &w->old);
    place_rule(w, p, NULL, moment, &w->rule);
    guess_peak(w, p, find_end(w, NULL, moment - 1), here, peak);
    for (int round = 0; round < ROUNDS; ++round) {
        field total;
        look_around(w, p, moment, peak, &total, NULL);
        step_uphill(&total, p->longest, step);
        peak[0] += step[0];
        peak[1] += step[1];
        if (fabs(step[0]) + fabs(step[1]) < CLOSE)
            break;
    }
    return 1;
}

/* What was measured over what was expected, and its standard deviation, by pixels that count the more the hotter they
   are. Returns 0 if nothing is hot yet. */
static int weigh_pixels(const twin *w, const process *p, int count, const double *expected, const double *seen,
                        comparison *c)
{
    double most = 0.0, up = 0.0, down = 0.0, size = 0.0, slope;
    for (int k = 0; k < count; ++k)
        most = expected[k] > most ? expected[k] : most;
    c->expected = look_up(&p->temperature, w->gain * most, &slope);
    if (!(w->gain * most >= p->few))
        return 0;
    for (int k = 0; k < count; ++k) {
        const double share = expected[k] / most, s2 = share * share, s4 = s2 * s2, s8 = s4 * s4, s16 = s8 * s8;
        const double weight = expected[k] * s16 * s8 * s4 * s2; /* share^30: those at the peak count most */
        up += weight * seen[k];
        down += weight * expected[k];
        size += weight * weight;
    }
    c->ratio = up / down;
    c->noise = p->noise / slope * sqrt(size) / down;
    return 1;
}

/* An image taken `age` ticks ago: T[row * columns + column], K, at x[column], y[row], m.
   Returns 0 if there is nothing to compare. */
static int weigh_image(twin *w, const process *p, int age, int columns, int rows, const double *x, const double *y,
                       const double *T, comparison *c)
{
    const int wide = columns < p->lines ? columns : p->lines, tall = rows < p->lines ? rows : p->lines;
    double peak[2], expected[LINES * LINES], seen[LINES * LINES];
    int count = 0;
    if (!recall_peak(w, p, age, peak))
        return 0;
    const int left = find_lines(columns, x, peak[0] * p->sigma, wide), top = find_lines(rows, y, peak[1] * p->sigma, tall);
    for (int r = top; r < top + tall; ++r)
        for (int k = left; k < left + wide; ++k) {
            expected[count] = expect_pixel(w, p, w->now - age, x[k], y[r]);
            seen[count++] = look_up(&p->heat, T[(size_t)r * (size_t)columns + (size_t)k], NULL);
        }
    return weigh_pixels(w, p, count, expected, seen, c);
}
