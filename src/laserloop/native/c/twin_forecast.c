/* What a plan leads to: around the peak of each coming tick, old heat and the heat of each tick as quadratics. */

#include "twin_types.h"

#define LOOKS 4     /* most steps towards a peak; one is usual */
#define CLOSE 0.02  /* beam widths: a quadratic holds so far, */
#define NEARBY 0.1  /* and nearly so far after a step */
#define AGAIN 0.2   /* beam widths that a plan may move a peak by before it is looked for anew */
#define LOST 1.5    /* beam widths between beam and peak, from which on a peak is not of this light but of old heat */
#define AROUND 0.5  /* beam widths around the peaks that are expected, where old heat is told exactly */
#define REUSED 4.0  /* ticks for which that is done at once */
#define SHORTEST 0.02 /* ticks: a shorter lag is none */
#define LATEST 4    /* ticks, more than anything may be late, */
#define SETTLED 24  /* and after which a lag has no memory of what was before */
#define NOWHERE {{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}}

typedef struct {
    double low[2], high[2];
} box;

typedef struct {
    double centre[2];  /* of the quadratics, in beam widths */
    double beam[2];    /* there, at the end of the tick */
    field fixed;       /* heat that no plan changes */
    field tick[N];     /* per watt absorbed in each coming tick */
} outlook;

typedef struct {
    outlook at[N];
    double way[N + 1][2];          /* m: where the beam is told to be, now and after each tick, */
    double late[N + 1][2];         /* and where it will be */
    double adrift[N], follow[N][N]; /* W emitted without a command, and per watt commanded */
} prospect;

static double look_up(const table *t, double x, double *slope)
{
    const double place = (x - t->from) * t->per;
    const int i = place < 0.0 ? 0 : (place < LEVELS_OF_T - 1 ? (int)place : LEVELS_OF_T - 1);
    const double rise = t->value[i + 1] - t->value[i];
    if (slope)
        *slope = rise * t->per;
    return t->value[i] + (place - i) * rise; /* NaN stays NaN */
}

INLINE void add_field(field *sum, const field *f, double weight)
{
    sum->u += weight * f->u;
    sum->x += weight * f->x;
    sum->y += weight * f->y;
    sum->xx += weight * f->xx;
    sum->xy += weight * f->xy;
    sum->yy += weight * f->yy;
}

/* u of a quadratic at a step from its centre. */
INLINE double at_step(const field *f, const double *step)
{
    const double x = step[0], y = step[1];
    return f->u + f->x * x + f->y * y + 0.5 * (f->xx * x * x + f->yy * y * y) + f->xy * x * y;
}

static double hypotenuse(double x, double y)
{
    return sqrt(x * x + y * y);
}

/* Whether a step is longer than something; without a root. */
INLINE int is_beyond(double x, double y, double length)
{
    return x * x + y * y > length * length;
}

/* Towards the peak of a quadratic, or along its slope where it is no hill, but never further than `longest`; and not so far
   from the beam, all in beam widths, that it is another peak. */
static void step_to_peak(const field *f, double longest, const double *beam, const double *centre, double *step)
{
    const double det = f->xx * f->yy - f->xy * f->xy;
    const int is_hill = f->xx < 0.0 && det > 0.0;
    const double per = 1.0 / (is_hill ? det : f->u > 1e-12 ? f->u : 1e-12);
    double x = per * (is_hill ? f->xy * f->y - f->yy * f->x : f->x), y = per * (is_hill ? f->xy * f->x - f->xx * f->y : f->y);
    if (is_beyond(x, y, longest)) {
        const double share = longest / hypotenuse(x, y);
        x *= share;
        y *= share;
    }
    const double off_x = centre[0] + x - beam[0], off_y = centre[1] + y - beam[1];
    if (is_beyond(off_x, off_y, LOST)) {
        const double share = LOST / hypotenuse(off_x, off_y);
        x = beam[0] + share * off_x - centre[0];
        y = beam[1] + share * off_y - centre[1];
    }
    step[0] = x;
    step[1] = y;
}

/* Where a tick of the past, or of the way ahead if that is told, began, m. */
static const double *find_start(const twin *w, const prospect *f, long long when)
{
    return when < w->now ? w->place[when % RECENT] : (f ? f->way[when - w->now] : w->here);
}

/* Where it ended. */
static const double *find_end(const twin *w, const prospect *f, long long when)
{
    return when < w->now ? w->end[when % RECENT] : (f ? f->way[when - w->now + 1] : w->here);
}

