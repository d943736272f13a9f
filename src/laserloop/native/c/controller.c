/* A deployed network: the functions of laserloop_network.h around one handle.

   What no camera and no scanner can mean is not planned with: such a tick gets the rest of the last plan, and when nothing is
   left of it the least power until the next begin. */

#include "laserloop_network.h"

#define HANDLE struct laserloop_network
#define PUBLIC(name) laserloop_network_##name

typedef struct {
    workspace memory ALIGNED;
    problem wanted;
    int started;
    volatile int busy;
    int begun, first;       /* between begin and end; no tick since begin */
    int held, exhausted;    /* ticks held in a row; whether those were too many, until the next begin */
    double kept[N];         /* W, the plan of the last good tick from the coming tick on */
    int left;               /* of it */
    double seen[N + 3];     /* the last image: its temperatures and where its peak is */
    int age;                /* how many powers it was old; -1: none yet */
    unsigned tick;          /* of the last step */
    int status, image;
    unsigned long faults;
    double power;           /* W, the last answer */
    laserloop_network_output last;
} door;

#include "handle.c"

#ifndef LASERLOOP_MEASURE

int laserloop_network_init(struct laserloop_network *laser)
{
    door *d = (door *)(void *)laser;
    if (!is_aligned(laser))
        return -1;
    memset(d, 0, sizeof *d);
    forget(&d->memory);
    d->wanted = exported_problem;
    set_window(&d->wanted, d->wanted.low, d->wanted.high);
    d->status = LASERLOOP_NETWORK_NOT_BEGUN;
    d->image = LASERLOOP_NETWORK_NOT_READ;
    if (!is_arithmetic_exact())
        return -1;
    d->started = STARTED;
    return 0;
}

int laserloop_network_begin(struct laserloop_network *laser)
{
    door *d = use_door(laser);
    if (!d)
        return -1;
    forget(&d->memory);
    d->begun = d->first = 1;
    d->held = d->exhausted = d->left = 0;
    d->age = -1;
    d->faults = 0;
    d->busy = 0;
    return 0;
}

void laserloop_network_end(struct laserloop_network *laser)
{
    door *d = use_door(laser);
    if (!d)
        return;
    d->begun = 0;
    d->status = LASERLOOP_NETWORK_NOT_BEGUN;
    d->image = LASERLOOP_NETWORK_NOT_READ;
    d->busy = 0;
}

int laserloop_network_set_window(struct laserloop_network *laser, double low, double high)
{
    door *d = use_door(laser);
    if (!d)
        return -1;
    const int fits = low > 0.0 && low < high && high <= LASERLOOP_NETWORK_HOTTEST &&
                     low + d->wanted.margin_below < high - d->wanted.margin_above;
    if (fits)
        set_window(&d->wanted, low, high);
    d->busy = 0;
    return fits ? 0 : -1;
}

/* Whether the beam is where the model has been, or near the plate while it is dark, and no faster than scanners are. */
static int is_way(const double *way, int dark)
{
    const int inside = is_within(way[0], LASERLOOP_NETWORK_X_LOW, LASERLOOP_NETWORK_X_HIGH) &&
                       is_within(way[1], LASERLOOP_NETWORK_Y_LOW, LASERLOOP_NETWORK_Y_HIGH);
    const int near = is_within(way[0], -LASERLOOP_NETWORK_PLATE_X, LASERLOOP_NETWORK_PLATE_X) &&
                     is_within(way[1], -LASERLOOP_NETWORK_PLATE_Y, LASERLOOP_NETWORK_PLATE_Y);
    return (dark ? near : inside) && is_within(way[2], -LASERLOOP_NETWORK_FASTEST, LASERLOOP_NETWORK_FASTEST) &&
           is_within(way[3], -LASERLOOP_NETWORK_FASTEST, LASERLOOP_NETWORK_FASTEST);
}

/* Whether the temperatures are those of a plate, and the peak is on it. */
static int is_plausible(const laserloop_network_input *in)
{
    int plausible = is_within(in->location[0], -0.5 * LASERLOOP_NETWORK_PLATE_X, 0.5 * LASERLOOP_NETWORK_PLATE_X) &&
                    is_within(in->location[1], -0.5 * LASERLOOP_NETWORK_PLATE_Y, 0.5 * LASERLOOP_NETWORK_PLATE_Y);
    for (int i = 0; i <= N; ++i)
        plausible = plausible && is_within(in->temps[i], LASERLOOP_NETWORK_COLDEST, LASERLOOP_NETWORK_HOTTEST);
    return plausible;
}

