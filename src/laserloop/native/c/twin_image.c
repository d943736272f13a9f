/* What an image shows against what is expected of it: where its spot lies, and what the pixels around the peak read. */

#include "twin_types.h"

#define ROUNDS 3 /* of the search for the peak, and of that for the spot in an image */
#define TURN 2     /* ticks before one whose way tells whether it is part of a turn */
#define GAUSS 0.57735026918962576 /* points of a pixel, in half pixels */
#define HALFWAY 0.3 /* beam widths: a spot that is nearer is found */


typedef struct {
    double expected;     /* K, at the hottest pixel */
    double top;          /* u of the peak at a gain of 1 */
    double peak[2];      /* where it is on the plate, in beam widths */
    double surprise;     /* K, by which it was hotter, judged by all that were compared */
    double ratio, noise; /* measured over expected, and its standard deviation */
    double slope;        /* what a tick's delay of the power changes in what is expected, of itself */
    int misplaced, astray; /* the image shows its spot where none can be, or far from where it was before */
} comparison;

typedef struct { /* a moment of the past */
    double peak[2], hop[2]; /* in beam widths: where the peak was, and the way of the beam in the tick that ended then */
    double turn;            /* how much that way differs from those before */
    double top, stiff[3];   /* u there, and how fast it falls from there, of itself: xx, xy, yy */
    double slope;           /* as above */
} recalled;

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

/* Add the heat on a grid at some watts in each of the ticks of the rule, and that of its images. */
static void add_new_grid(twin *w, const real *watts, const grid *at, real (*sum)[LANES])
{
    for (int mirror = 0; mirror < 4; ++mirror) {
        grid image = *at;
        if (mirror & ~w->sides)
            continue;
        for (int i = 0; i < LINES; ++i) {
            const double place[2] = {at->x[i], at->y[i]};
            double seen[2];
            reflect(w, mirror, place, seen);
            image.x[i] = seen[0];
            image.y[i] = seen[1];
        }
        add_rule_grid(&w->rule, watts, &image, sum);
    }
}

/* u on a grid, LINES to a row, of the heat that w->far, w->old, w->rule and w->past hold. */
static void expect_grid(twin *w, const grid *at, double *u)
{
    memset(w->cell, 0, (size_t)at->tall * LINES * sizeof *w->cell);
    add_old_grid(w, at, w->cell);
    add_new_grid(w, w->past.watts, at, w->cell);
    for (int r = 0; r < at->tall; ++r)
        for (int c = 0; c < at->wide; ++c)
            u[r * LINES + c] = add_up(LANES, w->cell[r * LINES + c]);
    add_far_grid(&w->far, at, u);
}

/* The same at one point. */
static double expect_heat(twin *w, const process *p, double x, double y)
{
    const grid at = {1, 1, {x / p->sigma}, {y / p->sigma}};
    double u;
    expect_grid(w, &at, &u);
    return u;
}

static void look_up_all(const table *t, const double *restrict x, double *restrict y)
{
    for (int k = 0; k < CELLS; ++k)
        y[k] = look_up(t, x[k], NULL);
}

/* Add a share of what the pixels of a grid are expected to read, K: at their centres, or on average; `top`: u of the peak. */
static void expect_pixels(twin *w, const process *p, double top, const grid *at, double share, double *T)
{
    const int corners = p->pixel <= p->subpixel * p->sigma ? 1 : 4;
    const double aside = corners > 1 ? GAUSS * 0.5 * p->pixel / p->sigma : 0.0, gain = w->state[GAIN];
    double u[CELLS] = {0.0}, read[CELLS];
    for (int k = 0; k < corners; ++k) {
        grid corner = *at;
        for (int i = 0; i < LINES; ++i) {
            corner.x[i] += k % 2 ? aside : -aside;
            corner.y[i] += k / 2 ? aside : -aside;
        }
        expect_grid(w, &corner, u);
        for (int i = 0; i < CELLS; ++i)
            u[i] *= gain * (1.0 - p->slender * (1.0 - u[i] / top));
        look_up_all(&p->temperature, u, read);
        for (int i = 0; i < CELLS; ++i)
            T[i] += share / corners * read[i];
    }
}

