/* Replays a recorded loop in its order: every power, prediction and status must be what the same source answered where it
   was exported. Then inputs that no machine should send.

   runner [vectors.txt [repeats to time [poisoned inputs]]] */

#include "laserloop_twin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N LASERLOOP_HORIZON
#define NEAR (0.15 * LASERLOOP_POWER_HIGH) /* W, by which good ticks may differ from the record where others between them were poisoned */

typedef struct {
    int begins; /* a part, with a pause before it */
    double pause;
    laserloop_input in;
    double x[LASERLOOP_SIDE], y[LASERLOOP_SIDE], T[LASERLOOP_SIDE * LASERLOOP_SIDE];
    double power, predicted;
    int status;
} vector;

static int read_numbers(FILE *file, int count, double *numbers)
{
    for (int i = 0; i < count; ++i)
        if (fscanf(file, "%lf", &numbers[i]) != 1)
            return 0;
    return 1;
}

/* begins, pause, given, age, peak, columns, rows, way, dark, x, y, T, then power, prediction, status */
static int read_vector(FILE *file, vector *v)
{
    double head[7], dark[N], answer[3];
    if (!read_numbers(file, 7, head) || !read_numbers(file, 2 * (N + 1), v->in.way[0]) || !read_numbers(file, N, dark))
        return 0;
    v->begins = (int)head[0];
    v->pause = head[1];
    v->in.given = head[2];
    v->in.age = (int)head[3];
    v->in.peak = head[4];
    v->in.columns = (int)head[5];
    v->in.rows = (int)head[6];
    for (int i = 0; i < N; ++i)
        v->in.dark[i] = dark[i] > 0.0;
    v->in.x = v->x;
    v->in.y = v->y;
    v->in.T = v->T;
    if (v->in.columns < 0 || v->in.columns > LASERLOOP_SIDE || v->in.rows < 0 || v->in.rows > LASERLOOP_SIDE ||
        !read_numbers(file, v->in.columns, v->x) || !read_numbers(file, v->in.rows, v->y) ||
        !read_numbers(file, v->in.columns * v->in.rows, v->T) || !read_numbers(file, 3, answer))
        return 0;
    v->power = answer[0];
    v->predicted = answer[1];
    v->status = (int)answer[2];
    return 1;
}

static int begin(const vector *v)
{
    return !v->begins || laserloop_begin(v->in.way[0][0], v->in.way[0][1], v->pause) == 0;
}

static int check(const vector *v, int index, double power_tolerance, double heat_tolerance)
{
    laserloop_output out;
    const int begun = begin(v);
    const double power = laserloop_step(&v->in, &out);
    const int good = begun && out.status == v->status && power == out.plan[0] && fabs(power - v->power) <= power_tolerance &&
                     (out.iterations == 0 || fabs(out.predicted[0] - v->predicted) <= heat_tolerance);
    if (!good)
        printf("vector %d: power %.6f W, status %d; expected %.6f W, status %d\n", index, power, out.status, v->power,
               v->status);
    return good;
}