/* Whether this is the last image again that says to be a new one, and not of a plate at rest: the same peak at the same place,
   or, of a camera that follows the beam, the same temperatures. */
static int is_frozen(const door *d, const laserloop_network_input *in)
{
    int rests = 1;
    for (int i = 1; i <= N; ++i)
        rests = rests && in->temps[i] == in->temps[0];
    return !rests && d->age >= 0 && in->committed_count <= d->age && in->temps[0] == d->seen[0] &&
           (memcmp(in->location, d->seen + N + 1, sizeof in->location) == 0 ||
            memcmp(in->temps, d->seen, sizeof in->temps) == 0);
}

/* What is to be thought of an image. */
static int judge_image(const door *d, const laserloop_network_input *in)
{
    if (in->committed_count < 0 || in->committed_count >= N)
        return LASERLOOP_NETWORK_TOO_OLD;
    if (!is_plausible(in))
        return LASERLOOP_NETWORK_IMPLAUSIBLE;
    return is_frozen(d, in) ? LASERLOOP_NETWORK_FROZEN : LASERLOOP_NETWORK_TAKEN;
}

static void ask(const laserloop_network_input *in, question *asked)
{
    memcpy(asked->kinematics, in->kinematics, sizeof asked->kinematics);
    memcpy(asked->heat, in->temps, (N + 1) * sizeof *asked->heat);
    memcpy(asked->heat + N + 1, in->location, 2 * sizeof *asked->heat);
    asked->previous = in->previous;
    asked->first = in->committed_count;
    asked->resumes = in->was_dark != 0;
    for (int i = 0; i < N; ++i) {
        const double held = i > 0 ? asked->start[i - 1] : in->previous;
        asked->start[i] = i < asked->first ? in->committed[i] : (in->start ? in->start[i] : held);
        asked->lit[i] = !in->dark[i];
    }
}

/* Some ticks have passed of the plan that is kept. */
static void drop_plan(door *d, int ticks)
{
    const int gone = ticks < d->left ? ticks : d->left;
    d->left -= gone;
    memmove(d->kept, d->kept + gone, (size_t)d->left * sizeof *d->kept);
}

/* The powers that were given, then the least; nothing where it is dark. */
static void dim(const door *d, const laserloop_network_input *in, int first, double *plan)
{
    for (int i = 0; i < N; ++i)
        plan[i] = i < first      ? clamp(in->committed[i], d->wanted.least, d->wanted.full)
                  : in->dark[i] ? 0.0
                                : d->wanted.least;
}

/* Go on with the last plan, then with the least power until the next begin; returns the status. */
static int hold_on(door *d, const laserloop_network_input *in, int first, int status, double *plan)
{
    dim(d, in, first, plan);
    d->exhausted = d->exhausted || ++d->held >= N;
    if (d->exhausted)
        return LASERLOOP_NETWORK_EXHAUSTED;
    for (int i = first; i - first < d->left && i < N; ++i)
        if (!in->dark[i] && status != LASERLOOP_NETWORK_LEAST)
            plan[i] = d->kept[i - first] > d->wanted.least ? d->kept[i - first] : d->wanted.least;
    drop_plan(d, 1);
    return status;
}

/* Plan the coming ticks; returns the status. */
static int plan_on(door *d, const laserloop_network_input *in, double *plan, int *count)
{
    const int first = in->committed_count;
    question asked;
    int status;
    ask(in, &asked);
    memcpy(d->seen, in->temps, sizeof in->temps);
    memcpy(d->seen + N + 1, in->location, sizeof in->location);
    d->age = first;
    status = solve_tick(&exported_network, &d->wanted, &asked, &d->memory, count);
    give(&d->wanted, &asked, &d->memory, plan);
    if (status == NO_PREDICTION)
        return hold_on(d, in, first, LASERLOOP_NETWORK_NO_PREDICTION, plan);
    d->held = 0;
    d->left = N - 1 - first;
    memcpy(d->kept, plan + first + 1, (size_t)d->left * sizeof *d->kept);
    return status;
}