/* All heat at a moment of the past, as an image of that moment shows it, into w->far, w->old, w->rule and w->past. */
static void recall_heat(twin *w, const process *p, long long moment)
{
    const double apart = find_apart(w, p), led = apart < 0.0 ? -apart : 0.0, behind = apart > 0.0 ? apart : 0.0;
    const double then = (double)moment - (w->state[PLACE_LATE] - behind);
    move_far(&w->far, then);
    spread_history(w, then, p->lags);
    list_track(w, p, NULL, w->state[PLACE_LATE], moment - 1, WIDE, &w->past);
    list_watts(w, p, led, w->state[POWER_LATE] - led, moment - 1, WIDE + 1, w->past.watts);
    place_rule(&w->past, 0, &w->rule);
}

/* What a tick's delay of the power would change in the heat at a point `moment`, of what recall_heat holds. Half a tick back
   and half a tick on: power that swings from tick to tick tells nothing of its delay, and must not seem to. */
static double delay_power(twin *w, const process *p, long long moment, const double *point)
{
    const double apart = find_apart(w, p), led = apart < 0.0 ? -apart : 0.0;
    const real *given = w->past.watts;
    real next = 2 * given[0] - given[1], turn[WIDE];
    if (moment < w->now)
        list_watts(w, p, led, w->state[POWER_LATE] - led, moment, 1, &next);
    for (int l = 0; l < WIDE; ++l)
        turn[l] = moment - 1 - l < 0 ? 0 : (given[l + 1] - (l ? given[l - 1] : next)) / 2;
    const grid at = {1, 1, {point[0]}, {point[1]}};
    memset(w->cell, 0, sizeof *w->cell);
    add_new_grid(w, turn, &at, w->cell);
    return add_up(LANES, w->cell[0]);
}

/* Whether enough ticks before one so long ago are kept one by one, however late things are. */
static int is_remembered(const process *p, int age)
{
    return p->recent - age >= p->lags + 2 * LATEST;
}

/* How much the way of the beam in the tick that ended at a time differs from those of the ticks before, in beam widths. */
static double find_turn(const twin *w, const process *p, double time, const double *hop)
{
    double later[2], most = 0.0;
    find_place(w, p, NULL, time - 1.0, later);
    for (int k = 1; k <= TURN; ++k) {
        double place[2], other[2];
        find_place(w, p, NULL, time - 1.0 - k, place);
        for (int axis = 0; axis < 2; ++axis) {
            other[axis] = (later[axis] - place[axis]) / p->sigma - hop[axis];
            later[axis] = place[axis];
        }
        most = is_beyond(other[0], other[1], most) ? hypotenuse(other[0], other[1]) : most;
    }
    return most;
}

/* The heat `age` ticks ago and the peak in it. Returns 0 if that is too long ago or nothing had been given yet. */
static int recall_peak(twin *w, const process *p, int age, recalled *r)
{
    const long long moment = w->now - age;
    double beam[2], step[2], place[2][2];
    field total;
    if (age < 0 || moment < 1 || !is_remembered(p, age))
        return 0;
    recall_heat(w, p, moment);
    find_place(w, p, NULL, (double)(moment - 1) - w->state[PLACE_LATE], place[0]);
    find_place(w, p, NULL, (double)moment - w->state[PLACE_LATE], place[1]);
    for (int axis = 0; axis < 2; ++axis) {
        beam[axis] = place[1][axis] / p->sigma;
        r->hop[axis] = beam[axis] - place[0][axis] / p->sigma;
    }
    r->turn = find_turn(w, p, (double)moment - w->state[PLACE_LATE], r->hop);
    guess_peak(w, p, moment, place[0], place[1], r->peak);
    for (int round = 0; round < ROUNDS; ++round) {
        look_around(w, &w->past, 0, 0, r->peak, &total, NULL);
        step_to_peak(&total, p->longest, beam, r->peak, step);
        r->top = at_step(&total, step);
        r->peak[0] += step[0];
        r->peak[1] += step[1];
        if (fabs(step[0]) + fabs(step[1]) < CLOSE)
            break;
    }
    r->stiff[0] = -total.xx / r->top;
    r->stiff[1] = -total.xy / r->top;
    r->stiff[2] = -total.yy / r->top;
    r->slope = delay_power(w, p, moment, r->peak) / r->top;
    return 1;
}

