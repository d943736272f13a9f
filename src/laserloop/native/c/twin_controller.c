/* A deployed twin: the functions of laserloop_twin.h around one handle.

   The plate goes on cooling and moving whatever is measured, so every tick is absorbed into the history, if need be with
   what was told instead of what is reported. What cannot be is not compared and not planned with: such a tick holds. */

#include "laserloop_twin.h"

#define LITTLE 1.2     /* of the heat below which nothing is compared, that the middle of a window must have */
#define DOUBTED 3      /* ticks that a meter may contradict the command before it is not believed */
#define AGREED 8       /* ticks after which it is believed again, at most */
#define AGREES 0.02    /* of the most power: a meter that is off by less agrees with the command */
#define SCALE_TICKS 8  /* over which a meter's own scale is learnt, */
#define SCALE_LOW 0.8  /* and its bounds */
#define SCALE_HIGH 1.25
#define CALM 32        /* measurements taken in, after which too hot ones before are forgotten */
#define DOUBTFUL 16    /* ticks in which nothing may be taken in after that */
#define LOST_MOST 1000000 /* ticks, after which the beam may be anywhere */
#define HANDLE struct laserloop_twin
#define PUBLIC(name) laserloop_twin_##name

typedef struct {
    memory own ALIGNED;
    problem wanted;
    int started;
    volatile int busy;
    int begun, first;      /* between begin and end; no tick since begin */
    int running;           /* a tick was answered that is not in the history yet */
    int held, exhausted;   /* ticks held in a row, of lit ones; whether those were too many, until the next begin */
    int strikes, suspect;  /* how often it was too hot; ticks since the last time until something is taken in, 0: it was */
    int calm;              /* measurements taken in since */
    int lost;              /* ticks since the beam was last somewhere credible */
    int unmeasured;        /* ticks since a measurement was taken in */
    unsigned tick;         /* of the last step */
    double told, good;     /* W, the last answer, and the last that was planned */
    double way[N + 1][2];  /* m, where the last credible way leads */
    int dark[N];           /* whether it has the laser off */
    int was_dark;          /* in the tick that ends now */
    double scale;          /* of the power meter: measured over expected */
    int doubt;             /* how often it contradicted the command */
    long long taken;       /* tick of the newest measurement, -1: none */
    double hottest, sum;   /* what it was, */
    double at[2];          /* and where the beam was when that came first */
    int is_outlier;        /* whether it was left out */
    double heat, trust;    /* u of its peak at a gain of 1, and the gain, when that value came first */
    int status, measurement;
    unsigned long faults;
    laserloop_twin_output last;
} door;

#include "handle.c"

#ifndef LASERLOOP_MEASURE
#include "twin_reading.c"

/* Whether the compiler left the arithmetic of the field as it is written. */
static int is_field_exact(void)
{
    volatile real minus = (real)-1, four = (real)4;
    return is_arithmetic_exact() && fabs((double)exponential(minus) - 0.36787944117144233) < 1e-6 &&
           fabs((double)inverse_root(four) - 0.5) < 1e-6;
}

int laserloop_twin_init(struct laserloop_twin *laser)
{
    door *d = (door *)(void *)laser;
    if (!is_aligned(laser))
        return -1;
    memset(d, 0, sizeof *d);
    d->status = LASERLOOP_TWIN_NOT_BEGUN;
    d->measurement = LASERLOOP_TWIN_NOT_READ;
    d->taken = -1;
    d->scale = 1.0;
    d->wanted = exported_problem;
    set_window(&d->wanted, d->wanted.low, d->wanted.high);
    start_twin(&exported_process, &d->own);
    if (!is_field_exact())
        return -1;
    d->started = STARTED;
    return 0;
}

static int is_on_plate(const double *place, double times) /* of its half size */
{
    return is_within(place[0], -0.5 * times * LASERLOOP_TWIN_PLATE_X, 0.5 * times * LASERLOOP_TWIN_PLATE_X) &&
           is_within(place[1], -0.5 * times * LASERLOOP_TWIN_PLATE_Y, 0.5 * times * LASERLOOP_TWIN_PLATE_Y);
}

/* A command that a laser of this process can have been given. */
static int is_command(double power)
{
    return is_within(power, -LASERLOOP_TWIN_METER_ZERO, LASERLOOP_TWIN_POWER_MOST);
}

