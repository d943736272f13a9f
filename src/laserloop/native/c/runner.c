/* Replays the vectors: every power, prediction and status must be what the same source answered at its export. Then inputs
   that no machine should send.

   runner [vectors.txt [repeats to time [poisoned inputs]]] */

#include "runner_tools.h"

#include "laserloop_network.h"

#define N LASERLOOP_NETWORK_HORIZON

typedef struct {
    laserloop_network_input in;
    double start[N], plan[N], predicted[N];
    int status;
} vector;

static struct laserloop_network laser;

static int read_vector(FILE *file, vector *v)
{
    double code[2] = {0.0, 0.0};
    const int ok = read_numbers(file, 4 * N, v->in.kinematics[0]) && read_numbers(file, N + 1, v->in.temps) &&
                   read_numbers(file, 2, v->in.location) && read_numbers(file, 1, &v->in.previous) &&
                   read_numbers(file, 1, &code[0]) && read_numbers(file, N, v->in.committed) &&
                   read_numbers(file, N, v->start) && read_numbers(file, N, v->plan) &&
                   read_numbers(file, N, v->predicted) && read_numbers(file, 1, &code[1]);
    v->in.committed_count = (int)code[0];
    v->in.start = v->start;
    v->status = (int)code[1];
    return ok;
}

/* The power of the next tick. */
static double step(const laserloop_network_input *in, laserloop_network_output *out)
{
    static unsigned tick;
    laserloop_network_input next = *in;
    next.tick = ++tick;
    return laserloop_network_step(&laser, &next, out);
}

static int start(void)
{
    return laserloop_network_init(&laser) == 0 && laserloop_network_begin(&laser) == 0;
}

static int check(const vector *v, int index, double power_tolerance, double heat_tolerance)
{
    laserloop_network_output out;
    const double power = step(&v->in, &out);
    int good = out.status == v->status && power == out.plan[v->in.committed_count];
    for (int i = 0; i < N; ++i)
        good = good && fabs(out.plan[i] - v->plan[i]) <= power_tolerance &&
               fabs(out.predicted[i] - v->predicted[i]) <= heat_tolerance;
    if (!good)
        printf("vector %d: power %.6f W, status %d; expected %.6f W, status %d\n", index, power, out.status,
               v->plan[v->in.committed_count], v->status);
    return good;
}

/* Put a number in one of the 5 N + 4 places of a question. */
static void put(laserloop_network_input *in, int place, double number)
{
    if (place < 4 * N)
        in->kinematics[place / 4][place % 4] = number;
    else if (place < 5 * N + 1)
        in->temps[place - 4 * N] = number;
    else if (place < 5 * N + 3)
        in->location[place - 5 * N - 1] = number;
    else
        in->previous = number;
}

static int is_safe(double power)
{
    const char *one = NULL, *two = NULL;
    const int status = laserloop_network_status(&laser, &one);
    laserloop_network_image(&laser, &two);
    if (!one || !one[0] || !two || !two[0])
        return 0;
    if (status == LASERLOOP_NETWORK_NOT_BEGUN)
        return power == 0.0;
    return power == 0.0 || (power >= LASERLOOP_NETWORK_POWER_LOW && power <= LASERLOOP_NETWORK_POWER_HIGH);
}

/* Inputs that no camera should send must give a power within the bounds and a status that says so. */
static int survive(const vector *v)
{
    const double poison[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e30, -1e30, 0.0};
    int good = 1;
    for (size_t k = 0; k < sizeof poison / sizeof *poison; ++k)
        for (int place = 0; place < 5 * N + 4; ++place) {
            laserloop_network_input in = v->in;
            const int possible = poison[k] == 0.0 && (place < 4 * N || place > 5 * N);
            put(&in, place, poison[k]);
            laserloop_network_begin(&laser);
            good = good && is_safe(step(&in, NULL));
            good = good && (possible || place == 5 * N + 3 ||
                            laserloop_network_status(&laser, NULL) >= LASERLOOP_NETWORK_HELD);
        }
    return good;
}

