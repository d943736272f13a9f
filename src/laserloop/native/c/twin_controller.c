/* The door of a deployed twin: a few functions around one static memory.

   The plate goes on cooling and moving whatever is measured, so every tick is absorbed into the history, if need be with
   what was told instead of what is reported. What cannot be is not compared and not planned with: such a tick holds. */

#include "twin_reading.c"

#define FROZEN_K 5.0 /* K that the expected peak has moved while the measured one has not */

static memory own;
static problem wanted;
static struct {
    int begun, first;         /* between begin and end; no tick since begin */
    int was_dark, lost;       /* the last tick; ticks since the beam was last somewhere credible */
    double told, good;        /* W, the last answer, and the last that was planned */
    double way[N + 1][2];     /* m, where the last credible way leads */
    int status;
    long long taken;          /* tick of the last measurement, -1: none */
    double print[3], at[2];   /* what it was, and where the beam was then */
    double expected;          /* K, of the peak when that value came first */
} door;

void laserloop_init(void)
{
    memset(&door, 0, sizeof door);
    door.status = LASERLOOP_NOT_BEGUN;
    door.taken = -1;
    wanted = exported_problem;
    set_window(&wanted, wanted.low, wanted.high);
    start_twin(&exported_process, &own);
}

static void wake(void)
{
    if (!(wanted.full > 0.0))
        laserloop_init();
}

void laserloop_cleanup(void)
{
    laserloop_init();
    memset(&own, 0, sizeof own);
    memset(&wanted, 0, sizeof wanted);
}

void laserloop_end(void)
{
    door.begun = 0;
    door.status = LASERLOOP_NOT_BEGUN;
}

static int is_on_plate(const double *place, double times) /* of its half size */
{
    return is_within(place[0], -0.5 * times * LASERLOOP_PLATE_X, 0.5 * times * LASERLOOP_PLATE_X) &&
           is_within(place[1], -0.5 * times * LASERLOOP_PLATE_Y, 0.5 * times * LASERLOOP_PLATE_Y);
}

int laserloop_begin(double x, double y, double pause)
{
    const double place[2] = {x, y}, ticks = pause / LASERLOOP_TICK + 0.5;
    wake();
    door.begun = 0;
    door.status = LASERLOOP_NOT_BEGUN;
    if (!is_on_plate(place, 1.0) || !is_within(ticks, 0.0, 1e15))
        return -1;
    if (own.w.now == 0) {
        own.w.here[0] = x;
        own.w.here[1] = y;
    } else {
        cool_twin(&exported_process, &own, ticks > 1.0 ? ticks : 1.0, x, y);
    }
    door.was_dark = own.w.now > 0;
    door.begun = door.first = 1;
    door.lost = 0;
    door.told = door.good = 0.0;
    own.left = 0;
    for (int i = 0; i <= N; ++i)
        memcpy(door.way[i], own.w.here, sizeof own.w.here);
    return 0;
}

int laserloop_set_window(double low, double high)
{
    wake();
    if (!(low > exported_process.ambient) || !(low < high) || !(high <= LASERLOOP_HOTTEST) ||
        !(low + wanted.margin_below < high - wanted.margin_above))
        return -1;
    set_window(&wanted, low, high);
    return 0;
}

long laserloop_units(double power)
{
    return (long)(clamp(power, 0.0, LASERLOOP_POWER_HIGH) / LASERLOOP_POWER_HIGH * LASERLOOP_UNITS_MAX + 0.5);
}

/* Whether the beam can go from a to b in some ticks. */
static int can_go(const double *a, const double *b, int dark, int ticks)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1];
    const double most = (dark ? LASERLOOP_FASTEST : LASERLOOP_FASTEST_LIT) * LASERLOOP_TICK * ticks;
    return is_on_plate(b, dark ? 2.0 : 1.0) && dx * dx + dy * dy <= most * most;
}

/* Whether the beam can be where it is said to be. */
static int is_here(const laserloop_input *in)
{
    return can_go(own.w.here, in->way[0], door.was_dark && !door.first, door.lost + 1);
}

/* Whether it can go where it is said to go. */
static int is_way(const laserloop_input *in)
{
    for (int i = 0; i < N; ++i)
        if (!can_go(in->way[i], in->way[i + 1], in->dark[i] != 0, 1))
            return 0;
    return 1;
}

/* The tick that ends now becomes part of the history. Returns 0, or why what was said of it is not believed. */
static int take_tick(const laserloop_input *in)
{
    const int here = is_here(in), given = door.first || is_within(in->given, 0.0, LASERLOOP_POWER_MOST);
    if (door.first && here) {
        memcpy(own.w.here, in->way[0], sizeof own.w.here);
    } else if (!door.first) {
        const double *end = here ? in->way[0] : door.way[1];
        follow_twin(&exported_process, &own, given ? in->given : door.told, end[0], end[1]);
        memmove(door.way[0], door.way[1], N * sizeof door.way[0]);
    }
    door.first = 0;
    door.lost = here ? 0 : door.lost + 1;
    if (!here || !is_way(in))
        return LASERLOOP_BAD_PLACE;
    memcpy(own.f.way, in->way, sizeof own.f.way);
    memcpy(door.way, in->way, sizeof door.way);
    survey(&own.w, &exported_process, &own.f, in->age);
    return given ? 0 : LASERLOOP_BAD_POWER;
}