/* What is as good as no power is none: the laser counts as off. */
static double mend_power(double power)
{
    return power < LASERLOOP_TWIN_POWER_DARK ? 0.0 : power;
}

/* W that a tick gave, on average, under a command. A meter is believed near what is expected: its scale is learnt slowly, and
   one that contradicts the command for longer than a laser takes to follow is not believed. */
static double find_power(door *d, double command, const laserloop_twin_power *said)
{
    const double expected = expect_power(&exported_process, &d->own, command), most = LASERLOOP_TWIN_METER_OFF;
    if (!said || !said->metered)
        return expected;
    const int can_be = is_within(said->measured, -LASERLOOP_TWIN_METER_ZERO, LASERLOOP_TWIN_POWER_MOST);
    const double measured = can_be ? mend_power(said->measured) : 0.0, off = measured / d->scale - expected;
    if (!can_be || fabs(off) > AGREES * LASERLOOP_TWIN_POWER_HIGH)
        forget_lag(&d->own.w, &exported_process); /* which of the two is late, no image can tell then */
    if (!can_be || fabs(off) > most)
        d->doubt = d->doubt < AGREED ? d->doubt + 1 : AGREED;
    else
        d->doubt = d->doubt > 0 ? d->doubt - 1 : 0;
    if (!can_be || d->doubt >= DOUBTED) {
        d->faults |= LASERLOOP_TWIN_FAULT_METER;
        return expected;
    }
    if (expected > most)
        d->scale = clamp(d->scale + (measured / expected - d->scale) / SCALE_TICKS, SCALE_LOW, SCALE_HIGH);
    return expected + clamp(off, -most, most);
}

/* One tick becomes history: the beam goes to `end` under a command; `said` is what a meter has to say about it. */
static void pass_tick(door *d, double command, const laserloop_twin_power *said, const double *end)
{
    const double told = mend_power(command);
    follow_power(&exported_process, &d->own, told, find_power(d, told, said), end[0], end[1]);
}

/* The tick that was answered last is over, and no other follows. */
static void close_tick(door *d, const laserloop_twin_power *last)
{
    if (d->running)
        pass_tick(d, last && is_command(last->commanded) ? last->commanded : d->told, last, d->way[1]);
    d->running = d->begun = 0;
    d->status = LASERLOOP_TWIN_NOT_BEGUN;
    d->measurement = LASERLOOP_TWIN_NOT_READ;
}

/* The beam goes to a place in some ticks of the dark, and what was is no longer a fault. */
static void start_part(door *d, const double *place, double ticks)
{
    cool_twin(&exported_process, &d->own, ticks, place[0], place[1]);
    d->was_dark = ticks >= 1.0;
    d->held = d->exhausted = d->strikes = d->suspect = d->calm = d->lost = d->unmeasured = d->doubt = 0;
    d->faults = 0;
    d->told = d->good = 0.0;
    d->own.left = 0;
    for (int i = 0; i <= N; ++i)
        memcpy(d->way[i], place, sizeof d->way[i]);
}

void laserloop_twin_end(struct laserloop_twin *laser, const laserloop_twin_power *last)
{
    door *d = use_door(laser);
    if (!d)
        return;
    close_tick(d, last);
    d->busy = 0;
}

int laserloop_twin_begin(struct laserloop_twin *laser, double x, double y, double pause)
{
    const double place[2] = {x, y}, ticks = pause / LASERLOOP_TWIN_TICK + 0.5;
    door *d = use_door(laser);
    if (!d)
        return -1;
    close_tick(d, NULL);
    d->begun = d->first = is_on_plate(place, 1.0) && is_within(pause, 0.0, LASERLOOP_TWIN_PAUSE_MOST);
    if (d->begun)
        start_part(d, place, d->own.w.now > 0 ? ticks : 0.0);
    d->busy = 0;
    return d->begun ? 0 : -1;
}

int laserloop_twin_set_window(struct laserloop_twin *laser, double low, double high)
{
    const process *p = &exported_process;
    door *d = use_door(laser);
    if (!d)
        return -1;
    const int fits = low > p->ambient && low < high && high <= LASERLOOP_TWIN_HOTTEST &&
                     low + d->wanted.margin_below < high - d->wanted.margin_above &&
                     look_up(&p->heat, 0.5 * (low + high), NULL) >= LITTLE * p->few;
    if (fits)
        set_window(&d->wanted, low, high);
    d->busy = 0;
    return fits ? 0 : -1;
}

