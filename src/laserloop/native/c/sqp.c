/* The SQP of one tick: fold, see what is cool enough, iterate, mend.

   Each step minimises f(x) + sum psi(t_i) over the box exactly, together with those kinks of the network that are near
   and convex in the Lagrangian. */

#define ARMIJO 0.1    /* of what the linearisation promised, at least */
#define SHARE 0.4     /* of a step that does not pay, tried next */
#define SHORTENINGS 4 /* of a step, at most */
#define CREDIT 3      /* full steps that may be worse than the anchor: a kink is found only by crossing it */
#define SHORT 0.1     /* of P_max: after a longer step the slopes are looked at again */
#define RADIUS 0.3    /* of P_max: no step is longer */
#define COLD 20.0     /* K below the floor: from a start this cold the search may end in a plan that never heats */
#define LEVELS 4      /* constant powers that are tried as starts instead */
#define SHRINKINGS 12 /* halvings of the interval in which a plan becomes feasible */

typedef struct {
    double merit, over;                  /* of the plan now, and by how much it exceeds the ceiling, K */
    double best_merit, best_over;        /* of the best plan so far */
    double anchor_merit, anchor_promise; /* of the last iterate that was worth its promise, and of its step */
    int credit;                          /* full steps left that may be worse than that; -1: the next is an anchor */
    int count, status;
} search;

static void keep_best(workspace *s, search *now)
{
    copy(s->best, s->plan);
    copy(s->Tb, s->T);
    now->best_merit = now->merit;
    now->best_over = now->over;
}

/* From the moves in s->x, whose plan was the last one predicted, in s->T. */
static void begin_search(const network *net, const problem *p, const tick *k, workspace *s, search *now)
{
    memset(s->f.AS, 0, sizeof s->f.AS);
    memset(s->J, 0, sizeof s->J);
    for (int i = k->first; i < N; ++i)
        for (int j = 0; j < W && k->free[i]; ++j)
            s->f.AS[find_move(p, k, i)][j] += net->A[i][j];
    set_quadratic(p, k, s->plan, s);
    s->q.n = k->n;
    s->q.radius = RADIUS;
    s->q.kinks = 0;
    for (int row = 0; row < KINKS; ++row)
        s->state[KINK + row] = INSIDE;
    for (int i = 0; i < N; ++i)
        s->state[i] = k->free[i] ? s->state[i] : INSIDE;
    for (int j = k->n; j < N; ++j)
        s->x[j] = 0.5 * (p->least / p->full + 1.0);
    now->count = 0;
    now->status = STOPPED;
    now->credit = -1;
    now->merit = weigh(p, k, s->plan, s->T, &now->over);
    keep_best(s, now);
}

/* The line around the plan now, the best plan on it in s->trial with the moves s->z, and what the line says of it. */
static void aim(const network *net, const problem *p, const tick *k, workspace *s, const search *now)
{
    differentiate(net, &s->f, k->n, s->x, now->count == 1, s->J);
    for (int i = 0; i < N; ++i)
        if (k->free[i]) {
            s->r[i] = s->T[i] - dot(k->n, s->J[i], s->x);
        } else { /* what is over or dark pulls at nothing */
            memset(s->J[i], 0, sizeof s->J[i]);
            s->r[i] = 0.5 * (p->floor + p->ceiling);
        }
    if (now->count > 1)
        find_kinks(net, p, k, s);
    set_costs(k->n, p, s, now->count == 1);
    solve_qp(p, s);
    for (int i = 0; i < N; ++i)
        s->linear[i] = s->r[i] + dot(k->n, s->J[i], s->z);
    copy(s->trial, s->plan);
    spread_moves(p, k, s->z, s->trial);
}

/* The loan was not paid back: walk the anchor's own step with care. Returns the share of it. */
static double walk_back(const network *net, const problem *p, const tick *k, workspace *s, search *now)
{
    double share = 1.0, y[N];
    copy(s->x, s->xa);
    copy(s->z, s->za);
    for (int times = 0; times < SHORTENINGS; ++times) {
        share *= SHARE;
        for (int j = 0; j < k->n; ++j)
            y[j] = s->x[j] + share * (s->z[j] - s->x[j]);
        spread_moves(p, k, y, s->trial);
        predict_near(net, &s->f, s->trial, k->n, y, s->Tt);
        now->merit = weigh(p, k, s->trial, s->Tt, &now->over);
        if (now->anchor_merit - now->merit >= ARMIJO * share * now->anchor_promise)
            break;
    }
    return share;
}