/* Ticks by which places are later than power, as far as that is sure. */
static double find_apart(const twin *w, const process *p)
{
    const double value = w->state[PLACE_LATE] - w->state[POWER_LATE];
    const double variance = w->spread[PLACE_LATE][PLACE_LATE] + w->spread[POWER_LATE][POWER_LATE] -
                            2.0 * w->spread[PLACE_LATE][POWER_LATE];
    const double unsure = p->sure * p->sure * variance;
    return value * value > unsure ? value * (1.0 - unsure / (value * value)) : 0.0;
}

/* Where the beam was told to be at a time, ticks, m; up to a tick after the last one it went straight on. */
static void find_place(const twin *w, const process *p, const prospect *f, double time, double *place)
{
    const long long last = f ? w->now + N : w->now, kept = w->now - p->recent, first = kept > 0 ? kept : 0;
    const double at = clamp(time, (double)first, (double)last + 1.0);
    const long long when = at < (double)(last - 1) ? (long long)at : (last > first ? last - 1 : first);
    const double *from = find_start(w, f, when), *to = last > first ? find_end(w, f, when) : from;
    for (int axis = 0; axis < 2; ++axis)
        place[axis] = from[axis] + (at - (double)when) * (to[axis] - from[axis]);
}

/* W absorbed in a tick as it was told. */
static double find_watts(const twin *w, const process *p, long long when)
{
    const long long kept = w->now - p->recent;
    return when < 0 ? 0.0 : w->watts[(when > kept ? when : kept) % RECENT];
}

/* One tick of a first order lag of so many ticks: its mean, and the state that it leaves. */
static double pass_lag(double led, double power, double *state)
{
    const double left = (double)exponential((real)(-1.0 / led)), mean = power + (*state - power) * (1.0 - left) * led;
    *state = power + (*state - power) * left;
    return mean;
}

/* W absorbed in the ticks back from one, behind a lag of the laser of `led` ticks, and all of it so much later; those to
   come give nothing. Returns the lag's state after the newest tick. */
static double list_watts(const twin *w, const process *p, double led, double late, long long last, int count, real *watts)
{
    double came[WIDE + N + 2 + LATEST + SETTLED], state;
    const long long oldest = last - count + 1 - (led < SHORTEST ? LATEST : SETTLED), latest = last + LATEST < w->now ? last + LATEST : w->now - 1;
    int size = 0;
    state = find_watts(w, p, oldest);
    for (long long when = oldest; when <= latest; ++when, ++size)
        came[size] = led < SHORTEST ? find_watts(w, p, when) : pass_lag(led, find_watts(w, p, when), &state);
    for (int k = 0; k < count; ++k) {
        const double at = clamp((double)(last - k - oldest) - late, 0.0, (double)(size - 1));
        const int low = at < (double)(size - 2) ? (int)at : (size > 1 ? size - 2 : 0);
        const double next = size > 1 ? came[low + 1] : came[low];
        watts[k] = last - k < w->now && size > 0 ? (real)(came[low] + (at - low) * (next - came[low])) : (real)0;
    }
    return state;
}

/* Where the beam will be, as late as places are known to be. */
static void delay_way(const twin *w, const process *p, prospect *f)
{
    const double apart = find_apart(w, p), behind = apart > 0.0 ? apart : 0.0;
    for (int i = 0; i <= N; ++i)
        find_place(w, p, f, (double)(w->now + i) - behind, f->late[i]);
}

/* Where the peak may be at a moment, in beam widths: where the last plan expected it, if the beam went as it was to go,
   or as far from the beam, m, as it was last. */
static void guess_peak(const twin *w, const process *p, long long moment, const double *from, const double *to, double *point)
{
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = sqrt(dx * dx + dy * dy);
    const double ex = length > 0.0 ? dx / length : 1.0, ey = length > 0.0 ? dy / length : 0.0;
    const long long i = moment - w->planned - 1;
    if (i >= 0 && i < N && w->known[i] &&
        fabs(to[0] - w->beam[i][0]) + fabs(to[1] - w->beam[i][1]) < CLOSE * p->sigma) {
        point[0] = w->peak[i][0];
        point[1] = w->peak[i][1];
        return;
    }
    point[0] = to[0] / p->sigma + w->offset[0] * ex - w->offset[1] * ey;
    point[1] = to[1] / p->sigma + w->offset[0] * ey + w->offset[1] * ex;
}

static void widen(box *b, const double *point)
{
    for (int axis = 0; axis < 2; ++axis) {
        b->low[axis] = point[axis] < b->low[axis] ? point[axis] : b->low[axis];
        b->high[axis] = point[axis] > b->high[axis] ? point[axis] : b->high[axis];
    }
}

/* Expand old heat about the peaks that are looked for, in the frames of an image that was taken then and in the plan, and
   those of a few ticks after it; if that was not done yet. */