long laserloop_twin_units(double power)
{
    const double most = LASERLOOP_TWIN_POWER_HIGH;
    return (long)(clamp(power, 0.0, most) / most * LASERLOOP_TWIN_UNITS_MAX + 0.5);
}

/* Whether the beam can go from a to b in some ticks. */
static int can_go(const double *a, const double *b, int dark, int ticks)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1];
    const double most = (dark ? LASERLOOP_TWIN_FASTEST : LASERLOOP_TWIN_FASTEST_LIT) * LASERLOOP_TWIN_TICK * ticks;
    return is_on_plate(b, dark ? 2.0 : 1.0) && dx * dx + dy * dy <= most * most;
}

/* Whether the beam can be where it is said to be, some ticks after the last step. */
static int is_here(const door *d, const laserloop_twin_input *in, int ticks)
{
    int dark = 0;
    for (int i = 0; i < ticks && i < N && !d->first; ++i)
        dark = dark || d->dark[i];
    return can_go(d->own.w.here, in->way[0], dark, d->lost + ticks);
}

/* Whether it can go where it is said to go. */
static int is_way(const laserloop_twin_input *in)
{
    for (int i = 0; i < N; ++i)
        if (!can_go(in->way[i], in->way[i + 1], in->dark[i] != 0, 1))
            return 0;
    return 1;
}

/* Where the k-th of some ticks since the last step ended: as that was told the way, then straight to where the beam is. */
static void find_stop(const door *d, const double *now, int k, int ticks, double *stop)
{
    for (int axis = 0; axis < 2; ++axis)
        stop[axis] = k == ticks ? now[axis]
                     : k <= N   ? d->way[k][axis]
                                : d->way[N][axis] + (now[axis] - d->way[N][axis]) * (k - N) / (ticks - N);
}

/* Some ticks of the plan that is kept have passed. */
static void drop_plan(door *d, int ticks)
{
    const int gone = ticks < d->own.left ? ticks : d->own.left;
    d->own.left -= gone;
    memmove(d->own.kept, d->own.kept + gone, (size_t)d->own.left * sizeof *d->own.kept);
}

/* The ticks since the last step become history. Those of missed calls went as that step was told, the first under its answer
   and the others under what is reported now. */
static void pass_ticks(door *d, const laserloop_twin_input *in, int ticks, int here)
{
    const double reported = is_command(in->power.commanded) ? in->power.commanded : d->told;
    const double *now = here ? in->way[0] : d->way[ticks < N ? ticks : N];
    double stop[2];
    for (int k = 1; k <= ticks; ++k) {
        const int dark = k <= N && d->dark[k - 1];
        find_stop(d, now, k, ticks, stop);
        if (k == ticks)
            pass_tick(d, reported, &in->power, stop);
        else
            pass_tick(d, k == 1 ? d->told : dark ? 0.0 : reported, NULL, stop);
    }
    d->was_dark = ticks <= N ? d->dark[ticks - 1] : d->dark[N - 1];
    for (int i = 0; i <= N; ++i)
        memcpy(d->way[i], d->way[i + ticks < N ? i + ticks : N], sizeof d->way[i]);
    drop_plan(d, ticks - 1);
}

/* Take in what the machine did and will do. Returns 0, or why that is not believed. */
APART int take_ticks(door *d, const laserloop_twin_input *in, int ticks)
{
    const int here = is_here(d, in, ticks), given = d->first || is_command(in->power.commanded);
    if (!d->first) {
        pass_ticks(d, in, ticks, here);
        d->unmeasured = d->unmeasured + ticks < LOST_MOST ? d->unmeasured + ticks : LOST_MOST;
    } else if (here) {
        memcpy(d->own.w.here, in->way[0], sizeof d->own.w.here);
    }
    d->first = 0;
    d->lost = here ? 0 : d->lost + ticks < LOST_MOST ? d->lost + ticks : LOST_MOST;
    if (!here || !is_way(in))
        return LASERLOOP_TWIN_BAD_PLACE;
    memcpy(d->own.f.way, in->way, sizeof d->own.f.way);
    memcpy(d->way, in->way, sizeof d->way);
    survey(&d->own.w, &exported_process, &d->own.f, in->seen ? in->age : -1);
    return given ? 0 : LASERLOOP_TWIN_BAD_POWER;
}

