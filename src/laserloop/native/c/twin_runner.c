/* Replays a recorded loop in its order: every power, prediction and status must be what the same source answered where it
   was exported. Then inputs that no machine should send.

   runner [vectors.txt [repeats to time [poisoned inputs]]] */

#include "runner_tools.h"

#include "laserloop_twin.h"

#define N LASERLOOP_TWIN_HORIZON
#define SIDE LASERLOOP_TWIN_SIDE
#define NEAR (0.15 * LASERLOOP_TWIN_POWER_HIGH) /* W, by which good ticks may differ from the record where others between them were poisoned */
#define CALM 16 /* ticks after which they may not: a gain that was poisoned upwards falls by some per cent in a reading */

typedef struct {
    int begins; /* a part, with a pause before it */
    double pause;
    laserloop_twin_input in;
    double x[SIDE], y[SIDE], T[SIDE * SIDE];
    double power, predicted;
    int status, measurement;
} vector;

static struct laserloop_twin laser, other; /* the other one is there to show that it changes nothing */

/* begins, pause, tick, commanded, measured, metered, seen, age, peak, columns, rows, way, dark, x, y, T, then power,
   prediction, status, measurement */
static int read_vector(FILE *file, vector *v)
{
    double head[11], dark[N], answer[4];
    if (!read_numbers(file, 11, head) || !read_numbers(file, 2 * (N + 1), v->in.way[0]) || !read_numbers(file, N, dark))
        return 0;
    v->begins = (int)head[0];
    v->pause = head[1];
    v->in.tick = (unsigned)head[2];
    v->in.power.commanded = head[3];
    v->in.power.measured = head[4];
    v->in.power.metered = (int)head[5];
    v->in.seen = (int)head[6];
    v->in.age = (int)head[7];
    v->in.peak = head[8];
    v->in.columns = (int)head[9];
    v->in.rows = (int)head[10];
    for (int i = 0; i < N; ++i)
        v->in.dark[i] = dark[i] > 0.0;
    v->in.x = v->x;
    v->in.y = v->y;
    v->in.T = v->T;
    if (v->in.columns < 0 || v->in.columns > SIDE || v->in.rows < 0 || v->in.rows > SIDE ||
        !read_numbers(file, v->in.columns, v->x) || !read_numbers(file, v->in.rows, v->y) ||
        !read_numbers(file, v->in.columns * v->in.rows, v->T) || !read_numbers(file, 4, answer))
        return 0;
    v->power = answer[0];
    v->predicted = answer[1];
    v->status = (int)answer[2];
    v->measurement = (int)answer[3];
    return 1;
}

static int begin(const vector *v)
{
    return !v->begins || laserloop_twin_begin(&laser, v->in.way[0][0], v->in.way[0][1], v->pause) == 0;
}

static int check(const vector *v, int index, double power_tolerance, double heat_tolerance)
{
    laserloop_twin_output out;
    const int begun = begin(v);
    const double power = laserloop_twin_step(&laser, &v->in, &out);
    const int good = begun && out.status == v->status && out.measurement == v->measurement && power == out.plan[0] &&
                     fabs(power - v->power) <= power_tolerance &&
                     (out.iterations == 0 || fabs(out.predicted[0] - v->predicted) <= heat_tolerance);
    if (!good)
        printf("vector %d: power %.6f W, status %d, measurement %d; expected %.6f W, %d, %d\n", index, power, out.status,
               out.measurement, v->power, v->status, v->measurement);
    laserloop_twin_step(&other, &v->in, NULL);
    return good;
}

enum { FINE, BAD_MEASUREMENT, BAD_MACHINE };

