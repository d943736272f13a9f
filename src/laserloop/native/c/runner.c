/* Replays the vectors: every power, prediction and status must be what the same source answered at its export. */

#include "laserloop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N LASERLOOP_HORIZON

typedef struct {
    laserloop_input in;
    double start[N], plan[N], predicted[N];
    int status;
} vector;

static int read_numbers(FILE *file, int count, double *numbers)
{
    for (int i = 0; i < count; ++i)
        if (fscanf(file, "%lf", &numbers[i]) != 1)
            return 0;
    return 1;
}

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

static int check(const vector *v, int index, double power_tolerance, double heat_tolerance)
{
    laserloop_output out;
    const double power = laserloop_step(&v->in, &out);
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
static void put(laserloop_input *in, int place, double number)
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

/* Inputs that no camera should send must give a power within the bounds and a status that says so. */
static int survive(const vector *v)
{
    const double poison[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e30, -1e30, 0.0};
    int good = 1;
    for (size_t k = 0; k < sizeof poison / sizeof *poison; ++k)
        for (int place = 0; place < 5 * N + 4; ++place) {
            laserloop_input in = v->in;
            const char *sentence = NULL;
            const int possible = poison[k] == 0.0 && (place < 4 * N || place > 5 * N);
            double power;
            int status;
            put(&in, place, poison[k]);
            power = laserloop_step(&in, NULL);
            status = laserloop_status(&sentence);
            good = good && power >= LASERLOOP_POWER_LOW && power <= LASERLOOP_POWER_HIGH;
            good = good && status >= 0 && sentence != NULL && sentence[0] != 0;
            good = good && (possible || place == 5 * N + 3 || status >= LASERLOOP_NO_PREDICTION);
        }
    return good;
}

/* A camera that sends one image for ever is noticed, and in the end gets the least power. */
static int notice_frozen(const vector *v)
{
    int good = 1;
    double power = 0.0;
    laserloop_init();
    laserloop_step(&v->in, NULL);
    for (int i = 0; i < N; ++i) {
        power = laserloop_step(&v->in, NULL);
        good = good && laserloop_status(NULL) >= LASERLOOP_NO_PREDICTION;
    }
    return good && power == LASERLOOP_POWER_LOW && laserloop_status(NULL) == LASERLOOP_EXHAUSTED;
}

int main(int argc, char **argv)
{
    int count = 0, horizon = 0, passed = 0;
    double power_tolerance, heat_tolerance;
    const int repeats = argc > 2 ? atoi(argv[2]) : 0;
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
    for (int i = 0; i < count; ++i)
        if (!survive(&vectors[i])) {
            printf("vector %d: poisoned input was believed or gave a power out of range\n", i);
            passed = -1;
            break;
        }
    if (!notice_frozen(&vectors[0])) {
        printf("a frozen image was believed\n");
        passed = -1;
    }
    if (laserloop_set_window(1.0, 0.0) != -1 || laserloop_set_window(NAN, 800.0) != -1) {
        printf("an impossible window was taken\n");
        passed = -1;
    }
    printf("%d of %d vectors passed\n", passed, count);
    if (repeats > 0) {
        const clock_t began = clock();
        laserloop_init();
        for (int r = 0; r < repeats; ++r)
            for (int i = 0; i < count; ++i)
                laserloop_step(&vectors[i].in, NULL);
        printf("mean %.2f us a step\n", 1e6 * (double)(clock() - began) / CLOCKS_PER_SEC / repeats / count);
    }
    free(vectors);
    return passed == count ? 0 : 1;
}
