/* SPDX-License-Identifier: MIT */
#include "bins.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median(float *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * ((double)v[n / 2 - 1] + v[n / 2]);
}

nb_bin_mean nb_bin_mean_of(const nb_binned *pixels, size_t n, float *work)
{
    const double to_sigma = 1.4826,
                 farthest = 6; /* of the median deviation of a normal law */
    nb_bin_mean m = {0, 0, 0};
    double centre = 0, limit = INFINITY, squares = 0;
    size_t i;
    if (n >= NB_BIN_ENOUGH) {
        for (i = 0; i < n; i++)
            work[i] = pixels[i].counts;
        centre = median(work, n);
        for (i = 0; i < n; i++)
            work[i] = (float)fabs(pixels[i].counts - centre);
        limit = farthest * fmax(to_sigma * median(work, n), sqrt(fmax(centre, 0.0) + 1.0));
    }
    for (i = 0; i < n; i++) {
        const double y = (double)pixels[i].counts * pixels[i].per_unit;
        double step;
        if (!(fabs(pixels[i].counts - centre) <= limit))
            continue;
        step = y - m.mean; /* Welford */
        m.mean += step / (double)++m.n;
        squares += step * (y - m.mean);
    }
    m.deviation = m.n > 1 ? sqrt(squares / (double)(m.n - 1)) : 0;
    return m;
}