/* The peak alone: as if a pixel lay just there. */
static int weigh_peak(twin *w, const process *p, int age, double T, comparison *c)
{
    double peak[2], top, expected, seen;
    if (!recall_peak(w, p, age, peak, &top))
        return 0;
    expected = expect_pixel(w, p, top, peak[0] * p->sigma, peak[1] * p->sigma);
    expected = look_up(&p->heat, expected, NULL) / w->gain;
    seen = look_up(&p->heat, T, NULL);
    return weigh_pixels(w, p, was_lit(w, age), age, 1, &expected, &seen, c);
}

/* Whether a measurement is the last one again where it should have changed: a frame when the beam has moved, a peak when
   the one that is expected has. */
static int is_frozen(const laserloop_input *in, double hottest, double sum, double expected)
{
    double print[3] = {hottest, sum, 0.0};
    if (in->columns > 0)
        print[2] = in->x[0] + 3.0 * in->y[0];
    const double dx = own.w.here[0] - door.at[0], dy = own.w.here[1] - door.at[1];
    const int same = door.taken >= 0 && memcmp(print, door.print, sizeof print) == 0;
    if (!same) {
        memcpy(door.print, print, sizeof print);
        memcpy(door.at, own.w.here, sizeof door.at);
        door.expected = expected;
        return 0;
    }
    const double told = FROZEN_K + 3.0 * exported_process.noise;
    if (in->columns > 0)
        return expected - exported_process.ambient > told &&
               dx * dx + dy * dy > 0.01 * exported_process.sigma * exported_process.sigma;
    return fabs(expected - door.expected) > told;
}

/* Correct the gain. Returns 0, LASERLOOP_BLIND if there was nothing to correct it by, or why it is not believed. */
static int take_measurement(const laserloop_input *in)
{
    comparison c = {0.0, 0.0, 0.0, 0.0};
    if (in->age < 0 || (in->age <= LASERLOOP_OLDEST && own.w.now - in->age <= door.taken))
        return LASERLOOP_BLIND;
    if (in->age > LASERLOOP_OLDEST)
        return LASERLOOP_TOO_OLD;
    double print;
    const double hottest = find_hottest(in, &print);
    if (!(hottest > 0.0))
        return LASERLOOP_IMPLAUSIBLE;
    const int warm = in->columns > 0 ? weigh_image(&own.w, &exported_process, in->age, in->columns, in->rows, in->x, in->y,
                                                   in->T, &c)
                                     : weigh_peak(&own.w, &exported_process, in->age, hottest, &c);
    const int frozen = is_frozen(in, hottest, print, c.expected);
    door.taken = own.w.now - in->age;
    if (frozen)
        return LASERLOOP_FROZEN;
    if (!warm)
        return hottest <= wanted.high ? 0 : LASERLOOP_IMPLAUSIBLE; /* a plate that was hardly heated is not hot */
    if (!is_within(c.ratio, LASERLOOP_RATIO_LOW, LASERLOOP_RATIO_HIGH))
        return LASERLOOP_IMPLAUSIBLE;
    return read_gain(&own.w, &exported_process, c.ratio, c.noise) ? 0 : LASERLOOP_BLIND;
}

/* Go on with the last plan, with care, then with the least power; returns its status. */
static int hold_on(const laserloop_input *in, int status, double *plan)
{
    const double most = door.good < LASERLOOP_POWER_HOLD ? door.good : LASERLOOP_POWER_HOLD;
    const int left = own.left;
    for (int i = 0; i < N; ++i) {
        const double next = i < left ? (own.kept[i] < most ? own.kept[i] : most) : wanted.least;
        plan[i] = in->dark[i] ? 0.0 : clamp(next, wanted.least, wanted.full);
    }
    own.left = left > 1 ? left - 1 : 0;
    memmove(own.kept, own.kept + 1, (N - 1) * sizeof *own.kept);
    return left > 0 ? status : LASERLOOP_EXHAUSTED;
}

/* Plan the coming ticks; returns the status. */
static int plan_on(const laserloop_input *in, double *plan, int *count)
{
    double kept[N];
    int lit[N], status;
    const int left = own.left;
    copy(kept, own.kept);
    for (int i = 0; i < N; ++i)
        lit[i] = !in->dark[i];
    status = decide_twin(&exported_process, &wanted, &own, lit, door.was_dark, plan, count);
    if (status == NO_PREDICTION) {
        copy(own.kept, kept);
        own.left = left;
        return hold_on(in, LASERLOOP_NO_PREDICTION, plan);
    }
    if (lit[0])
        door.good = plan[0];
    return status;
}

double laserloop_step(const laserloop_input *in, laserloop_output *out)
{
    double plan[N] = {0.0};
    int count = 0, status = LASERLOOP_NOT_BEGUN;
    wake();
    for (int i = 0; i < N; ++i)
        own.s.T[i] = NAN;
    if (door.begun) {
        const int wrong = take_tick(in), seen = wrong ? wrong : take_measurement(in);
        status = seen && seen != LASERLOOP_BLIND ? hold_on(in, seen, plan) : plan_on(in, plan, &count);
        status = status == LASERLOOP_SOLVED ? seen : status;
        door.was_dark = in->dark[0] != 0;
    }
    door.status = status;
    door.told = plan[0];
    if (out) {
        copy(out->plan, plan);
        copy(out->predicted, own.s.T);
        out->place[0] = own.w.peak[0][0] * exported_process.sigma;
        out->place[1] = own.w.peak[0][1] * exported_process.sigma;
        out->gain = own.w.gain;
        out->units = laserloop_units(plan[0]);
        out->status = status;
        out->iterations = count;
    }
    return plan[0];
}

int laserloop_status(const char **sentence)
{
    static const char *const sentences[] = {LASERLOOP_SENTENCES};
    wake();
    if (sentence)
        *sentence = sentences[door.status];
    return door.status;
}
