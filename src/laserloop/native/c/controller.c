/* The door of a deployed controller: four functions around one static memory.

   What no camera and no scanner can mean is not planned with: such a tick gets the rest of the last plan, and when
   nothing is left of it the least power. */

#include "laserloop.h"

static workspace memory;
static problem now;
static double kept[N]; /* W, the plan of the last good tick from the coming tick on */
static int kept_count, last_status = LASERLOOP_EXHAUSTED;
static double seen_heat[3]; /* T_max and its place in the last image that was believed */
static int seen_count = -1; /* how many powers it was old; -1: none was believed yet */

void laserloop_init(void)
{
    forget(&memory);
    now = exported_problem;
    set_window(&now, now.low, now.high);
    kept_count = 0;
    seen_count = -1;
    last_status = LASERLOOP_EXHAUSTED;
}

int laserloop_set_window(double low, double high)
{
    if (!(now.full > 0.0))
        laserloop_init();
    if (!(low > 0.0) || !(low < high) || !(high <= LASERLOOP_HOTTEST) ||
        !(low + now.margin_below < high - now.margin_above))
        return -1;
    set_window(&now, low, high);
    return 0;
}

static int is_within(double x, double low, double high) /* NaN is not */
{
    return x >= low && x <= high;
}

/* Whether the beam is where the model has been, or near the plate while it is dark, and no faster than scanners are. */
static int is_way(const double *way, int dark)
{
    const int inside = is_within(way[0], LASERLOOP_X_LOW, LASERLOOP_X_HIGH) &&
                       is_within(way[1], LASERLOOP_Y_LOW, LASERLOOP_Y_HIGH);
    const int near = is_within(way[0], -LASERLOOP_PLATE_X, LASERLOOP_PLATE_X) &&
                     is_within(way[1], -LASERLOOP_PLATE_Y, LASERLOOP_PLATE_Y);
    return (dark ? near : inside) && is_within(way[2], -LASERLOOP_FASTEST, LASERLOOP_FASTEST) &&
           is_within(way[3], -LASERLOOP_FASTEST, LASERLOOP_FASTEST);
}

/* Whether the temperatures are those of a plate, the peak is on it, and the way is one. */
static int is_credible(const laserloop_input *in)
{
    int credible = is_within(in->location[0], -0.5 * LASERLOOP_PLATE_X, 0.5 * LASERLOOP_PLATE_X) &&
                   is_within(in->location[1], -0.5 * LASERLOOP_PLATE_Y, 0.5 * LASERLOOP_PLATE_Y);
    for (int i = 0; i <= N; ++i)
        credible = credible && is_within(in->temps[i], LASERLOOP_COLDEST, LASERLOOP_HOTTEST);
    for (int i = 0; i < N; ++i)
        credible = credible && is_way(in->kinematics[i], in->dark[i]);
    return credible;
}

/* Whether this is the last image again that says to be a new one: the very same peak, and not of a plate at rest. */
static int is_frozen(const laserloop_input *in)
{
    int rests = 1;
    for (int i = 1; i <= N; ++i)
        rests = rests && in->temps[i] == in->temps[0];
    return !rests && seen_count >= 0 && in->committed_count <= seen_count && in->temps[0] == seen_heat[0] &&
           in->location[0] == seen_heat[1] && in->location[1] == seen_heat[2];
}

/* Note the image that is believed. */
static void remember(const laserloop_input *in)
{
    seen_heat[0] = in->temps[0];
    seen_heat[1] = in->location[0];
    seen_heat[2] = in->location[1];
    seen_count = in->committed_count;
}

static void ask(const laserloop_input *in, question *asked)
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

/* Fill in a plan that goes on with the last one, then with the least power; returns its status. */
static int go_on(const laserloop_input *in, int first, int status, double *plan)
{
    const int left = kept_count;
    for (int i = 0; i < N; ++i) {
        const double next = i < first          ? clamp(in->committed[i], now.least, now.full)
                            : i - first < left ? kept[i - first]
                                               : now.least;
        plan[i] = in->dark[i] && i >= first ? 0.0 : next;
    }
    kept_count = left > 1 ? left - 1 : 0;
    memmove(kept, kept + 1, (N - 1) * sizeof *kept);
    return left > 0 ? status : LASERLOOP_EXHAUSTED;
}

double laserloop_step(const laserloop_input *in, laserloop_output *out)
{
    double plan[N];
    int first = in->committed_count, count = 0, status;
    if (!(now.full > 0.0))
        laserloop_init();
    for (int i = 0; i < N; ++i)
        memory.T[i] = NAN;
    if (first < 0 || first >= N) { /* an image older than any plan */
        first = 0;
        kept_count = 0;
        status = go_on(in, first, LASERLOOP_EXHAUSTED, plan);
    } else if (!is_credible(in) || is_frozen(in)) {
        status = go_on(in, first, LASERLOOP_IMPLAUSIBLE, plan);
    } else {
        question asked;
        ask(in, &asked);
        remember(in);
        status = solve_tick(&exported_network, &now, &asked, &memory, &count);
        give(&now, &asked, &memory, plan);
        if (status == NO_PREDICTION) {
            status = go_on(in, first, LASERLOOP_NO_PREDICTION, plan);
        } else {
            kept_count = N - 1 - first;
            memcpy(kept, plan + first + 1, (size_t)kept_count * sizeof *kept);
        }
    }
    last_status = status;
    if (out) {
        copy(out->plan, plan);
        copy(out->predicted, memory.T);
        out->status = status;
        out->iterations = count;
    }
    return plan[first];
}

int laserloop_status(const char **sentence)
{
    static const char *const sentences[] = {LASERLOOP_SENTENCES};
    if (sentence)
        *sentence = sentences[last_status];
    return last_status;
}
