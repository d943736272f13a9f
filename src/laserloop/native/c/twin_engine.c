/* The door for laserloop's own Python process, which keeps the process, the problem and the memory. */

void laserloop_sizes(size_t *sizes);
void laserloop_start(const process *p, problem *b, memory *m);
void laserloop_act(const process *p, const problem *b, memory *m, const double *in, const double *x, const double *y,
                   const double *T, double *out);
void laserloop_plan(const process *p, const problem *b, memory *m, int count, const double *way, const unsigned char *lit,
                    double *power, double *T);
void laserloop_follow(const process *p, memory *m, int count, const double *way, const double *power, double *T);
void laserloop_pause(const process *p, memory *m, double ticks, double x, double y);
void laserloop_trust(memory *m, double gain);
double laserloop_field(const process *p, memory *m, double x, double y);

void laserloop_sizes(size_t *sizes)
{
    sizes[0] = sizeof(process);
    sizes[1] = sizeof(problem);
    sizes[2] = sizeof(memory);
}

void laserloop_start(const process *p, problem *b, memory *m)
{
    set_window(b, b->low, b->high);
    start_twin(p, m);
}

/* Correct the slow numbers by an image. Returns 1 if it was used, 0 if it was left out as a bad frame, -1 if there was
   nothing to compare, -2 if it shows no spot near the beam. */
static int compare_image(twin *w, const process *p, const picture *image, double *surprise)
{
    comparison c;
    if (!weigh_image(w, p, image, &c))
        return c.misplaced ? -2 : (c.astray ? 0 : -1);
    *surprise = c.surprise;
    return read_gain(w, p, c.ratio, c.noise, c.slope);
}

/* in: how many ticks are new, age of the image in ticks (negative: none), its columns and rows, whether the last tick was
   dark; the way (N + 1, 2), m; lit (N); of each new tick its command, W, and where it ended, m.
   out: plan (N), prediction (N), status, iterations, gain, its standard deviation, peak (2) in m, Gaussians, frames left
   out, what became of the image, by how much it was hotter than expected, K (read it only if it was used), ticks by which
   power and places are late, and the image's offset (2), m */
void laserloop_act(const process *p, const problem *b, memory *m, const double *in, const double *x, const double *y,
                   const double *T, double *out)
{
    const double *way = in + 5, *lit = way + 2 * (N + 1), *news = lit + N;
    const picture image = {(int)in[1], (int)in[2], (int)in[3], x, y, T};
    double surprise = 0.0;
    int lights[N], count, used = -1;
    memcpy(m->f.way, way, sizeof m->f.way);
    if (m->w.now == 0)
        memcpy(m->w.here, in[0] > 0.0 ? news + 3 * (int)in[0] : way, sizeof m->w.here);
    for (int k = 0; k < (int)in[0]; ++k)
        follow_twin(p, m, news[3 * k], news[3 * k + 1], news[3 * k + 2]);
    survey(&m->w, p, &m->f, (int)in[1]);
    if (in[1] >= 0.0)
        used = compare_image(&m->w, p, &image, &surprise);
    for (int i = 0; i < N; ++i)
        lights[i] = lit[i] > 0.0;
    out[2 * N] = decide_twin(p, b, m, lights, in[4] > 0.0, out, &count);
    copy(out + N, m->s.T);
    out[2 * N + 1] = count;
    out[2 * N + 2] = m->w.state[GAIN];
    out[2 * N + 3] = sqrt(m->w.spread[GAIN][GAIN]);
    out[2 * N + 4] = m->w.peak[0][0] * p->sigma;
    out[2 * N + 5] = m->w.peak[0][1] * p->sigma;
    out[2 * N + 6] = m->w.count;
    out[2 * N + 7] = m->w.refused;
    out[2 * N + 8] = used;
    out[2 * N + 9] = surprise;
    out[2 * N + 10] = m->w.state[POWER_LATE];
    out[2 * N + 11] = m->w.state[PLACE_LATE];
    out[2 * N + 12] = m->w.state[OFFSET_X] * p->sigma;
    out[2 * N + 13] = m->w.state[OFFSET_Y] * p->sigma;
}

/* Plan some ticks one after another without any measurement: each plan's first power is what is given.
   way (count + N + 1, 2), m, and lit (count + N): beyond the ticks there must be a horizon more.
   power (count), W, and T (count), K, as expected at the end of each. */
void laserloop_plan(const process *p, const problem *b, memory *m, int count, const double *way, const unsigned char *lit,
                    double *power, double *T)
{
    int lights[N], rounds, resumes = m->w.now > 0 && !m->was_lit;
    double plan[N];
    for (int k = 0; k < count; ++k, way += 2) {
        memcpy(m->f.way, way, sizeof m->f.way);
        if (m->w.now == 0)
            memcpy(m->w.here, way, sizeof m->w.here);
        for (int i = 0; i < N; ++i)
            lights[i] = lit[k + i];
        survey(&m->w, p, &m->f, -1);
        decide_twin(p, b, m, lights, resumes, plan, &rounds);
        T[k] = m->s.T[0];
        power[k] = lit[k] && plan[0] > 0.0 ? clamp(plan[0], b->least, b->full) : 0.0;
        follow_twin(p, m, power[k], way[2], way[3]);
        resumes = !lit[k];
    }
    m->was_lit = !resumes;
}

/* T, K, at the end of a tick under a power along its way (2, 2), m, without taking it; `absorbed`: W. Of the horizon only
   this tick matters. */
static double expect_tick(const process *p, memory *m, const double *way, double power, double *absorbed)
{
    double plan[N] = {power}, watts[N], peak[N][2], all[N], slopes[N][N];
    const int lights[N] = {power > 0.0};
    for (int i = 0; i <= N; ++i)
        memcpy(m->f.way[i], way + (i ? 2 : 0), sizeof m->f.way[i]);
    if (m->w.now == 0)
        memcpy(m->w.here, way, sizeof m->w.here);
    survey(&m->w, p, &m->f, -1);
    foresee_laser(&m->w, p, &m->f);
    absorb_plan(p, &m->f, plan, watts);
    look_ahead(&m->w, p, watts, &m->f);
    foresee(&m->w, p, &m->f, plan, all, slopes, peak);
    note_peaks(&m->w, p, &m->f, lights, peak);
    *absorbed = watts[0];
    return all[0];
}

/* What some powers lead to: T (count), K, at the end of each tick. */
void laserloop_follow(const process *p, memory *m, int count, const double *way, const double *power, double *T)
{
    double absorbed;
    for (int k = 0; k < count; ++k, way += 2) {
        T[k] = expect_tick(p, m, way, power[k], &absorbed);
        follow_twin(p, m, power[k], way[2], way[3]);
    }
}

/* The plate cools for some ticks while the beam goes dark to a place, m. */
void laserloop_pause(const process *p, memory *m, double ticks, double x, double y)
{
    cool_twin(p, m, ticks, x, y);
    m->left = 0;
    m->was_lit = 0;
}

/* What is measured over what is expected, if it is known beforehand. */
void laserloop_trust(memory *m, double gain)
{
    m->w.state[GAIN] = gain;
}

/* u at a place, m, now: for the tests. */
double laserloop_field(const process *p, memory *m, double x, double y)
{
    prospect f;
    for (int i = 0; i <= N; ++i) {
        f.way[i][0] = x;
        f.way[i][1] = y;
    }
    survey(&m->w, p, &f, 0);
    recall_heat(&m->w, p, m->w.now);
    return expect_heat(&m->w, p, x, y);
}
