/* What both runners need: numbers of a file, dice, and times. */

#ifndef LASERLOOP_RUNNER_TOOLS_H
#define LASERLOOP_RUNNER_TOOLS_H

#ifdef __unix__
#define _POSIX_C_SOURCE 199309L
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int read_numbers(FILE *file, int count, double *numbers)
{
    for (int i = 0; i < count; ++i)
        if (fscanf(file, "%lf", &numbers[i]) != 1)
            return 0;
    return 1;
}

static unsigned long draw(unsigned long *seed, unsigned long below)
{
    *seed = (*seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
    return (*seed >> 8) % below;
}

/* What no machine should send. */
static double draw_poison(unsigned long *seed)
{
    const double numbers[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e30, -1e5, 0.0};
    return numbers[draw(seed, sizeof numbers / sizeof *numbers)];
}

static double read_clock(void) /* us */
{
#ifdef __unix__
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
#else
    return 1e6 * (double)clock() / CLOCKS_PER_SEC;
#endif
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Say how long something took each time, and each of its `count` questions at best. */
static void print_times(const char *what, double *times, int count, int repeats)
{
    double *best = calloc((size_t)count, sizeof *best);
    if (!best)
        return;
    for (int i = 0; i < count; ++i)
        for (int r = 0; r < repeats; ++r)
            best[i] = r == 0 || times[r * count + i] < best[i] ? times[r * count + i] : best[i];
    qsort(times, (size_t)(count * repeats), sizeof *times, compare_numbers);
    qsort(best, (size_t)count, sizeof *best, compare_numbers);
    printf("%s: median %.2f us, worst %.2f us; each at its best of %d: median %.2f us, worst %.2f us\n", what,
           times[count * repeats / 2], times[count * repeats - 1], repeats, best[count / 2], best[count - 1]);
    free(best);
}

#endif
