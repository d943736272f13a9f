/* The plan of a tick by the twin: sequential QPs around the peaks; two are usual, because the forecast is nearly affine. */

#define TWIN_QPS 4     /* most QPs a tick */

/* How the laser follows its commands over the horizon, and where the beam will be. */
static void foresee_laser(const twin *w, const process *p, prospect *f)
{
    const double apart = find_apart(w, p), led = apart < -SHORTEST ? -apart : 0.0;
    real given;
    const double state = list_watts(w, p, led, 0.0, w->now - 1, 1, &given) / p->absorptivity;
    delay_way(w, p, f);
    for (int c = 0; c <= N; ++c) { /* command c alone, and none at all */
        double power = c == N ? w->emitted : 0.0, later = c == N ? state : 0.0;
        for (int j = 0; j < N; ++j) {
            const double command = j == c ? 1.0 : 0.0;
            double mean = command + (power - command) * p->lag_mean;
            power = command + (power - command) * p->lag_left;
            if (led > 0.0)
                mean = pass_lag(led, mean, &later);
            if (c == N)
                f->adrift[j] = mean;
            else
                f->follow[j][c] = mean;
        }
    }
}

/* T of a plan in units of P_max, its slopes, and r of its linearisation at the moves x. */
static void linearise_twin(twin *w, const process *p, const problem *b, const tick *k, prospect *f, const double *plan,
                           workspace *s, double (*peak)[2])
{
    double watts[N], J[N][N];
    for (int i = 0; i < N; ++i)
        watts[i] = plan[i] * b->full;
    foresee(w, p, f, watts, s->T, J, peak);
    memset(s->J, 0, sizeof s->J);
    for (int i = 0; i < N; ++i) {
        for (int c = 0; c < N; ++c)
            if (k->free[c] && k->free[i])
                s->J[i][find_move(b, k, c)] += J[i][c] * b->full;
        s->r[i] = k->free[i] ? s->T[i] - dot(k->n, s->J[i], s->x) : b->middle; /* what is dark does not count */
    }
}

/* The largest difference of a prediction from its line, over what counts. */
static double depart(const tick *k, const double *T, const double *line)
{
    double most = 0.0;
    for (int i = 0; i < N; ++i)
        if (k->free[i] && !(fabs(T[i] - line[i]) <= most))
            most = fabs(T[i] - line[i]);
    return most;
}

/* Remember where the peaks are, that of the coming tick also seen from the beam: the next search begins there. Without
   light they are nowhere near. */
static void note_peaks(twin *w, const process *p, const prospect *f, const int *lit, double (*peak)[2])
{
    const double dx = f->late[1][0] - f->late[0][0], dy = f->late[1][1] - f->late[0][1], length = sqrt(dx * dx + dy * dy);
    const double ex = length > 0.0 ? dx / length : 1.0, ey = length > 0.0 ? dy / length : 0.0;
    const double ox = peak[0][0] - f->late[1][0] / p->sigma, oy = peak[0][1] - f->late[1][1] / p->sigma;
    w->planned = w->now;
    memcpy(w->peak, peak, sizeof w->peak);
    memcpy(w->beam, f->late[1], sizeof w->beam);
    for (int i = 0; i < N; ++i) {
        const double far[2] = {peak[i][0] - f->late[i + 1][0] / p->sigma, peak[i][1] - f->late[i + 1][1] / p->sigma};
        w->known[i] = lit[i] && !is_beyond(far[0], far[1], LOST - CLOSE);
    }
    w->offset[0] = lit[0] ? clamp(ox * ex + oy * ey, -1.5, 0.5) : -p->behind;
    w->offset[1] = lit[0] ? clamp(oy * ex - ox * ey, -0.7, 0.7) : 0.0;
}

/* Leaves the plan in units of P_max in s->plan and its prediction in s->T. */
static int plan_twin(twin *w, const process *p, const problem *b, const question *asked, prospect *f, workspace *s,
                     int *count)
{
    const double least = b->least / b->full;
    double begun[N], watts[N], line[N], peak[N][2], over;
    tick k;
    int status = STOPPED;
    open_tick(b, asked, &k);
    for (int i = 0; i < N; ++i)
        s->plan[i] = k.free[i] ? clamp(asked->start[i] / b->full, least, 1.0) : 0.0;
    foresee_laser(w, p, f);
    for (int i = 0; i < N; ++i)
        begun[i] = s->plan[i] * b->full;
    absorb_plan(p, f, begun, watts);
    look_ahead(w, p, watts, f);
    if (k.n > 0)
        start_moves(b, &k, s->plan, s->x);
    linearise_twin(w, p, b, &k, f, s->plan, s, peak);
    for (*count = 0; k.n > 0 && *count < TWIN_QPS && is_finite(N, s->T); ++*count) {
        s->q.n = k.n;
        s->q.radius = 2.0;
        s->q.kinks = 0;
        set_quadratic(b, &k, s->plan, s);
        set_costs(k.n, b, s, 1);
        solve_qp(b, s);
        for (int i = 0; i < N; ++i)
            line[i] = s->r[i] + dot(k.n, s->J[i], s->z);
        copy(s->x, s->z);
        spread_moves(b, &k, s->x, s->plan);
        linearise_twin(w, p, b, &k, f, s->plan, s, peak);
        if (depart(&k, s->T, line) < MATCH) {
            status = SOLVED;
            ++*count;
            break;
        }
    }
    if (!is_finite(N, s->T))
        return NO_PREDICTION;
    note_peaks(w, p, f, asked->lit, peak);
    weigh(b, &k, s->plan, s->T, &over);
    if (k.n == 0)
        return SOLVED;
    return over > MATCH ? INFEASIBLE : status;
}