/* Change one part of an input; `pixels` are its own. Returns what no machine can have meant. */
static int poison(laserloop_twin_input *in, int first, double *pixels, unsigned long *seed)
{
    const double number = draw_poison(seed);
    const int place = (int)draw(seed, 2 * N + 9) - 2 * (N + 1), shift = (int)draw(seed, 8);
    const int measured = in->seen != LASERLOOP_TWIN_NOTHING_SEEN ? BAD_MEASUREMENT : FINE;
    if (place < 0) {
        in->way[(-place - 1) / 2][(-place - 1) % 2] = number;
        return number != 0.0 ? BAD_MACHINE : FINE;
    }
    switch (place) {
    case 0: /* none at all would be a lie that can be */
        in->power.commanded = number != 0.0 ? number : 1e3;
        return first ? FINE : BAD_MACHINE;
    case 1: /* only a meter: the command is believed */
        in->power.measured = number;
        in->power.metered = 1;
        return FINE;
    case 2:
        in->tick += first ? 0 : 1U << (10 + 2 * shift);
        return first ? FINE : BAD_MACHINE;
    case 3:
        in->age = shift > 3 ? 1 << (20 + shift) : -1 - shift;
        return measured;
    case 4:
        in->seen = shift - 10;
        return BAD_MEASUREMENT;
    default:
        break;
    }
    if (in->seen == LASERLOOP_TWIN_PEAK_SEEN)
        in->peak = number;
    else if (in->seen == LASERLOOP_TWIN_FRAME_SEEN && place == 5)
        in->columns = shift > 3 ? SIDE + shift : -shift;
    else if (in->seen == LASERLOOP_TWIN_FRAME_SEEN)
        pixels[draw(seed, (unsigned long)(in->columns * in->rows))] = number;
    return measured;
}

/* Whether a power is within its limits, and no larger than it may be if something was not believed. */
static int is_safe(double power, int dark, double good)
{
    const char *one = NULL, *two = NULL;
    const int status = laserloop_twin_status(&laser, &one);
    laserloop_twin_measurement(&laser, &two);
    if (!one || !one[0] || !two || !two[0] || (dark && power != 0.0))
        return 0;
    if (status == LASERLOOP_TWIN_NOT_BEGUN)
        return power == 0.0;
    if (status >= LASERLOOP_TWIN_LEAST && !dark)
        return power == LASERLOOP_TWIN_POWER_LOW;
    if (status >= LASERLOOP_TWIN_HELD && power > LASERLOOP_TWIN_POWER_LOW && (power > good || power > LASERLOOP_TWIN_POWER_HOLD))
        return 0;
    return dark || (power >= LASERLOOP_TWIN_POWER_LOW && power <= LASERLOOP_TWIN_POWER_HIGH);
}

static int is_believed(int bad)
{
    if (bad == BAD_MACHINE)
        return laserloop_twin_status(&laser, NULL) <= LASERLOOP_TWIN_INFEASIBLE;
    return bad && laserloop_twin_measurement(&laser, NULL) == LASERLOOP_TWIN_TAKEN;
}

/* Poisoned inputs among good ones: no power out of bounds, none believed, and good ticks answered as before. */
static int survive(const vector *vectors, int count, int poisons)
{
    static double pixels[SIDE * SIDE];
    unsigned long seed = 1;
    double good = 0.0;
    int calm = 0, ended = 0;
    laserloop_twin_init(&laser);
    for (int i = 0, done = 0; done < poisons; i = (i + 1) % count) {
        laserloop_twin_input in = vectors[i].in;
        const int poisoned = draw(&seed, 2) == 0, first = vectors[i].begins || ended;
        int bad = FINE, status;
        double power;
        if (i == 0)
            laserloop_twin_init(&laser);
        if (!begin(&vectors[i]) ||
            (ended && laserloop_twin_begin(&laser, in.way[0][0], in.way[0][1], 0.0) != 0 && fabs(in.way[0][0]) < SIDE))
            ended = 1; /* at a place that is none: the next one will do */
        if (poisoned) {
            memcpy(pixels, in.T, sizeof pixels);
            in.T = pixels;
            bad = poison(&in, first, pixels, &seed);
            ++done;
        }
        power = laserloop_twin_step(&laser, &in, NULL);
        status = laserloop_twin_status(&laser, NULL);
        if (!is_safe(power, in.dark[0], good) || is_believed(bad)) {
            printf("poisoned vector %d: power %.6f W, status %d\n", i, power, status);
            return 0;
        }
        ended = status >= LASERLOOP_TWIN_EXHAUSTED && status != LASERLOOP_TWIN_BAD_TICK;
        good = power > 0.0 && status <= LASERLOOP_TWIN_INFEASIBLE ? power : good;
        calm = poisoned || ended ? 0 : calm + 1;
        if (calm > CALM && status == LASERLOOP_TWIN_SOLVED && vectors[i].status == LASERLOOP_TWIN_SOLVED &&
            fabs(power - vectors[i].power) > NEAR) {
            printf("vector %d: %.6f W after poisoned ones, %.6f W without\n", i, power, vectors[i].power);
            return 0;
        }
    }
    return 1;
}

