/* What a machine says of its measurement: whether it can be, and the hottest of it. */

#include "laserloop_twin.h"

static int is_within(double x, double low, double high) /* NaN is not */
{
    return x >= low && x <= high;
}

/* The hottest of some pixels, K, or NaN if one of them is not credible; `print` tells frames apart. */
static double read_pixels(int count, const double *T, double *print)
{
    double most[LANES] = {0}, bad[LANES] = {0}, sum[LANES] = {0}, hottest = 0.0, wrong = 0.0;
    const int whole = count / LANES * LANES;
    for (int k = 0; k < whole; k += LANES)
        for (int l = 0; l < LANES; ++l) {
            const double t = T[k + l];
            most[l] = t > most[l] ? t : most[l];
            bad[l] = ((t >= LASERLOOP_COLDEST) & (t <= LASERLOOP_HOTTEST)) ? bad[l] : 1.0;
            sum[l] += (k + l + 1) * t;
        }
    for (int k = whole; k < count; ++k) {
        most[k - whole] = T[k] > most[k - whole] ? T[k] : most[k - whole];
        bad[k - whole] = is_within(T[k], LASERLOOP_COLDEST, LASERLOOP_HOTTEST) ? bad[k - whole] : 1.0;
        sum[k - whole] += (k + 1) * T[k];
    }
    *print = 0.0;
    for (int l = 0; l < LANES; ++l) {
        hottest = most[l] > hottest ? most[l] : hottest;
        wrong += bad[l];
        *print += sum[l];
    }
    return wrong > 0.0 ? NAN : hottest;
}

/* The hottest of a measurement, K, or NaN if it has a pixel that is not credible, or none, or too many. */
static double find_hottest(const laserloop_input *in, double *print)
{
    *print = 0.0;
    if (in->columns == 0 && in->rows == 0)
        return is_within(in->peak, LASERLOOP_COLDEST, LASERLOOP_HOTTEST) ? in->peak : NAN;
    if (in->columns < 1 || in->rows < 1 || in->columns > LASERLOOP_SIDE || in->rows > LASERLOOP_SIDE || !in->x || !in->y ||
        !in->T)
        return NAN;
    for (int k = 0; k < in->columns; ++k)
        if (!is_within(in->x[k], k ? in->x[k - 1] : -LASERLOOP_PLATE_X, LASERLOOP_PLATE_X))
            return NAN;
    for (int k = 0; k < in->rows; ++k)
        if (!is_within(in->y[k], k ? in->y[k - 1] : -LASERLOOP_PLATE_Y, LASERLOOP_PLATE_Y))
            return NAN;
    return read_pixels(in->columns * in->rows, in->T, print);
}
