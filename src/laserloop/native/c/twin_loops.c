/* Many closed loops at once, each on a twin of its own as the plant: a power in, what a learner sees out.

   The vector that is seen is laid out as in laserloop/control/policy.py, whose sizes are defined from there:
   PAST, SPOTS, WAY, SEEN, LATE. Its part from WAY on is of the path alone and is copied. */

#include "twin.c"

#define GATHERED 4.0 /* beam widths around the beam, within which `survey` gathers all heat that is felt */

typedef struct { /* of all loops */
    double low, high;                  /* W */
    double ambient, middle, half, slow, limit; /* K, K, K, ticks, 1 */
    int delay, every;                  /* ticks, of the camera */
    int spot[SPOTS];                   /* ticks ahead */
} setting;

typedef struct { /* one loop besides its heat */
    float late[LATE][1 + SPOTS]; /* K: peak and spots of the images on their way, by when they were taken */
    float error[PAST], power[PAST], heat, spots[SPOTS], slow[2];
    long long tick, taken; /* of now, and of the newest image */
    memory m ALIGNED;
} loop;

typedef struct { /* of one step of all loops: what goes in and comes out */
    const process *const *process; /* of each */
    const double *const *way;      /* m: positions of its path, as many more as are looked ahead */
    const unsigned char *const *lit;
    const float *const *described; /* rows of the path's part of the vector, for each tick */
    const double *command;         /* W */
    const unsigned char *lost;     /* whether the image that comes now gets lost */
    const float *noise;            /* (1 + SPOTS), K, added to it */
    double *T;                     /* K, the plate's peak at the end of the tick */
    double *power;                 /* W, given */
    float *seen;                   /* (SEEN) */
} batch;

void laserloop_loop_sizes(size_t *sizes);
void laserloop_begin(const setting *s, loop *loops, int count, const long long *which, const double *gain, const batch *b);
void laserloop_step(const setting *s, loop *loops, int count, const batch *b);

void laserloop_loop_sizes(size_t *sizes)
{
    sizes[0] = sizeof(process);
    sizes[1] = sizeof(setting);
    sizes[2] = sizeof(loop);
}

static float limited(const setting *s, double x)
{
    return (float)clamp(x, -s->limit, s->limit);
}

static float to_error(const setting *s, double T)
{
    return limited(s, (T - s->middle) / s->half);
}

static float to_heat(const setting *s, double T)
{
    return limited(s, (T - s->ambient) / (s->middle - s->ambient));
}

static float to_share(const setting *s, double watts)
{
    return (float)(2.0 * (watts - s->low) / (s->high - s->low) - 1.0);
}

/* A plate at rest. */
static void begin_loop(const process *p, const setting *s, loop *o, double gain)
{
    memset(o, 0, offsetof(loop, m));
    start_twin(p, &o->m);
    o->m.w.state[GAIN] = gain;
    for (int k = 0; k < LATE; ++k)
        for (int c = 0; c <= SPOTS; ++c)
            o->late[k][c] = (float)s->ambient;
    for (int k = 0; k < PAST; ++k) {
        o->error[k] = to_error(s, s->ambient);
        o->power[k] = to_share(s, 0.0);
    }
}

/* T at the places where the beam will be when the image of this moment has come, as far as it matters; after expect_tick.
   `top`: u of the peak. */
static void look_at_spots(const process *p, const setting *s, loop *o, double top, double watts, const double *way, float *T)
{
    twin *w = &o->m.w;
    const int far = w->far.count, last = s->spot[SPOTS - 1] - s->spot[0];
    const double moment = (double)(w->now + 1), *spots = way + 2 * (s->delay + s->spot[0]);
    const double centre[2] = {0.5 * (spots[0] + spots[2 * last]) / p->sigma, 0.5 * (spots[1] + spots[2 * last + 1]) / p->sigma};
    double radius = 0.0, reach = 0.0;
    for (int k = 0; k <= last; ++k) {
        const double x = spots[2 * k] / p->sigma, y = spots[2 * k + 1] / p->sigma;
        const double off[2] = {x - centre[0], y - centre[1]}, ahead[2] = {x - way[0] / p->sigma, y - way[1] / p->sigma};
        radius = fmax(radius, hypotenuse(off[0], off[1]));
        reach = fmax(reach, hypotenuse(ahead[0], ahead[1]));
    }
    if (far > 0 || reach > GATHERED) { /* the polynomial holds around the peak alone, and so do the blocks */
        w->far.count = 0;
        gather(w, p, centre, radius, moment);
        spread_history(w, moment, p->lags);
    }
    w->past = w->coming;
    w->past.watts[0] = (real)watts;
    for (int c = 0; c < SPOTS; ++c) {
        const double *spot = way + 2 * (s->delay + s->spot[c]), u = expect_heat(w, p, spot[0], spot[1]);
        const double share = u < top ? u / top : 1.0; /* of the peak's; in the dark the peak is lost */
        T[c] = (float)look_up(&p->temperature, w->state[GAIN] * (1.0 - p->slender * (1.0 - share)) * u, NULL);
    }
    w->far.count = far;
}