/* All functions in any order: no power out of bounds. */
static int wander(const vector *vectors, int count, int calls)
{
    static double pixels[SIDE * SIDE];
    unsigned long seed = 2;
    int i = 0;
    laserloop_twin_init(&laser);
    for (int k = 0; k < calls; ++k) {
        laserloop_twin_input in = vectors[i].in;
        const unsigned long what = draw(&seed, 64);
        const double one = draw_poison(&seed), pause = 1e-5 * (double)draw(&seed, 1000) * (double)draw(&seed, 1000);
        memcpy(pixels, in.T, sizeof pixels);
        in.T = pixels;
        if (what == 0)
            laserloop_twin_init(draw(&seed, 8) ? &laser : NULL);
        else if (what < 4)
            laserloop_twin_begin(&laser, in.way[0][0], in.way[0][1], draw(&seed, 4) ? pause : one);
        else if (what == 4)
            laserloop_twin_begin(&laser, one, draw_poison(&seed), pause);
        else if (what == 5)
            laserloop_twin_end(&laser, draw(&seed, 2) ? &in.power : NULL);
        else if (what == 6)
            laserloop_twin_set_window(&laser, 10.0 * (double)draw(&seed, 200), draw(&seed, 4) ? 10.0 * (double)draw(&seed, 200) : one);
        else if (what == 7)
            laserloop_twin_step(&laser, NULL, NULL);
        else if (what == 8)
            i = (int)draw(&seed, (unsigned long)count); /* somewhere else: the tick number jumps or goes back */
        else {
            const int poisons = (int)draw(&seed, 3);
            double power;
            for (int p = 0; p < poisons; ++p)
                if (in.columns > 0 && in.rows > 0 && in.columns <= SIDE && in.rows <= SIDE)
                    poison(&in, 0, pixels, &seed);
            power = laserloop_twin_step(&laser, &in, NULL);
            if (!is_safe(power, in.dark[0], LASERLOOP_TWIN_POWER_HIGH)) {
                printf("call %d: power %.6f W, status %d\n", k, power, laserloop_twin_status(&laser, NULL));
                return 0;
            }
            i = (i + 1) % count;
        }
    }
    return 1;
}

/* A camera that sends one frame for ever, although the beam moves, is noticed, and in the end gets the least power. */
static int notice_frozen(const vector *vectors, int count)
{
    vector stuck = vectors[0];
    double power = LASERLOOP_TWIN_POWER_HIGH;
    laserloop_twin_init(&laser);
    for (int i = 0; i < count && !(i > 0 && vectors[i].begins); ++i) {
        laserloop_twin_input in = vectors[i].in;
        const double dx = i > 0 ? in.way[0][0] - stuck.in.way[0][0] : 0.0, dy = in.way[0][1] - stuck.in.way[0][1];
        double x[SIDE], y[SIDE];
        begin(&vectors[i]);
        if (i <= count / 4) {
            if (in.seen == LASERLOOP_TWIN_FRAME_SEEN)
                stuck = vectors[i];
        } else {
            in.seen = stuck.in.seen;
            in.age = 0;
            in.columns = stuck.in.columns;
            in.rows = stuck.in.rows;
            for (int k = 0; k < SIDE; ++k) { /* a camera that looks through the scanner: its places follow the beam */
                x[k] = stuck.x[k] + dx;
                y[k] = stuck.y[k] + dy;
            }
            in.x = x;
            in.y = y;
            in.T = stuck.T;
        }
        power = laserloop_twin_step(&laser, &in, NULL);
    }
    return stuck.in.seen != LASERLOOP_TWIN_FRAME_SEEN || power == LASERLOOP_TWIN_POWER_LOW;
}