static void survey_far(twin *w, const process *p, const prospect *f, long long then)
{
    const long long oldest = then - p->exposure + 1, least = w->now - p->recent + 1 > 1 ? w->now - p->recent + 1 : 1;
    const long long frames[2] = {then, oldest > least ? oldest : least};
    box peaks = NOWHERE;
    double centre[2], point[2], size[2], ahead[2];
    for (int k = 0; k < 2 && then > 0; ++k) {
        guess_peak(w, p, frames[k], find_start(w, NULL, frames[k] - 1), find_end(w, NULL, frames[k] - 1), point);
        widen(&peaks, point);
    }
    for (int i = 0; i < N; ++i) {
        guess_peak(w, p, w->now + 1 + i, f->late[i], f->late[i + 1], point);
        widen(&peaks, point);
    }
    for (int axis = 0; axis < 2; ++axis) {
        centre[axis] = 0.5 * (peaks.low[axis] + peaks.high[axis]);
        size[axis] = 0.5 * (peaks.high[axis] - peaks.low[axis]);
        ahead[axis] = 0.5 * REUSED / N * (f->way[N][axis] - f->way[0][axis]) / p->sigma;
    }
    const double length = hypotenuse(size[0], size[1]) + AROUND + 1.5 * p->pixel / p->sigma;
    const double from = (double)frames[1], to = (double)(w->now + N);
    if (is_told(w, centre, length, from, to))
        return;
    centre[0] += ahead[0];
    centre[1] += ahead[1];
    expand_far(w, p, centre, length + hypotenuse(ahead[0], ahead[1]), 0.5 * (from + to + REUSED), 0.5 * (to - from + REUSED));
}

/* Gather the heat around the beam: where it was `age` ticks ago, is, and will be. */
static void survey(twin *w, const process *p, prospect *f, int age)
{
    const long long then = age > 0 && age <= p->recent && age < w->now ? w->now - age : w->now;
    box beam = NOWHERE;
    double centre[2], radius = 4.0 + 3.0 * p->pixel / p->sigma;
    widen(&beam, then > 0 ? find_end(w, NULL, then - 1) : w->here);
    widen(&beam, w->here);
    for (int i = 0; i <= N; ++i)
        widen(&beam, f->way[i]);
    w->sides = 0;
    for (int axis = 0; axis < 2; ++axis) {
        const double low = beam.low[axis], high = beam.high[axis], side = (f->way[N][axis] < 0.0 ? -0.5 : 0.5) * p->plate[axis];
        const double nearer = fabs(side - low) < fabs(side - high) ? fabs(side - low) : fabs(side - high);
        const double gap = low < side && side < high ? 0.0 : nearer;
        w->wall[axis] = side / p->sigma;
        if (2.0 * gap / p->sigma < (p->reach + 1.0) * sqrt(1.0 + w->grow * p->lags)) /* young heat is strong */
            w->sides |= 1 << axis;
        centre[axis] = 0.5 * (low + high) / p->sigma;
        radius += 0.5 * (high - low) / p->sigma;
    }
    delay_way(w, p, f);
    survey_far(w, p, f, then);
    gather(w, p, centre, radius, (double)(w->now + N));
}

/* Add heat seen from the mirror image of a point: derivatives across the mirror change sign. */
static void add_mirrored(field *sum, field f, int mirror)
{
    if (mirror & 1)
        f.x = -f.x;
    if (mirror & 2)
        f.y = -f.y;
    if (mirror == 1 || mirror == 2)
        f.xy = -f.xy;
    add_field(sum, &f, 1.0);
}

/* Where the beam was in the ticks that the rule looks at, back from one of them, if it was so late. */
static void list_track(const twin *w, const process *p, const prospect *f, double late, long long last, int count, track *t)
{
    const double per = 1.0 / p->sigma;
    for (int k = 0; k < count; ++k) {
        const long long when = last - k;
        const int there = when >= 0 && when >= w->now - p->recent;
        const double *from = there ? find_start(w, f, when) : w->here, *to = there ? find_end(w, f, when) : w->here;
        double place[2][2];
        if (late != 0.0 || !there) { /* before its first tick the beam was where that began */
            find_place(w, p, f, (double)when - late, place[0]);
            find_place(w, p, f, (double)(when + 1) - late, place[1]);
            from = place[0];
            to = place[1];
        }
        t->x[k] = (real)(from[0] * per);
        t->y[k] = (real)(from[1] * per);
        t->to_x[k] = (real)(to[0] * per);
        t->to_y[k] = (real)(to[1] * per);
    }
}

/* Quadratics around a point at the end of tick `from` of a track: all past heat, and that of each of
   the `ahead` ticks to come, per watt. */