/* The least power wherever it is not dark. */
static void dim(const door *d, const laserloop_twin_input *in, double *plan)
{
    for (int i = 0; i < N; ++i)
        plan[i] = in->dark[i] ? 0.0 : d->wanted.least;
}

/* Go on with the last plan, with care, then with the least power until the next begin; returns the status. */
static int hold_on(door *d, const laserloop_twin_input *in, int status, double *plan)
{
    const double most = d->good < LASERLOOP_TWIN_POWER_HOLD ? d->good : LASERLOOP_TWIN_POWER_HOLD;
    const int left = d->own.left;
    dim(d, in, plan);
    d->held += !in->dark[0];
    d->exhausted = d->exhausted || d->held >= N;
    if (d->exhausted)
        return LASERLOOP_TWIN_EXHAUSTED;
    for (int i = 0; i < left; ++i)
        if (!in->dark[i] && status != LASERLOOP_TWIN_LEAST)
            plan[i] = clamp(d->own.kept[i] < most ? d->own.kept[i] : most, d->wanted.least, d->wanted.full);
    drop_plan(d, 1);
    return status;
}

/* After it was too hot, and as long as nothing that is measured fits: each time half as much as before. */
static void relight(door *d, double *plan)
{
    double most = LASERLOOP_TWIN_POWER_HOLD;
    for (int k = 0; k < d->strikes; ++k)
        most *= 0.5;
    most = most > d->wanted.least ? most : d->wanted.least;
    for (int i = 0; i < N; ++i)
        plan[i] = plan[i] < most ? plan[i] : most;
    memcpy(d->own.kept, plan + 1, (N - 1) * sizeof *plan);
}

/* Remember how often it was too hot before a tick that is lit. */
static void count_strikes(door *d, int hot, int dark)
{
    if (hot) {
        d->suspect = 1;
        d->calm = 0;
        d->strikes += !dark;
        d->exhausted = d->exhausted || d->strikes >= N;
    } else if (d->measurement == LASERLOOP_TWIN_TAKEN) {
        d->suspect = 0;
        d->strikes = ++d->calm >= CALM ? 0 : d->strikes;
    } else if (d->suspect > 0) {
        d->suspect += !dark;
        d->exhausted = d->exhausted || d->suspect > DOUBTFUL;
    }
}

/* Plan the coming ticks; returns the status. */
APART int plan_on(door *d, const laserloop_twin_input *in, double *plan, int *count)
{
    double kept[N];
    int lit[N], status;
    const int left = d->own.left;
    copy(kept, d->own.kept);
    for (int i = 0; i < N; ++i)
        lit[i] = !in->dark[i];
    status = decide_twin(&exported_process, &d->wanted, &d->own, lit, d->was_dark, plan, count);
    if (status == NO_PREDICTION) {
        copy(d->own.kept, kept);
        d->own.left = left;
        return hold_on(d, in, LASERLOOP_TWIN_NO_PREDICTION, plan);
    }
    d->held = 0;
    if (d->suspect)
        relight(d, plan);
    if (lit[0])
        d->good = plan[0];
    return status;
}

/* The power of a tick that is begun. */
static int decide(door *d, const laserloop_twin_input *in, int ticks, double *plan, int *count)
{
    int hot = 0;
    const int wrong = take_ticks(d, in, ticks);
    d->measurement = wrong ? LASERLOOP_TWIN_NOT_READ : take_measurement(d, in, &hot);
    count_strikes(d, hot, in->dark[0] != 0);
    if (d->exhausted) {
        dim(d, in, plan);
        return LASERLOOP_TWIN_EXHAUSTED;
    }
    if (hot)
        return hold_on(d, in, LASERLOOP_TWIN_LEAST, plan);
    if (wrong)
        return hold_on(d, in, wrong, plan);
    if (d->measurement >= LASERLOOP_TWIN_IMPLAUSIBLE)
        return hold_on(d, in, LASERLOOP_TWIN_HELD, plan);
    return plan_on(d, in, plan, count);
}

