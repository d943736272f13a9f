/* A tick of the twin: absorb what was given, compare what was seen, plan what comes. */

typedef struct {
    twin w ALIGNED;
    workspace s;
    prospect f;
    double kept[N]; /* W, the rest of the last plan, from the coming tick on */
    int left;       /* of it */
    double previous; /* W, the last command */
    int was_lit;     /* the last tick of a plan made beforehand */
} memory;

#define LONG_GONE 1e9 /* of the beam's area that heat has spread over when it is forgotten */
#define TAIL 128      /* ticks of a pause in which the laser may still follow its last command, */
#define GONE 1e-3     /* until it gives less than this, W */
#define TIDIED 64     /* ticks of a pause in which old heat is merged */

/* A plate at rest. */
static void start_twin(const process *p, memory *m)
{
    twin *w = &m->w;
    memset(m, 0, sizeof *m);
    forget(&m->s);
    empty_history(w);
    w->state[GAIN] = 1.0;
    set_start(p, w->spread);
    w->offset[0] = -p->behind;
    w->grow = 2.0 * p->alpha * p->tick / (p->sigma * p->sigma);
    w->strength = p->alpha / (7.8748049728612098721 * p->sigma * p->sigma * p->sigma); /* sqrt(2) pi^1.5 */
    w->depth = p->alpha * p->tick / (p->plate[2] * p->plate[2]);
    lay_rule(w, p);
}

/* One tick at a mean power absorbed, W, from where the beam was to a place in m, as late as power and places are. */
static void absorb(twin *w, const process *p, double watts, double x, double y)
{
    const double apart = find_apart(w, p), behind = apart > 0.0 ? apart : 0.0;
    double from[2], to[2];
    real came;
    note_tick(w, watts, x, y);
    list_watts(w, p, apart < 0.0 ? -apart : 0.0, 0.0, w->now - 1, 1, &came);
    memcpy(from, find_start(w, NULL, w->now - 1), sizeof from);
    memcpy(to, w->here, sizeof to);
    if (behind > 0.0) {
        find_place(w, p, NULL, (double)(w->now - 1) - behind, from);
        find_place(w, p, NULL, (double)w->now - behind, to);
    }
    add_heat(w, p, (double)came, from, to);
}

/* W, on average over a tick, of a laser under a command, W. */
static double expect_power(const process *p, const memory *m, double command)
{
    return command + (m->w.emitted - command) * p->lag_mean;
}

/* The beam went to x, y, m, in one tick under a command, W, in which the laser gave `power`, W, on average. */
static void follow_power(const process *p, memory *m, double command, double power, double x, double y)
{
    m->w.emitted = command + (m->w.emitted - command) * p->lag_left;
    absorb(&m->w, p, power * p->absorptivity, x, y);
    wait_gain(&m->w, p, 1.0);
    m->previous = command;
}

/* The same as the laser follows its commands. */
static void follow_twin(const process *p, memory *m, double command, double x, double y)
{
    follow_power(p, m, command, expect_power(p, m, command), x, y);
}

/* Ticks in the dark with the beam at rest: only those that are kept one by one have to be told, and little has to be tidied. */
static void rest_twin(const process *p, memory *m, double ticks)
{
    twin *w = &m->w;
    const double skipped = ticks > p->recent ? ticks - p->recent : 0.0;
    w->now += (long long)skipped;
    for (double left = ticks - skipped; left >= 1.0; left -= 1.0, ++w->now) {
        const int slot = (int)(w->now % RECENT);
        memcpy(w->place[slot], w->here, sizeof w->here);
        memcpy(w->end[slot], w->here, sizeof w->here);
        w->watts[slot] = 0.0;
    }
    for (int k = 0; k < TIDIED && k < ticks; ++k)
        tidy_history(w, p);
    wait_gain(w, p, ticks);
}

/* Let the plate cool for some ticks while the beam goes dark to x, y, m, at once if there are none. */
static void cool_twin(const process *p, memory *m, double ticks, double x, double y)
{
    if (ticks < 1.0) {
        m->w.here[0] = x;
        m->w.here[1] = y;
        return;
    }
    for (int k = 0; k < TAIL && ticks >= 1.0 && (k == 0 || m->w.emitted > GONE); ++k, ticks -= 1.0)
        follow_twin(p, m, 0.0, x, y);
    if (ticks < 1.0)
        return;
    m->w.emitted = 0.0;
    if (ticks * m->w.grow > LONG_GONE)
        empty_history(&m->w);
    rest_twin(p, m, ticks);
}

/* Where the search begins: the rest of the last plan, its last power held, or the last command; after the dark half way
   up, because without light the hottest place is not where the beam will be. */
static void recall_plan(const problem *b, const memory *m, const int *lit, double *start)
{
    for (int i = 0; i < N; ++i) {
        start[i] = m->left > 0 ? m->kept[i < m->left ? i : m->left - 1] : m->previous;
        if (lit[i] && !(start[i] > b->least))
            start[i] = 0.5 * (b->least + b->full);
    }
}

/* The plan for the way ahead in m->f.way, W into `plan`, its prediction into m->s.T. */
static int decide_twin(const process *p, const problem *b, memory *m, const int *lit, int resumes, double *plan, int *count)
{
    question asked;
    int status;
    memset(&asked, 0, sizeof asked);
    asked.previous = m->previous;
    asked.resumes = resumes;
    asked.lit[0] = lit[0];
    for (int i = 1; i < N; ++i) /* a plan ends where the laser goes off: nothing is heated for what comes after */
        asked.lit[i] = lit[i] && (asked.lit[i - 1] || !lit[0]);
    recall_plan(b, m, asked.lit, asked.start);
    status = plan_twin(&m->w, p, b, &asked, &m->f, &m->s, count);
    give(b, &asked, &m->s, plan);
    m->left = N - 1;
    memcpy(m->kept, plan + 1, (N - 1) * sizeof *plan);
    return status;
}
