/* The one number that is fed back: what the pixels around the peak read over what is expected of them. */

#include "twin_types.h"

#define ROUNDS 3 /* of the search for the peak */
#define START_ERROR 1.2 /* of a ratio when the laser comes on, halved in every tick: a lag that nobody knows of shows then */
#define START_TICKS 8   /* after which nothing is left of it */

static const double gauss[2] = {-0.57735026918962576, 0.57735026918962576}; /* points of a pixel, in half pixels */

typedef struct {
    double expected;     /* K, at the hottest pixel */
    double surprise;     /* K, by which it was hotter, judged by all that were compared */
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

/* u at a point, m, of the heat that w->far, w->old, w->rule and w->past hold. */
static double expect_heat(const twin *w, const process *p, double x, double y)
{
    const double point[2] = {x / p->sigma, y / p->sigma};
    double total = sum_heat(w, point[0], point[1]) + find_far_heat(&w->far, point[0], point[1]);
    for (int mirror = 0; mirror < 4; ++mirror) {
        real sum[WIDE];
        double image[2];
        if (mirror & ~w->sides)
            continue;
        reflect(w, mirror, point, image);
        sum_rule_heat(&w->rule, image[0], image[1], sum);
        for (int l = 0; l < WIDE; ++l)
            sum[l] *= w->past.watts[1 + l];
        total += add_up(WIDE, sum);
    }
    return total;
}

/* What a pixel is expected to read, K: at its centre, or on average; `top`: u of the peak. */
static double expect_pixel(const twin *w, const process *p, double top, double x, double y)
{
    const int count = p->pixel <= p->subpixel * p->sigma ? 1 : 4;
    double mean = 0.0;
    for (int k = 0; k < count; ++k) {
        const double px = count == 1 ? x : x + 0.5 * p->pixel * gauss[k % 2];
        const double py = count == 1 ? y : y + 0.5 * p->pixel * gauss[k / 2];
        const double u = expect_heat(w, p, px, py);
        mean += look_up(&p->temperature, w->gain * (1.0 - p->slender * (1.0 - u / top)) * u, NULL) / count;
    }
    return mean;
}

/* All heat at a moment of the past, into w->far, w->old, w->rule and w->past. */
static void recall_heat(twin *w, const process *p, long long moment)
{
    move_far(&w->far, (double)moment);
    spread_history(w, (double)moment, p->lags);
    list_track(w, p, NULL, moment, 1 + WIDE, &w->past);
    place_rule(&w->past, 1, &w->rule);
}

/* The heat `age` ticks ago, the peak in it, in beam widths, and its u. Returns 0 if that is too long ago or nothing had
   been given yet. */
static int recall_peak(twin *w, const process *p, int age, double *peak, double *top)
{
    const long long moment = w->now - age;
    double step[2];
    if (age < 0 || moment < 1 || p->recent - age < p->lags)
        return 0;
    recall_heat(w, p, moment);
    guess_peak(w, p, moment, find_end(w, NULL, moment - 1), find_end(w, NULL, moment), peak);
    for (int round = 0; round < ROUNDS; ++round) {
        field total;
        look_around(w, &w->past, 1, 0, peak, &total, NULL);
        step_uphill(&total, p->longest, step);
        *top = at_step(&total, step);
        peak[0] += step[0];
        peak[1] += step[1];
        if (fabs(step[0]) + fabs(step[1]) < CLOSE)
            break;
    }
    return 1;
}

/* Whether the laser was on in the tick that ended so many ticks ago. */
static int was_lit(const twin *w, int age)
{
    return w->now - age > 0 && w->watts[(w->now - age - 1) % RECENT] > 0.0;
}

/* Standard deviation of a ratio of `age` ticks ago because the laser had just come on. */
static double find_start_error(const twin *w, int age)
{
    double error = START_ERROR;
    for (int k = 0; k < START_TICKS; ++k, error *= 0.5)
        if (!was_lit(w, age + k))
            return error;
    return 0.0;
}

static double raise(double base, int power)
{
    double product = 1.0;
    for (; power > 0; power /= 2, base *= base)
        if (power % 2)
            product *= base;
    return product;
}

/* What was measured over what was expected, and its standard deviation, by pixels that count the more the hotter they
   are. Returns 0 if nothing is hot, or the laser was off: a cooling plate has another alpha. */
static int weigh_pixels(const twin *w, const process *p, int lit, int age, int count, const double *expected,
                        const double *seen, comparison *c)
{
    const double start = find_start_error(w, age);
    double most = 0.0, up = 0.0, down = 0.0, size = 0.0, slope;
    for (int k = 0; k < count; ++k)
        most = expected[k] > most ? expected[k] : most;
    c->expected = look_up(&p->temperature, w->gain * most, &slope);
    if (!lit || !(w->gain * most >= p->few))
        return 0;
    for (int k = 0; k < count; ++k) {
        const double weight = expected[k] * raise(expected[k] / most, (int)p->steep); /* those at the peak count most */
        up += weight * seen[k];
        down += weight * expected[k];
        size += weight * weight;
    }
    c->ratio = up / down;
    c->surprise = look_up(&p->temperature, c->ratio * most, NULL) - c->expected;
    const double noise = p->noise / slope * sqrt(size) / down;
    c->noise = sqrt(noise * noise + start * start);
    return 1;
}

/* How many ticks before its end the frames of an exposure were seen; returns how many of them are looked at. */
static int list_frames(const twin *w, const process *p, int age, int *before)
{
    const long long moment = w->now - age;
    const int ticks = p->exposure < moment + 1 ? p->exposure : (int)moment + 1;
    const int count = ticks < p->frames ? ticks : p->frames;
    for (int j = 0; j < count; ++j)
        before[j] = count > 1 ? (int)((double)j * (ticks - 1) / (count - 1) + 0.5) : 0;
    return count;
}

/* An image whose exposure ended `age` ticks ago: T[row * columns + column], K, at x[column], y[row], m.
   A pixel of NaN is left out. Returns 0 if there is nothing to compare. */
static int weigh_image(twin *w, const process *p, int age, int columns, int rows, const double *x, const double *y,
                       const double *T, comparison *c)
{
    const int wide = columns < p->lines ? columns : p->lines, tall = rows < p->lines ? rows : p->lines;
    double peak[2], top, expected[LINES * LINES] = {0}, seen[LINES * LINES];
    int before[FRAMES];
    if (!recall_peak(w, p, age, peak, &top))
        return 0;
    const int frames = list_frames(w, p, age, before);
    const int lit = was_lit(w, age) && was_lit(w, age + before[frames / 2]);
    if (frames > 1)
        recall_peak(w, p, age + before[frames / 2], peak, &top);
    const int left = find_lines(columns, x, peak[0] * p->sigma, wide);
    const int first = find_lines(rows, y, peak[1] * p->sigma, tall);
    for (int j = 0; j < frames; ++j) {
        const long long moment = w->now - age - before[j];
        if (frames > 1 && moment > 0)
            recall_heat(w, p, moment);
        for (int k = 0; k < wide * tall; ++k)
            expected[k] += (moment > 0 ? expect_pixel(w, p, top, x[left + k % wide], y[first + k / wide])
                                       : p->ambient) / frames;
    }
    for (int k = 0; k < wide * tall; ++k) {
        const double t = T[(size_t)(first + k / wide) * (size_t)columns + (size_t)(left + k % wide)];
        const int good = t == t; /* a broken pixel counts for nothing */
        seen[k] = good ? look_up(&p->heat, t, NULL) : 0.0;
        expected[k] = good ? look_up(&p->heat, expected[k], NULL) / w->gain : 0.0;
    }
    return weigh_pixels(w, p, lit, age, wide * tall, expected, seen, c);
}