/* All functions in any order: no power out of bounds. */
static int wander(const vector *vectors, int count, int calls)
{
    unsigned long seed = 2;
    unsigned tick = 0;
    for (int k = 0; k < calls; ++k) {
        laserloop_network_input in = vectors[draw(&seed, (unsigned long)count)].in;
        const unsigned long what = draw(&seed, 64);
        if (what == 0)
            laserloop_network_init(draw(&seed, 8) ? &laser : NULL);
        else if (what < 8)
            laserloop_network_begin(&laser);
        else if (what == 8)
            laserloop_network_end(&laser);
        else if (what == 9)
            laserloop_network_set_window(&laser, 10.0 * (double)draw(&seed, 200), 10.0 * (double)draw(&seed, 200));
        else if (what == 10)
            laserloop_network_step(&laser, NULL, NULL);
        else {
            if (draw(&seed, 2))
                put(&in, (int)draw(&seed, 5 * N + 4), draw_poison(&seed));
            if (draw(&seed, 16) == 0)
                in.committed_count = (int)draw(&seed, 100) - 50;
            in.dark[draw(&seed, N)] = draw(&seed, 4) == 0;
            tick += draw(&seed, 32) ? 1U : (unsigned)draw(&seed, 200) - 100U;
            in.tick = tick;
            if (!is_safe(laserloop_network_step(&laser, &in, NULL)))
                return 0;
        }
    }
    return 1;
}

/* A camera that sends one image for ever is noticed, and in the end gets the least power, also if its place follows the beam. */
static int notice_frozen(const vector *v, double follows)
{
    laserloop_network_input in = v->in;
    int good = start();
    double power = 0.0;
    step(&in, NULL);
    for (int i = 0; i < N; ++i) {
        in.location[0] += follows;
        power = step(&in, NULL);
        good = good && laserloop_network_status(&laser, NULL) >= LASERLOOP_NETWORK_HELD;
    }
    return good && power == LASERLOOP_NETWORK_POWER_LOW && laserloop_network_status(&laser, NULL) == LASERLOOP_NETWORK_EXHAUSTED;
}

static int refuse(const vector *v)
{
    static struct laserloop_network raw; /* never initialised */
    laserloop_network_init(&laser);
    return step(&v->in, NULL) == 0.0 && laserloop_network_set_window(&laser, 1.0, 0.0) == -1 &&
           laserloop_network_set_window(&laser, NAN, 800.0) == -1 && laserloop_network_init(NULL) == -1 &&
           laserloop_network_begin(&raw) == -1 && laserloop_network_step(&raw, &v->in, NULL) == 0.0 &&
           laserloop_network_step(NULL, &v->in, NULL) == 0.0;
}

static void measure(const vector *vectors, int count, int repeats)
{
    double *times = calloc((size_t)(count * repeats), sizeof *times);
    start();
    for (int r = 0; times && r < repeats; ++r)
        for (int i = 0; i < count; ++i) {
            const double began = read_clock();
            step(&vectors[i].in, NULL);
            times[r * count + i] = read_clock() - began;
        }
    if (times) {
        print_times("step", times, count, repeats);
        printf("a handle has %lu bytes\n", (unsigned long)laserloop_network_size());
    }
    free(times);
}

int main(int argc, char **argv)
{
    int count = 0, horizon = 0, passed = 0;
    double power_tolerance, heat_tolerance;
    const int repeats = argc > 2 ? atoi(argv[2]) : 0, calls = argc > 3 ? atoi(argv[3]) : 10000;
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
    if (!start()) {
        printf("this compiler changed what arithmetic means\n");
        return 1;
    }
    for (int i = 0; i < count; ++i)
        passed += check(&vectors[i], i, power_tolerance, heat_tolerance);
    for (int i = 0; i < count; ++i)
        if (!survive(&vectors[i])) {
            printf("vector %d: poisoned input was believed or gave a power out of range\n", i);
            passed = -1;
            break;
        }
    if (!wander(vectors, count, calls)) {
        printf("a power was out of range\n");
        passed = -1;
    }
    if (!notice_frozen(&vectors[0], 0.0) || !notice_frozen(&vectors[0], 1e-5)) {
        printf("a frozen image was believed\n");
        passed = -1;
    }
    if (!refuse(&vectors[0])) {
        printf("an impossible window or handle was taken\n");
        passed = -1;
    }
    printf("%d of %d vectors passed\n", passed, count);
    if (repeats > 0)
        measure(vectors, count, repeats);
    free(vectors);
    return passed == count ? 0 : 1;
}
