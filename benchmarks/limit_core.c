/* What this core can do: clock, fused multiply-adds, and reading from its caches. Built by limit.py. */

#include <stddef.h>
#include <time.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
typedef float vector __attribute__((vector_size(BYTES)));

double seconds(void);
double clock_hz(void);
double multiply_adds_per_second(void);
double bytes_per_second(const float *data, size_t bytes);
int vector_bytes(void);

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int vector_bytes(void)
{
    return BYTES;
}

#define KEEP(x) __asm__ volatile("" : "+r"(x))
#define ADD x += y; KEEP(x);
#define ADD8 ADD ADD ADD ADD ADD ADD ADD ADD

/* Additions that wait for each other take a cycle each. */
double clock_hz(void)
{
    unsigned long x = 1, y = 3;
    const int rounds = 20000;
    KEEP(y);
    const double began = seconds();
    for (int i = 0; i < rounds; ++i) {
        ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8
    }
    return 64.0 * rounds / (seconds() - began);
}

#define HOLD(v) __asm__ volatile("" : "+x"(v))

#define CHAIN(a) a = a * b + c; HOLD(a);

/* Twelve chains hide the latency of four or five cycles on two units. */
double multiply_adds_per_second(void)
{
    vector b = {0}, c = {0};
    const int rounds = 20000;
    b += 0.999f;
    c += 1e-3f;
    vector a0 = b, a1 = b, a2 = b, a3 = b, a4 = b, a5 = b, a6 = b, a7 = b, a8 = b, a9 = b, a10 = b, a11 = b;
    const double began = seconds();
    for (int i = 0; i < rounds; ++i) {
        CHAIN(a0) CHAIN(a1) CHAIN(a2) CHAIN(a3) CHAIN(a4) CHAIN(a5)
        CHAIN(a6) CHAIN(a7) CHAIN(a8) CHAIN(a9) CHAIN(a10) CHAIN(a11)
    }
    return 12.0 * rounds * (BYTES / 4) / (seconds() - began);
}

double bytes_per_second(const float *data, size_t bytes)
{
    const vector *v = (const vector *)data;
    const size_t count = bytes / BYTES / 8 * 8;
    const int rounds = (int)(1 + 4000000 / bytes);
    vector s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    const double began = seconds();
    for (int i = 0; i < rounds; ++i) {
        for (size_t j = 0; j < count; j += 8) {
            s0 += v[j];
            s1 += v[j + 1];
            s2 += v[j + 2];
            s3 += v[j + 3];
            s4 += v[j + 4];
            s5 += v[j + 5];
            s6 += v[j + 6];
            s7 += v[j + 7];
        }
        HOLD(s0); HOLD(s1); HOLD(s2); HOLD(s3); HOLD(s4); HOLD(s5); HOLD(s6); HOLD(s7);
    }
    return (double)count * BYTES * rounds / (seconds() - began);
}