static unsigned long draw(unsigned long *seed, unsigned long below)
{
    *seed = (*seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
    return (*seed >> 8) % below;
}

/* Put a number in one of the places of an input. Returns whether no machine can have sent that. */
static int poison(laserloop_input *in, int first, double *pixels, unsigned long *seed)
{
    const double numbers[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e30, -1e5, 0.0};
    const int k = (int)draw(seed, sizeof numbers / sizeof *numbers), place = (int)draw(seed, 2 * N + 6);
    if (place < 2 * N + 2) {
        in->way[place / 2][place % 2] = numbers[k];
        return numbers[k] != 0.0;
    }
    if (place == 2 * N + 2) {
        in->given = numbers[k];
        return numbers[k] != 0.0 && !first;
    }
    if (in->age < 0)
        return 0;
    if (place == 2 * N + 3) {
        in->age = 1 << (20 + k);
    } else if (in->columns > 0) {
        pixels[draw(seed, (unsigned long)(in->columns * in->rows))] = numbers[k];
    } else {
        in->peak = numbers[k];
    }
    return 1;
}

/* Whether a power is within its limits, and no larger than a hold may be if something was not believed. */
static int is_safe(double power, int dark, double good)
{
    const char *sentence = NULL;
    const int status = laserloop_status(&sentence), held = status >= LASERLOOP_NO_PREDICTION && status < LASERLOOP_BLIND;
    if (!sentence || !sentence[0] || (dark && power != 0.0))
        return 0;
    if (held && power > LASERLOOP_POWER_LOW && (power > good || power > LASERLOOP_POWER_HOLD))
        return 0;
    return dark || (power >= LASERLOOP_POWER_LOW && power <= LASERLOOP_POWER_HIGH);
}

/* Poisoned inputs among good ones: no power out of bounds, none believed, and good ticks answered as before. */
static int survive(const vector *vectors, int count, int poisons)
{
    static double pixels[LASERLOOP_SIDE * LASERLOOP_SIDE];
    unsigned long seed = 1;
    double good = 0.0;
    int calm = 0;
    laserloop_init();
    for (int i = 0, done = 0; done < poisons; i = (i + 1) % count) {
        laserloop_input in = vectors[i].in;
        const int poisoned = draw(&seed, 2) == 0;
        int bad = 0, status;
        double power;
        if (i == 0)
            laserloop_init();
        begin(&vectors[i]);
        if (poisoned) {
            memcpy(pixels, in.T, sizeof pixels);
            in.T = pixels;
            bad = poison(&in, vectors[i].begins, pixels, &seed);
            ++done;
        }
        power = laserloop_step(&in, NULL);
        status = laserloop_status(NULL);
        if (!is_safe(power, in.dark[0], good) || (bad && status <= LASERLOOP_INFEASIBLE)) {
            printf("poisoned vector %d: power %.6f W, status %d\n", i, power, status);
            return 0;
        }
        good = power > 0.0 && (status <= LASERLOOP_INFEASIBLE || status == LASERLOOP_BLIND) ? power : good;
        calm = poisoned ? 0 : calm + 1;
        if (calm > 6 && status == LASERLOOP_SOLVED && vectors[i].status == LASERLOOP_SOLVED &&
            fabs(power - vectors[i].power) > NEAR) {
            printf("vector %d: %.6f W after poisoned ones, %.6f W without\n", i, power, vectors[i].power);
            return 0;
        }
    }
    return 1;
}

/* A camera that sends one measurement for ever is noticed, and in the end gets the least power. */
static int notice_frozen(const vector *vectors, int count)
{
    vector stuck = vectors[0];
    double power = LASERLOOP_POWER_HIGH;
    laserloop_init();
    for (int i = 0; i < count && !(i > 0 && vectors[i].begins); ++i) {
        laserloop_input in = vectors[i].in;
        begin(&vectors[i]);
        if (i <= count / 4) {
            if (in.age >= 0)
                stuck = vectors[i];
        } else {
            in.age = 0;
            in.peak = stuck.in.peak;
            in.columns = stuck.in.columns;
            in.rows = stuck.in.rows;
            in.x = stuck.x;
            in.y = stuck.y;
            in.T = stuck.T;
        }
        power = laserloop_step(&in, NULL);
    }
    return stuck.in.columns == 0 || power == LASERLOOP_POWER_LOW;
}

static int refuse(void)
{
    laserloop_input in = {0};
    double power;
    laserloop_init();
    power = laserloop_step(&in, NULL);
    return power == 0.0 && laserloop_status(NULL) == LASERLOOP_NOT_BEGUN && laserloop_set_window(1.0, 0.0) == -1 &&
           laserloop_set_window(NAN, 800.0) == -1 && laserloop_begin(NAN, 0.0, 0.0) == -1 &&
           laserloop_begin(LASERLOOP_PLATE_X, 0.0, 0.0) == -1 && laserloop_begin(0.0, 0.0, -1.0) == -1 &&
           laserloop_units(1e300) == LASERLOOP_UNITS_MAX && laserloop_units(NAN) == 0;
}

static void measure(const vector *vectors, int count, int repeats)
{
    const clock_t began = clock();
    for (int r = 0; r < repeats; ++r) {
        laserloop_init();
        for (int i = 0; i < count; ++i) {
            begin(&vectors[i]);
            laserloop_step(&vectors[i].in, NULL);
        }
    }
    printf("mean %.2f us a step\n", 1e6 * (double)(clock() - began) / CLOCKS_PER_SEC / repeats / count);
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
    laserloop_init();
    for (int i = 0; i < count; ++i)
        passed += check(&vectors[i], i, power_tolerance, heat_tolerance);
    laserloop_end();
    if (!survive(vectors, count, poisons)) {
        printf("poisoned input was believed, gave a power out of range, or left a trace\n");
        passed = -1;
    }
    if (!notice_frozen(vectors, count)) {
        printf("a frozen measurement was believed\n");
        passed = -1;
    }
    if (!refuse()) {
        printf("an impossible window, place or pause was taken\n");
        passed = -1;
    }
    laserloop_cleanup();
    printf("%d of %d vectors passed\n", passed, count);
    if (repeats > 0)
        measure(vectors, count, repeats);
    free(vectors);
    return passed == count ? 0 : 1;
}