/* Whether the prediction agrees with the line, for a step so short that its slopes still hold. */
static int agrees(const tick *k, const workspace *s)
{
    double off = 0.0, stride = 0.0;
    for (int i = k->first; i < N; ++i)
        if (k->free[i])
            off = fabs(s->Tt[i] - s->linear[i]) > off ? fabs(s->Tt[i] - s->linear[i]) : off;
    for (int j = 0; j < k->n; ++j)
        stride = fabs(s->z[j] - s->x[j]) > stride ? fabs(s->z[j] - s->x[j]) : stride;
    return off <= MATCH && stride <= SHORT;
}

/* One step of the search; 0 if nothing more can be predicted. */
static int advance(const network *net, const problem *p, const tick *k, workspace *s, search *now)
{
    double share = 1.0, ignored;
    ++now->count;
    aim(net, p, k, s, now);
    if (now->credit < 0) {
        now->anchor_merit = now->merit;
        now->anchor_promise = now->merit - weigh(p, k, s->trial, s->linear, &ignored);
        now->credit = CREDIT;
        copy(s->xa, s->x);
        copy(s->za, s->z);
    }
    predict_near(net, &s->f, s->trial, k->n, s->z, s->Tt);
    if (!is_finite(N, s->Tt) || !is_finite(N, s->linear))
        return 0;
    now->merit = weigh(p, k, s->trial, s->Tt, &now->over);
    if (now->count > 1 && agrees(k, s)) {
        now->status = SOLVED;
    } else if (now->anchor_merit - now->merit >= ARMIJO * now->anchor_promise) {
        now->credit = -1;
    } else if (now->credit > 0) {
        --now->credit;
    } else {
        share = walk_back(net, p, k, s, now);
        now->credit = -1;
    }
    for (int j = 0; j < k->n; ++j) {
        s->step[j] = share * (s->z[j] - s->x[j]);
        s->x[j] += s->step[j];
    }
    copy(s->plan, s->trial);
    copy(s->T, s->Tt);
    if (now->status == SOLVED || (now->over <= MATCH && now->merit < now->best_merit) ||
        (now->best_over > MATCH && now->over < now->best_over))
        keep_best(s, now);
    return 1;
}

/* Search from the moves in s->x; leaves the best plan in s->plan. Returns SOLVED or STOPPED. */
static int iterate(const network *net, const problem *p, const tick *k, workspace *s, int *count)
{
    search now;
    begin_search(net, p, k, s, &now);
    while (now.count < p->cap && now.status != SOLVED)
        if (!advance(net, p, k, s, &now))
            break;
    copy(s->plan, s->best);
    copy(s->T, s->Tb);
    *count = now.count;
    return now.status;
}

/* Move a plan towards least power, which is cool enough, until it is too; the boundary is bisected. */
static void shrink(const network *net, const problem *p, const tick *k, workspace *s)
{
    const double least = p->least / p->full;
    double low = 0.0, high = 1.0, over;
    for (int halving = 0; halving < SHRINKINGS; ++halving) {
        const double share = 0.5 * (low + high);
        for (int i = 0; i < N; ++i)
            s->trial[i] = k->free[i] ? least + share * (s->plan[i] - least) : s->plan[i];
        predict(net, &s->f, s->trial, s->Tt);
        weigh(p, k, s->trial, s->Tt, &over);
        if (is_finite(N, s->Tt) && over <= MATCH)
            low = share;
        else
            high = share;
    }
    for (int i = 0; i < N; ++i)
        s->plan[i] = k->free[i] ? least + low * (s->plan[i] - least) : s->plan[i];
    predict(net, &s->f, s->plan, s->T);
}

/* The plan of least power and its prediction; returns how far it exceeds the ceiling. */
static double cool(const network *net, const problem *p, const tick *k, workspace *s)
{
    double over;
    for (int i = 0; i < N; ++i)
        s->plan[i] = k->free[i] ? p->least / p->full : s->plan[i];
    predict(net, &s->f, s->plan, s->T);
    weigh(p, k, s->plan, s->T, &over);
    return over;
}