/* Whether the laser was on in the tick that ended so many ticks ago. */
static int was_lit(const twin *w, const process *p, int age)
{
    return w->now - age > 0 && w->watts[(w->now - age - 1) % RECENT] > p->dim;
}

/* Standard deviation of a ratio of `age` ticks ago because the laser had just come on. */
static double find_start_error(const twin *w, const process *p, int age)
{
    double error = p->start_error;
    for (int k = 0; k < p->start_ticks; ++k, error *= 0.5)
        if (!was_lit(w, p, age + k))
            return error;
    return 0.0;
}

/* ln x between 1/16 and 16, beyond as there: by the series of the fourth root. */
INLINE real find_logarithm(real x)
{
    const real some = x > (real)0.0625 ? (x < (real)16 ? x : (real)16) : (real)0.0625, root = ROOT(ROOT(some));
    const real z = (root - (real)1) / (root + (real)1), z2 = z * z;
    return (real)8 * z * ((real)1 + z2 * ((real)(1.0 / 3.0) + z2 * ((real)0.2 + z2 * ((real)(1.0 / 7.0) + z2 * (real)(1.0 / 9.0)))));
}

/* Of all pixels; in a few sums side by side. */
static double dot_pixels(const double *restrict x, const double *restrict y)
{
    double sum[CELLS / 4] = {0.0};
    for (int k = 0; k < CELLS; k += CELLS / 4)
        for (int l = 0; l < CELLS / 4; ++l)
            sum[l] += x[k + l] * y[k + l];
    for (int half = CELLS / 8; half > 0; half /= 2)
        for (int l = 0; l < half; ++l)
            sum[l] += sum[l + half];
    return sum[0];
}

/* The most that is expected where something is seen. */
static void find_most(pixels *b)
{
    double most[CELLS];
    for (int k = 0; k < CELLS; ++k)
        most[k] = b->counts[k] > 0.0 && b->expected[k] > 0.0 ? b->expected[k] : 0.0;
    for (int half = CELLS / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l)
            most[l] = most[l] > most[l + half] ? most[l] : most[l + half];
    b->most = most[0];
}

/* What was measured over what was expected, and its standard deviation, by pixels that count the more the hotter they
   are. */