/* An answer that nothing was done for: one power in all ticks. */
static double refuse(const laserloop_twin_input *in, double power, int status, laserloop_twin_output *out)
{
    laserloop_twin_output answer;
    memset(&answer, 0, sizeof answer);
    for (int i = 0; i < N; ++i) {
        answer.plan[i] = in && in->dark[i] ? 0.0 : power;
        answer.predicted[i] = NAN;
    }
    answer.gain = 1.0;
    answer.units = laserloop_twin_units(answer.plan[0]);
    answer.status = status;
    answer.measurement = LASERLOOP_TWIN_NOT_READ;
    if (out)
        *out = answer;
    return answer.plan[0];
}

/* Note what was ever wrong. */
static void note_faults(door *d, int missed)
{
    if (d->measurement >= LASERLOOP_TWIN_LEFT_OUT && d->measurement < LASERLOOP_TWIN_NOT_READ)
        d->faults |= LASERLOOP_TWIN_FAULT_OF_MEASUREMENT(d->measurement);
    if (d->status != LASERLOOP_TWIN_SOLVED)
        d->faults |= LASERLOOP_TWIN_FAULT_OF_STATUS(d->status);
    if (missed > 0)
        d->faults |= LASERLOOP_TWIN_FAULT_MISSED;
}

/* A tick of its own: decide and remember the answer. */
static void answer_tick(door *d, const laserloop_twin_input *in, int ticks)
{
    laserloop_twin_output *a = &d->last;
    const int missed = d->first ? 0 : ticks - 1;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < N; ++i)
        d->own.s.T[i] = NAN;
    d->status = decide(d, in, ticks, a->plan, &a->iterations);
    d->tick = in->tick;
    d->told = a->plan[0];
    d->running = 1;
    for (int i = 0; i < N; ++i)
        d->dark[i] = in->dark[i] != 0;
    note_faults(d, missed);
    copy(a->predicted, d->own.s.T);
    a->place[0] = d->own.w.peak[0][0] * exported_process.sigma;
    a->place[1] = d->own.w.peak[0][1] * exported_process.sigma;
    a->gain = d->own.w.state[GAIN];
    a->faults = d->faults;
    a->units = laserloop_twin_units(d->told);
    a->status = d->status;
    a->measurement = d->measurement;
    a->missed = missed;
    a->unmeasured = d->unmeasured;
}

double laserloop_twin_step(struct laserloop_twin *laser, const laserloop_twin_input *in, laserloop_twin_output *out)
{
    door *d = open_door(laser);
    if (!d || !d->begun)
        return refuse(in, 0.0, LASERLOOP_TWIN_NOT_BEGUN, out);
    if (d->busy)
        return refuse(in, d->wanted.least, LASERLOOP_TWIN_BUSY, out);
    d->busy = 1;
    const unsigned ticks = !in ? 0 : d->first ? 1 : in->tick - d->tick;
    if (!in || ticks > LASERLOOP_TWIN_MISSED_MOST + 1) {
        d->status = LASERLOOP_TWIN_BAD_TICK;
        d->measurement = LASERLOOP_TWIN_NOT_READ;
        note_faults(d, 0);
        d->busy = 0;
        return refuse(in, d->wanted.least, LASERLOOP_TWIN_BAD_TICK, out);
    }
    if (ticks == 0)
        d->faults |= LASERLOOP_TWIN_FAULT_DOUBLED;
    else
        answer_tick(d, in, (int)ticks);
    d->status = d->last.status;
    d->measurement = d->last.measurement;
    const double power = d->last.plan[0];
    if (out)
        *out = d->last;
    d->busy = 0;
    return power;
}

int laserloop_twin_status(const struct laserloop_twin *laser, const char **sentence)
{
    static const char *const sentences[] = {LASERLOOP_TWIN_SENTENCES};
    const door *d = open_door(laser);
    return explain(d ? d->status : LASERLOOP_TWIN_NOT_BEGUN, sentences, sentence);
}

int laserloop_twin_measurement(const struct laserloop_twin *laser, const char **sentence)
{
    static const char *const sentences[] = {LASERLOOP_TWIN_READINGS};
    const door *d = open_door(laser);
    return explain(d ? d->measurement : LASERLOOP_TWIN_NOT_READ, sentences, sentence);
}
#endif
