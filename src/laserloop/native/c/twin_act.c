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

/* A plate at rest. */
static void start_twin(const process *p, memory *m)
{
    twin *w = &m->w;
    memset(m, 0, sizeof *m);
    forget(&m->s);
    empty_history(w);
    w->gain = 1.0;
    w->variance = p->prior * p->prior;
    w->offset[0] = -p->behind;
    w->grow = 2.0 * p->alpha * p->tick / (p->sigma * p->sigma);
    w->strength = p->alpha / (7.8748049728612098721 * p->sigma * p->sigma * p->sigma); /* sqrt(2) pi^1.5 */
    w->depth = p->alpha * p->tick / (p->plate[2] * p->plate[2]);
    lay_rule(w, p);
}

/* The beam went to x, y, m, in one tick under a command, W. */
static void follow_twin(const process *p, memory *m, double command, double x, double y)
{
    const double power = command + (m->w.emitted - command) * p->lag_mean;
    m->w.emitted = command + (m->w.emitted - command) * p->lag_left;
    absorb(&m->w, p, power * p->absorptivity, x, y);
    wait_gain(&m->w, p, 1.0);
    m->previous = command;
}

/* Let the plate cool for some ticks. Only as many as are kept one by one have to pass singly. */
static void cool_twin(const process *p, memory *m, double ticks, double x, double y)
{
    const double singly = p->recent;
    if (ticks * m->w.grow > LONG_GONE) {
        empty_history(&m->w);
        ticks = singly;
    }
    if (ticks > singly) {
        m->w.now += (long long)(ticks - singly);
        wait_gain(&m->w, p, ticks - singly);
        ticks = singly;
    }
    for (; ticks >= 1.0; ticks -= 1.0)
        follow_twin(p, m, 0.0, x, y);
}

/* Where the search begins: the rest of the last plan, its last power held, or the last command. */
static void recall_plan(const problem *b, const memory *m, double *start)
{
    for (int i = 0; i < N; ++i)
        start[i] = m->left > 0 ? m->kept[i < m->left ? i : m->left - 1] : m->w.now ? m->previous : 0.5 * (b->least + b->full);
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
    recall_plan(b, m, asked.start);
    status = plan_twin(&m->w, p, b, &asked, &m->f, &m->s, count);
    give(b, &asked, &m->s, plan);
    m->left = N - 1;
    memcpy(m->kept, plan + 1, (N - 1) * sizeof *plan);
    return status;
}