/* The plan of a tick that is begun; `first`: of which power of it is the coming tick's. */
static int decide(door *d, const laserloop_network_input *in, int *first, double *plan, int *count)
{
    int way = 1;
    for (int i = 0; i < N; ++i)
        way = way && is_way(in->kinematics[i], in->dark[i]);
    *first = in->committed_count > 0 && in->committed_count < N ? in->committed_count : 0;
    d->image = way ? judge_image(d, in) : LASERLOOP_NETWORK_NOT_READ;
    if (d->exhausted) {
        dim(d, in, *first, plan);
        return LASERLOOP_NETWORK_EXHAUSTED;
    }
    if (d->image == LASERLOOP_NETWORK_TAKEN)
        return plan_on(d, in, plan, count);
    if (d->image == LASERLOOP_NETWORK_TOO_OLD || is_within(in->temps[0], d->wanted.high, LASERLOOP_NETWORK_HOTTEST))
        return hold_on(d, in, *first, LASERLOOP_NETWORK_LEAST, plan);
    return hold_on(d, in, *first, way ? LASERLOOP_NETWORK_HELD : LASERLOOP_NETWORK_BAD_PLACE, plan);
}

/* An answer that nothing was done for: one power in all ticks. */
static double refuse(const laserloop_network_input *in, double power, int status, laserloop_network_output *out)
{
    laserloop_network_output answer;
    const int first = in && in->committed_count > 0 && in->committed_count < N ? in->committed_count : 0;
    memset(&answer, 0, sizeof answer);
    for (int i = 0; i < N; ++i) {
        answer.plan[i] = in && in->dark[i] ? 0.0 : power;
        answer.predicted[i] = NAN;
    }
    answer.status = status;
    answer.image = LASERLOOP_NETWORK_NOT_READ;
    if (out)
        *out = answer;
    return answer.plan[first];
}

/* Note what was ever wrong. */
static void note_faults(door *d, int missed)
{
    if (d->image >= LASERLOOP_NETWORK_IMPLAUSIBLE && d->image < LASERLOOP_NETWORK_NOT_READ)
        d->faults |= LASERLOOP_NETWORK_FAULT_OF_IMAGE(d->image);
    if (d->status != LASERLOOP_NETWORK_SOLVED)
        d->faults |= LASERLOOP_NETWORK_FAULT_OF_STATUS(d->status);
    if (missed > 0)
        d->faults |= LASERLOOP_NETWORK_FAULT_MISSED;
}

/* A tick of its own: decide and remember the answer. */
static void answer_tick(door *d, const laserloop_network_input *in, int ticks)
{
    laserloop_network_output *a = &d->last;
    const int missed = d->first ? 0 : ticks - 1;
    int first;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < N; ++i)
        d->memory.T[i] = NAN;
    drop_plan(d, missed);
    d->status = decide(d, in, &first, a->plan, &a->iterations);
    d->tick = in->tick;
    d->first = 0;
    d->power = a->plan[first];
    note_faults(d, missed);
    copy(a->predicted, d->memory.T);
    a->faults = d->faults;
    a->status = d->status;
    a->image = d->image;
    a->missed = missed;
}

double laserloop_network_step(struct laserloop_network *laser, const laserloop_network_input *in, laserloop_network_output *out)
{
    door *d = open_door(laser);
    if (!d || !d->begun)
        return refuse(in, 0.0, LASERLOOP_NETWORK_NOT_BEGUN, out);
    if (d->busy)
        return refuse(in, d->wanted.least, LASERLOOP_NETWORK_BUSY, out);
    d->busy = 1;
    const unsigned ticks = !in ? 0 : d->first ? 1 : in->tick - d->tick;
    if (!in || ticks > LASERLOOP_NETWORK_MISSED_MOST + 1) {
        d->status = LASERLOOP_NETWORK_BAD_TICK;
        d->image = LASERLOOP_NETWORK_NOT_READ;
        note_faults(d, 0);
        d->busy = 0;
        return refuse(in, d->wanted.least, LASERLOOP_NETWORK_BAD_TICK, out);
    }
    if (ticks == 0)
        d->faults |= LASERLOOP_NETWORK_FAULT_DOUBLED;
    else
        answer_tick(d, in, (int)ticks);
    d->status = d->last.status;
    d->image = d->last.image;
    const double power = d->power;
    if (out)
        *out = d->last;
    d->busy = 0;
    return power;
}

int laserloop_network_status(const struct laserloop_network *laser, const char **sentence)
{
    static const char *const sentences[] = {LASERLOOP_NETWORK_SENTENCES};
    const door *d = open_door(laser);
    return explain(d ? d->status : LASERLOOP_NETWORK_NOT_BEGUN, sentences, sentence);
}

int laserloop_network_image(const struct laserloop_network *laser, const char **sentence)
{
    static const char *const sentences[] = {LASERLOOP_NETWORK_READINGS};
    const door *d = open_door(laser);
    return explain(d ? d->image : LASERLOOP_NETWORK_NOT_READ, sentences, sentence);
}
#endif