static int refuse(void)
{
    static struct laserloop_twin raw; /* never initialised */
    laserloop_twin_input in;
    double power;
    memset(&in, 0, sizeof in);
    laserloop_twin_init(&laser);
    power = laserloop_twin_step(&laser, &in, NULL);
    return power == 0.0 && laserloop_twin_status(&laser, NULL) == LASERLOOP_TWIN_NOT_BEGUN &&
           laserloop_twin_set_window(&laser, 1.0, 0.0) == -1 && laserloop_twin_set_window(&laser, NAN, 800.0) == -1 &&
           laserloop_twin_begin(&laser, NAN, 0.0, 0.0) == -1 &&
           laserloop_twin_begin(&laser, LASERLOOP_TWIN_PLATE_X, 0.0, 0.0) == -1 &&
           laserloop_twin_begin(&laser, 0.0, 0.0, -1.0) == -1 && laserloop_twin_begin(&laser, 0.0, 0.0, 1e12) == -1 &&
           laserloop_twin_step(NULL, &in, NULL) == 0.0 && laserloop_twin_begin(&raw, 0.0, 0.0, 0.0) == -1 &&
           laserloop_twin_step(&raw, &in, NULL) == 0.0 && laserloop_twin_init(NULL) == -1 &&
           laserloop_twin_units(1e300) == LASERLOOP_TWIN_UNITS_MAX && laserloop_twin_units(NAN) == 0;
}

static void measure(const vector *vectors, int count, int repeats)
{
    double *times = calloc((size_t)(count * repeats), sizeof *times), *begins = calloc((size_t)repeats, sizeof *begins);
    for (int r = 0; times && begins && r < repeats; ++r) {
        laserloop_twin_init(&laser);
        for (int i = 0; i < count; ++i) {
            double began = read_clock();
            begin(&vectors[i]);
            if (vectors[i].begins && i > 0)
                begins[r] = read_clock() - began;
            began = read_clock();
            laserloop_twin_step(&laser, &vectors[i].in, NULL);
            times[r * count + i] = read_clock() - began;
        }
    }
    if (times && begins) {
        print_times("step", times, count, repeats);
        print_times("begin after a pause", begins, 1, repeats);
        printf("a handle has %lu bytes\n", (unsigned long)laserloop_twin_size());
    }
    free(times);
    free(begins);
}

int main(int argc, char **argv)
{
    int count = 0, horizon = 0, passed = 0;
    double power_tolerance, heat_tolerance;
    const int repeats = argc > 2 ? atoi(argv[2]) : 0, poisons = argc > 3 ? atoi(argv[3]) : 100000;
    FILE *file = fopen(argc > 1 ? argv[1] : "vectors.txt", "r");
    vector *vectors = NULL;
    if (!file || fscanf(file, "%d %d %lf %lf", &count, &horizon, &power_tolerance, &heat_tolerance) != 4 ||
        horizon != N || count < 1 || !(vectors = calloc((size_t)count, sizeof *vectors))) {
        fprintf(stderr, "no vectors of this horizon: give their file as the first argument\n");
        return 2;
    }
    for (int i = 0; i < count; ++i)
        if (!read_vector(file, &vectors[i])) {
            fprintf(stderr, "the file ends in vector %d\n", i);
            return 2;
        }
    fclose(file);
    if (laserloop_twin_init(&laser) != 0 || laserloop_twin_init(&other) != 0 ||
        laserloop_twin_begin(&other, 0.0, 0.0, 0.0) != 0) {
        printf("this compiler changed what arithmetic means\n");
        return 1;
    }
    for (int i = 0; i < count; ++i)
        passed += check(&vectors[i], i, power_tolerance, heat_tolerance);
    laserloop_twin_end(&laser, NULL);
    if (!survive(vectors, count, poisons) || !wander(vectors, count, poisons)) {
        printf("poisoned input was believed, gave a power out of range, or left a trace\n");
        passed = -1;
    }
    if (!notice_frozen(vectors, count)) {
        printf("a frozen measurement was believed\n");
        passed = -1;
    }
    if (!refuse()) {
        printf("an impossible window, place, pause or handle was taken\n");
        passed = -1;
    }
    printf("%d of %d vectors passed\n", passed, count);
    if (repeats > 0)
        measure(vectors, count, repeats);
    free(vectors);
    return passed == count ? 0 : 1;
}