/* Whether a prediction is far below the floor: from there the search may end in a plan that never heats. */
static int is_cold(const problem *p, const tick *k, const double *T)
{
    double low = 0.0;
    for (int i = k->first; i < N; ++i)
        low = k->free[i] && p->floor - T[i] > low ? p->floor - T[i] : low;
    return p->below > 0.0 && low > COLD;
}

/* Put a constant power in the place of `begin`, predicted in s->Tt, and of its moves if its merit is less. */
static void warm_start(const network *net, const problem *p, const tick *k, double *begin, workspace *s)
{
    const double least = p->least / p->full, part = (1.0 - least) / LEVELS;
    double over, found, merit;
    int chosen = 0;
    merit = weigh(p, k, begin, s->Tt, &over);
    for (int level = 1; level <= LEVELS; ++level) {
        for (int i = 0; i < N; ++i)
            s->trial[i] = k->free[i] ? least + level * part : begin[i];
        predict(net, &s->f, s->trial, s->Tt);
        found = weigh(p, k, s->trial, s->Tt, &over);
        if (found < merit) {
            merit = found;
            chosen = level;
        }
    }
    if (chosen > 0) {
        for (int i = 0; i < N; ++i)
            begin[i] = k->free[i] ? least + chosen * part : begin[i];
        start_moves(p, k, begin, s->x);
        spread_moves(p, k, s->x, begin);
    }
}

/* The search ended too hot or nowhere: shrink its plan, or take back the one it began with. */
static int mend(const network *net, const problem *p, const tick *k, const double *begin, workspace *s)
{
    const int status = is_finite(N, s->T) ? STOPPED : NO_PREDICTION;
    double over;
    copy(s->trial, s->plan);
    over = cool(net, p, k, s);
    if (status == NO_PREDICTION) {
        for (int i = 0; i < N; ++i)
            s->T[i] = NAN;
    } else if (over > MATCH) {
        copy(s->plan, begin);
        predict(net, &s->f, s->plan, s->T);
    } else {
        copy(s->plan, s->trial);
        shrink(net, p, k, s);
    }
    return status;
}

static int is_sound(const question *asked)
{
    return is_finite(4 * N, asked->kinematics) && is_finite(N + 3, asked->heat) && is_finite(N, asked->start) &&
           is_finite(1, &asked->previous);
}

/* Leaves the plan in units of P_max in s->plan, its prediction in s->T. */
static int solve_tick(const network *net, const problem *p, const question *asked, workspace *s, int *count)
{
    const double least = p->least / p->full;
    double begin[N], over;
    tick k;
    int status;
    *count = 0;
    open_tick(p, asked, &k);
    for (int i = 0; i < N; ++i) {
        begin[i] = i < k.first || k.free[i] ? clamp(asked->start[i] / p->full, least, 1.0) : 0.0;
        s->plan[i] = k.free[i] ? least : begin[i];
        s->T[i] = NAN;
    }
    if (!is_sound(asked))
        return NO_PREDICTION;
    fold(net, asked->kinematics, asked->heat, &s->f);
    if (k.n > 0) {
        start_moves(p, &k, begin, s->x);
        spread_moves(p, &k, s->x, begin);
    }
    predict(net, &s->f, begin, s->Tt);
    if (!is_finite(N, s->Tt))
        return NO_PREDICTION;
    if (k.n > 0 && is_cold(p, &k, s->Tt)) {
        warm_start(net, p, &k, begin, s);
        predict(net, &s->f, begin, s->Tt);
    }
    weigh(p, &k, begin, s->Tt, &over);
    if (over > MATCH) { /* less power is cooler, mostly: if that does not help, give up */
        over = cool(net, p, &k, s);
        if (!is_finite(N, s->T) || over > MATCH)
            return is_finite(N, s->T) ? INFEASIBLE : NO_PREDICTION;
        predict(net, &s->f, begin, s->Tt);
    }
    copy(s->plan, begin);
    copy(s->T, s->Tt);
    if (k.n == 0)
        return SOLVED;
    status = iterate(net, p, &k, s, count);
    weigh(p, &k, s->plan, s->T, &over);
    if (is_finite(N, s->T) && over <= MATCH)
        return status;
    return mend(net, p, &k, begin, s);
}