static void look_around(const twin *w, const track *t, int from, int ahead, const double *point, field *fixed, field *coming)
{
    *fixed = sum_field(w, point[0], point[1]);
    add_far_field(&w->far, point, fixed);
    if (coming)
        memset(coming, 0, N * sizeof *coming);
    for (int mirror = 0; mirror < 4; ++mirror) {
        real sum[6][WIDE], watts[WIDE];
        double image[2], past[6];
        if (mirror & ~w->sides)
            continue;
        reflect(w, mirror, point, image);
        sum_rule_field(&w->rule, image[0], image[1], sum);
        for (int c = 0; c < 6; ++c) {
            for (int l = 0; l < WIDE; ++l)
                watts[l] = sum[c][l] * t->watts[from + l];
            past[c] = add_up(WIDE, watts);
        }
        const field all = {past[0], past[1], past[2], past[3], past[4], past[5]};
        add_mirrored(fixed, all, mirror);
        for (int l = 0; l < ahead; ++l) {
            const field one = {(double)sum[0][l], (double)sum[1][l], (double)sum[2][l],
                               (double)sum[3][l], (double)sum[4][l], (double)sum[5][l]};
            add_mirrored(&coming[ahead - 1 - l], one, mirror);
        }
    }
}

/* Add what each coming tick absorbs to the heat that no plan changes; the step from there to the peak. */
static void sum_outlook(const process *p, const outlook *o, int i, const double *watts, field *total, double *step)
{
    *total = o->fixed;
    for (int j = 0; j <= i; ++j)
        add_field(total, &o->tick[j], watts[j]);
    step_to_peak(total, p->longest, o->beam, o->centre, step);
}

/* What any plan near `watts`, absorbed, leads to after one of the coming ticks, around the peak that it makes then. */
static void look_at(twin *w, const process *p, const double *watts, prospect *f, int i)
{
    outlook *o = &f->at[i];
    double step[2];
    move_far(&w->far, (double)(w->now + 1 + i));
    spread_history(w, (double)(w->now + 1 + i), p->lags);
    place_rule(&w->coming, N - 1 - i, &w->rule);
    guess_peak(w, p, w->now + 1 + i, f->late[i], f->late[i + 1], o->centre);
    for (int axis = 0; axis < 2; ++axis)
        o->beam[axis] = f->late[i + 1][axis] / p->sigma;
    for (int round = 0;; ++round) {
        field total;
        look_around(w, &w->coming, N - 1 - i, i + 1, o->centre, &o->fixed, o->tick);
        sum_outlook(p, o, i, watts, &total, step);
        if (round == LOOKS || fabs(step[0]) + fabs(step[1]) < (round > 0 ? NEARBY : CLOSE))
            break;
        o->centre[0] += step[0];
        o->centre[1] += step[1];
    }
}

/* The same after each of them. */
static void look_ahead(twin *w, const process *p, const double *watts, prospect *f)
{
    const double apart = find_apart(w, p);
    list_track(w, p, f, apart > 0.0 ? apart : 0.0, w->now + N - 1, N + WIDE, &w->coming);
    list_watts(w, p, apart < 0.0 ? -apart : 0.0, 0.0, w->now + N - 1, N + WIDE, w->coming.watts);
    for (int i = 0; i < N; ++i)
        look_at(w, p, watts, f, i);
}

/* W absorbed in each coming tick under a plan, W commanded. */
static void absorb_plan(const process *p, const prospect *f, const double *plan, double *watts)
{
    for (int j = 0; j < N; ++j)
        watts[j] = p->absorptivity * (f->adrift[j] + dot(j + 1, f->follow[j], plan));
}

/* T_max of a plan, W commanded, its slopes in K per W, and where the peaks are. Where the plan moves a peak away from its
   quadratic, it looks again. */
static void foresee(twin *w, const process *p, prospect *f, const double *plan, double *T, double (*J)[N], double (*peak)[2])
{
    double watts[N];
    absorb_plan(p, f, plan, watts);
    for (int i = 0; i < N; ++i) {
        const outlook *o = &f->at[i];
        double step[2], gain[N] = {0}, slope;
        field total;
        sum_outlook(p, o, i, watts, &total, step);
        if (is_beyond(step[0], step[1], AGAIN)) {
            look_at(w, p, watts, f, i);
            sum_outlook(p, o, i, watts, &total, step);
        }
        T[i] = look_up(&p->temperature, w->state[GAIN] * at_step(&total, step), &slope);
        for (int j = 0; j <= i; ++j)
            gain[j] = slope * w->state[GAIN] * p->absorptivity * at_step(&o->tick[j], step);
        for (int c = 0; c < N; ++c) {
            double sum = 0.0;
            for (int j = c; j <= i; ++j)
                sum += gain[j] * f->follow[j][c];
            J[i][c] = sum;
        }
        peak[i][0] = o->centre[0] + step[0];
        peak[i][1] = o->centre[1] + step[1];
    }
}
