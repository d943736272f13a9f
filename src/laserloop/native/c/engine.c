/* The door for laserloop's own Python process, which keeps the network, the problem and the workspace. */

void laserloop_sizes(size_t *sizes);
void laserloop_prepare(problem *p);
void laserloop_reset(workspace *s);
void laserloop_solve(const network *net, const problem *p, workspace *s, const double *in, double *out);
void laserloop_linearise(const network *net, workspace *s, const double *in, const double *plan, double *out);
void laserloop_minimise(const problem *p, workspace *s, const double *in, double *out);

void laserloop_sizes(size_t *sizes)
{
    sizes[0] = sizeof(network);
    sizes[1] = sizeof(problem);
    sizes[2] = sizeof(workspace);
    sizes[3] = KINKS;
}

void laserloop_prepare(problem *p)
{
    set_window(p, p->low, p->high);
}

void laserloop_reset(workspace *s)
{
    forget(s);
}

/* in: kinematics (4 N), temperatures (1 + N), peak (2), previous, start (N), how many of it are given, which ticks are
   lit (N), whether the tick before was dark */
static void read_question(const double *in, question *asked)
{
    const double *rest = in + 5 * N + 3;
    memcpy(asked->kinematics, in, sizeof asked->kinematics);
    memcpy(asked->heat, in + 4 * N, sizeof asked->heat);
    asked->previous = rest[0];
    copy(asked->start, rest + 1);
    asked->first = (int)clamp(rest[1 + N], 0.0, N);
    for (int i = 0; i < N; ++i)
        asked->lit[i] = rest[2 + N + i] > 0.0;
    asked->resumes = rest[2 + 2 * N] > 0.0;
}

/* out: plan (N), prediction (N), status, iterations */
void laserloop_solve(const network *net, const problem *p, workspace *s, const double *in, double *out)
{
    question asked;
    int count;
    read_question(in, &asked);
    out[2 * N] = solve_tick(net, p, &asked, s, &count);
    out[2 * N + 1] = count;
    give(p, &asked, s, out);
    copy(out + N, s->T);
}

/* out: prediction (N) of a plan in units of P_max, and its slopes (N, N) in K */
void laserloop_linearise(const network *net, workspace *s, const double *in, const double *plan, double *out)
{
    question asked;
    read_question(in, &asked);
    forget(s);
    memcpy(s->f.AS, net->A, sizeof s->f.AS);
    fold(net, asked.kinematics, asked.heat, &s->f);
    predict(net, &s->f, plan, out);
    differentiate(net, &s->f, N, plan, 0, s->J);
    memcpy(out + N, s->J, sizeof s->J);
}

/* The QP alone. in: H (N, N), g (N), J (N, N), r (N), x (N), free moves, radius, states (ROWS), how many kinks, then
   of each of KINKS its normal (N), level, weight and slope. out: z (N), multipliers (ROWS), states (ROWS), steps walked */
void laserloop_minimise(const problem *p, workspace *s, const double *in, double *out)
{
    program *q = &s->q;
    const double *x = in + 2 * N * N + 2 * N, *states = x + N + 2, *kinks = states + ROWS;
    memcpy(s->Hq, in, sizeof s->Hq);
    copy(s->gq, in + N * N);
    memcpy(s->J, in + N * N + N, sizeof s->J);
    copy(s->r, in + 2 * N * N + N);
    copy(s->x, x);
    q->n = (int)clamp(x[N], 1.0, N);
    q->radius = x[N + 1];
    for (int i = 0; i < ROWS; ++i)
        s->state[i] = (int)states[i];
    q->kinks = (int)clamp(kinks[0], 0.0, KINKS);
    for (int k = 0; k < KINKS; ++k) {
        const double *kink = kinks + 1 + k * (N + 3);
        copy(q->normal[k], kink);
        q->level[k] = kink[N];
        q->weight[k] = kink[N + 1];
        q->slope_now[k] = kink[N + 2];
    }
    factor(s, q);
    solve_qp(p, s);
    copy(out, s->z);
    memcpy(out + N, q->lam, sizeof q->lam);
    for (int i = 0; i < ROWS; ++i)
        out[N + ROWS + i] = s->state[i];
    out[N + 2 * ROWS] = q->steps;
}
