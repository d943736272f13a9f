/* A tick as it is asked: what is open in it, and how its plan is given. */

/* What a question says: the features of the tick, and the plan to begin with, W, whose first powers are given. */
typedef struct {
    double kinematics[4 * N], heat[N + 3], previous, start[N];
    int first, lit[N], resumes;
} question;

static void open_tick(const problem *p, const question *asked, tick *k)
{
    int open = 0;
    k->first = asked->first;
    for (int i = 0; i < N; ++i) {
        k->free[i] = i >= asked->first && asked->lit[i];
        k->moves[i] = asked->lit[i] && (i > 0 ? asked->lit[i - 1] : !asked->resumes);
        open += k->free[i];
    }
    k->n = open ? p->blocks[N - 1] - p->blocks[k->first] + 1 : 0;
    k->before = clamp(asked->previous / p->full, p->least / p->full, 1.0);
}

/* The plan in W: inside the bounds to the last bit, the given powers as they came, nothing where it is dark. */
static void give(const problem *p, const question *asked, const workspace *s, double *plan)
{
    for (int i = 0; i < N; ++i)
        plan[i] = i < asked->first ? clamp(asked->start[i], p->least, p->full)
                  : asked->lit[i]  ? clamp(s->plan[i] * p->full, p->least, p->full)
                                   : 0.0;
}

static void set_window(problem *p, double low, double high)
{
    const double half = 0.5 * (high - low);
    p->low = low;
    p->high = high;
    p->floor = low + p->margin_below;
    p->ceiling = high - p->margin_above;
    p->middle = 0.5 * (low + high);
    p->tracking = p->tracking_cost / (half * half);
}

static void forget(workspace *s)
{
    memset(s, 0, sizeof *s);
    s->state[N - 1] = FLOOR; /* as in most ticks of a loop that is settled */
}