APART void weigh_pixels(const twin *w, const process *p, int age, const pixels *b, comparison *c)
{
    const double start = find_start_error(w, p, age);
    double weight[CELLS], base[CELLS], slope;
    c->expected = look_up(&p->temperature, w->state[GAIN] * b->most, &slope);
    for (int k = 0; k < CELLS; ++k) {
        base[k] = b->expected[k] / b->most;
        weight[k] = b->counts[k] * b->expected[k];
    }
    for (int power = (int)p->steep; power > 0; power /= 2) /* those at the peak count most */
        for (int k = 0; k < CELLS; ++k) {
            weight[k] *= power % 2 ? base[k] : 1.0;
            base[k] *= base[k];
        }
    const double down = dot_pixels(weight, b->expected), size = dot_pixels(weight, weight);
    c->ratio = dot_pixels(weight, b->seen) / down;
    c->surprise = look_up(&p->temperature, c->ratio * b->most, NULL) - c->expected;
    const double noise = p->noise / slope * sqrt(size) / down;
    c->noise = c->ratio > w->state[GAIN] ? noise : sqrt(noise * noise + start * start); /* no lag makes it hotter */
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

typedef struct { /* an image: T[row * columns + column], K, at x[column], y[row], m; a pixel of NaN is left out */
    int age, columns, rows; /* its exposure ended `age` ticks ago */
    const double *x, *y, *T;
} picture;

/* The pixels around the peak in an image that lies off, in beam widths. Returns 0 if nothing is hot. */
static int read_pixels_near(twin *w, const process *p, const picture *image, const recalled *r, const double *off, pixels *b)
{
    grid at = {image->columns < LINES ? image->columns : LINES, image->rows < LINES ? image->rows : LINES, {0.0}, {0.0}};
    const int left = find_lines(image->columns, image->x, (r->peak[0] + off[0]) * p->sigma, at.wide);
    const int first = find_lines(image->rows, image->y, (r->peak[1] + off[1]) * p->sigma, at.tall);
    int before[FRAMES];
    const int frames = list_frames(w, p, image->age, before);
    for (int c = 0; c < at.wide; ++c)
        at.x[c] = image->x[left + c] / p->sigma - off[0];
    for (int c = 0; c < at.tall; ++c)
        at.y[c] = image->y[first + c] / p->sigma - off[1];
    double T[CELLS] = {0.0}, seen[CELLS];
    for (int j = 0; j < frames; ++j) {
        if (frames > 1)
            recall_heat(w, p, w->now - image->age - before[j]);
        expect_pixels(w, p, r->top, &at, 1.0 / frames, T);
    }
    look_up_all(&p->heat, T, b->expected);
    for (int k = 0; k < CELLS; ++k) {
        seen[k] = NAN;
        b->x[k] = b->y[k] = 0.0;
    }
    for (int k = 0; k < at.tall; ++k)
        for (int c = 0; c < at.wide; ++c) {
            const size_t line = (size_t)(first + k) * (size_t)image->columns;
            b->x[k * LINES + c] = at.x[c] - r->peak[0];
            b->y[k * LINES + c] = at.y[k] - r->peak[1];
            seen[k * LINES + c] = image->T[line + (size_t)(left + c)];
        }
    look_up_all(&p->heat, seen, b->seen);
    for (int k = 0; k < CELLS; ++k) {
        b->expected[k] /= w->state[GAIN];
        b->counts[k] = b->seen[k] == b->seen[k] ? 1.0 : 0.0; /* NaN is not */
        b->seen[k] = b->counts[k] > 0.0 ? b->seen[k] : 0.0;
    }
    find_most(b);
    return b->most > 0.0 && w->state[GAIN] * b->most >= p->few;
}

/* Two Gaussians of one shape differ by a factor whose logarithm is a plane: its slopes per beam width, and their
   covariance per variance of u: xx, xy, yy. Returns 0 if too few pixels tell. */
APART int find_plane(const process *p, const pixels *b, double gain, double *slopes, double *spread)
{
    double weight[CELLS], side[CELLS], ratio[CELLS];
    int told = 0;
    for (int k = 0; k < CELLS; ++k) {
        const double e = b->expected[k];
        const int tells = (b->seen[k] > 0.0) & (e > p->telling * b->most);
        weight[k] = tells ? e * e : 0.0;
        ratio[k] = (double)find_logarithm((real)(tells ? b->seen[k] / (gain * e) : 1.0));
        told += tells;
    }
    if (told < p->enough)
        return 0;
    const double all = dot_pixels(weight, b->counts);
    const double x = dot_pixels(weight, b->x), y = dot_pixels(weight, b->y), z = dot_pixels(weight, ratio);
    for (int k = 0; k < CELLS; ++k)
        side[k] = weight[k] * b->x[k];
    const double xx = dot_pixels(side, b->x) - x * x / all, xy = dot_pixels(side, b->y) - x * y / all;
    const double xz = dot_pixels(side, ratio) - x * z / all;
    for (int k = 0; k < CELLS; ++k)
        side[k] = weight[k] * b->y[k];
    const double yy = dot_pixels(side, b->y) - y * y / all, yz = dot_pixels(side, ratio) - y * z / all;
    const double det = xx * yy - xy * xy;
    if (!(det > 1e-3 * xx * yy))
        return 0;
    slopes[0] = (yy * xz - xy * yz) / det;
    slopes[1] = (xx * yz - xy * xz) / det;
    spread[0] = yy / det;
    spread[1] = -xy / det;
    spread[2] = xx / det;
    return 1;
}

/* The symmetric 2 x 2 inverse of xx, xy, yy. */
static void invert(const double *m, double *inverse)
{
    const double det = m[0] * m[2] - m[1] * m[1];
    inverse[0] = m[2] / det;
    inverse[1] = -m[1] / det;
    inverse[2] = m[0] / det;
}

/* Expect the pixels where the spot lies a step further off, in beam widths. */
static void shift_pixels(pixels *b, const double *step, const double *stiff)
{
    const double px = stiff[0] * step[0] + stiff[1] * step[1], py = stiff[1] * step[0] + stiff[2] * step[1];
    const double half = 0.5 * (step[0] * px + step[1] * py);
    for (int k = 0; k < CELLS; ++k) {
        const double power = b->x[k] * px + b->y[k] * py - half, size = (double)exponential((real)-fabs(power));
        b->expected[k] *= power < 0.0 ? size : 1.0 / size;
        b->x[k] -= step[0];
        b->y[k] -= step[1];
    }
    find_most(b);
}

/* Find the spot in an image and take in by how much it lies off; leaves the pixels as they are to be compared then.
   Returns 0 if nothing is hot, or the spot is where none can be. */
static int find_spot(twin *w, const process *p, const picture *image, const recalled *r, pixels *b, int *misplaced,
                     int *astray)
{
    const double known[2] = {w->state[OFFSET_X], w->state[OFFSET_Y]};
    double off[2] = {known[0], known[1]}, step[2], slopes[2], spread[3], soft[3], slope, believed[2];
    invert(r->stiff, soft);
    for (int round = 0;; ++round) {
        if (!read_pixels_near(w, p, image, r, off, b))
            return 0;
        if (!find_plane(p, b, w->state[GAIN], slopes, spread))
            return 1;
        step[0] = soft[0] * slopes[0] + soft[1] * slopes[1];
        step[1] = soft[1] * slopes[0] + soft[2] * slopes[1];
        if (!is_beyond(step[0], step[1], HALFWAY) || round == ROUNDS - 1)
            break;
        off[0] += step[0];
        off[1] += step[1];
    }
    const double all[2] = {off[0] + step[0], off[1] + step[1]}, more[2] = {all[0] - known[0], all[1] - known[1]};
    *misplaced = !(hypotenuse(all[0], all[1]) <= p->farthest);
    if (*misplaced)
        return 0;
    look_up(&p->temperature, w->state[GAIN] * r->top, &slope);
    const double noise = p->noise / slope / w->state[GAIN];
    const double xx = soft[0] * soft[0] * spread[0] + 2.0 * soft[0] * soft[1] * spread[1] + soft[1] * soft[1] * spread[2];
    const double yy = soft[1] * soft[1] * spread[0] + 2.0 * soft[1] * soft[2] * spread[1] + soft[2] * soft[2] * spread[2];
    *astray = !read_place(w, p, more, r->hop, r->turn, noise * sqrt(0.5 * (xx + yy)), believed);
    if (*astray)
        return 0;
    step[0] = known[0] + believed[0] - off[0];
    step[1] = known[1] + believed[1] - off[1];
    shift_pixels(b, step, r->stiff);
    return 1;
}

/* What is expected, whatever is seen. */
static void note_recalled(const twin *w, const process *p, const recalled *r, comparison *c)
{
    c->top = r->top;
    c->slope = r->slope;
    c->expected = look_up(&p->temperature, w->state[GAIN] * r->top, NULL);
    memcpy(c->peak, r->peak, sizeof c->peak);
}

/* Compare an image with what is expected of it. Returns 0 if there is nothing to compare: nothing hot, the laser off (a
   cooling plate has another alpha), or c->misplaced. */
static int weigh_image(twin *w, const process *p, const picture *image, comparison *c)
{
    recalled r;
    pixels *b = &w->compared;
    int before[FRAMES];
    memset(c, 0, sizeof *c);
    if (!is_remembered(p, image->age + p->exposure - 1) || !recall_peak(w, p, image->age, &r))
        return 0;
    const int frames = list_frames(w, p, image->age, before), middle = before[frames / 2];
    const int lit = was_lit(w, p, image->age) && was_lit(w, p, image->age + middle);
    if (frames > 1)
        recall_peak(w, p, image->age + middle, &r);
    note_recalled(w, p, &r, c);
    if (!lit || !find_spot(w, p, image, &r, b, &c->misplaced, &c->astray))
        return 0;
    weigh_pixels(w, p, image->age, b, c);
    return 1;
}