/* One tick of the plate, and the image of its end. */
static double heat_plate(const process *p, const setting *s, loop *o, double power, const double *way)
{
    memory *m = &o->m;
    double watts, T = expect_tick(p, m, way, power, &watts);
    float *image = o->late[(o->tick + 1) % LATE];
    image[0] = (float)T;
    if ((o->tick + 1 + s->delay) % s->every == 0)
        look_at_spots(p, s, o, look_up(&p->heat, T, NULL) / m->w.state[GAIN], watts, way + 2, image + 1);
    follow_twin(p, m, power, way[2], way[3]);
    ++o->tick;
    return T;
}

/* The image that comes now, if one does. */
static void take_image(const setting *s, loop *o, int lost, const float *noise)
{
    const long long taken = o->tick > s->delay ? o->tick - s->delay : 0;
    const float *image = o->late[taken % LATE];
    memmove(o->error + 1, o->error, (PAST - 1) * sizeof *o->error);
    if (o->tick % s->every || lost)
        return; /* what was known stays known */
    o->error[0] = to_error(s, (double)(image[0] + noise[0]));
    o->heat = to_heat(s, (double)(image[0] + noise[0]));
    for (int c = 0; c < SPOTS; ++c)
        o->spots[c] = to_heat(s, (double)(image[1 + c] + noise[1 + c]));
    o->taken = taken;
}

static void write_seen(const setting *s, const loop *o, const float *described, float *seen)
{
    memcpy(seen, o->error, sizeof o->error);
    memcpy(seen + PAST, o->power, sizeof o->power);
    seen += 2 * PAST;
    *seen++ = o->heat;
    *seen++ = limited(s, 0.1 * (double)(o->tick - o->taken));
    memcpy(seen, o->spots, sizeof o->spots);
    memcpy(seen + SPOTS, o->slow, sizeof o->slow);
    memcpy(seen + SPOTS + 2, described + o->tick * (SEEN - WAY), (SEEN - WAY) * sizeof *seen);
}

static void see(const setting *s, loop *o, const batch *b, int i)
{
    take_image(s, o, b->lost[i], b->noise + i * (1 + SPOTS));
    if (o->tick > 0 && b->lit[i][o->tick - 1]) {
        o->slow[0] += ((float)clamp((double)o->error[0], -1.0, 1.0) - o->slow[0]) / (float)s->slow;
        o->slow[1] += (o->power[0] - o->slow[1]) / (float)s->slow;
    }
    write_seen(s, o, b->described[i], b->seen + (size_t)i * SEEN);
}

/* Begin some of the loops, and write what is seen before their first tick. */
void laserloop_begin(const setting *s, loop *loops, int count, const long long *which, const double *gain, const batch *b)
{
    for (int k = 0; k < count; ++k) {
        const int i = (int)which[k];
        begin_loop(b->process[i], s, loops + i, gain[k]);
        see(s, loops + i, b, i);
    }
}

/* One tick of each: its power is given as far as the laser can and the path is lit. */
void laserloop_step(const setting *s, loop *loops, int count, const batch *b)
{
    for (int i = 0; i < count; ++i) {
        loop *o = loops + i;
        const double asked = b->command[i] == b->command[i] ? clamp(b->command[i], s->low, s->high) : s->low;
        b->power[i] = b->lit[i][o->tick] ? asked : 0.0;
        b->T[i] = heat_plate(b->process[i], s, o, b->power[i], b->way[i] + 2 * o->tick);
        memmove(o->power + 1, o->power, (PAST - 1) * sizeof *o->power);
        o->power[0] = to_share(s, b->power[i]);
        see(s, o, b, i);
    }
}
