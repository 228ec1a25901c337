/* SPDX-License-Identifier: MIT */
#include "laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

nb_drawn nb_drawn_of(const double *x, int n)
{
    nb_drawn s = {.n = n, .x = malloc((size_t)n * sizeof *x)};
    double fourth = 0;
    memcpy(s.x, x, (size_t)n * sizeof *x);
    qsort(s.x, (size_t)n, sizeof *x, ascending);
    for (int i = 0; i < n; i++)
        s.mean += x[i] / n;
    for (int i = 0; i < n; i++) {
        const double square = (x[i] - s.mean) * (x[i] - s.mean);
        s.variance += square / n;
        fourth += square * square / n;
    }
    s.mean_error = sqrt(s.variance / n);
    s.variance_error = sqrt((fourth - s.variance * s.variance) / n);
    return s;
}

void nb_drawn_free(nb_drawn *sample)
{
    free(sample->x);
    memset(sample, 0, sizeof *sample);
}

double nb_kolmogorov(const nb_drawn *sample, nb_law_part part, const void *law)
{
    const double *x = sample->x, n = sample->n;
    double worst = 0;
    for (int i = 0, next; i < sample->n; i = next) {
        for (next = i + 1; next < sample->n && x[next] == x[i];)
            next++;
        worst = fmax(worst, fabs(part(nextafter(x[i], -INFINITY), law) - i / n));
        worst = fmax(worst, fabs(part(x[i], law) - next / n));
    }
    return worst * sqrt(n);
}

nb_moments nb_moments_of(nb_law_part part, const void *law, double from, double to)
{
    enum { STEPS = 20000 };
    const double step = (to - from) / STEPS;
    double first = 0, second = 0; /* first and second moment of x - from */
    for (int i = 0; i < STEPS; i++) {
        const double x = (i + 0.5) * step, above = 1 - part(from + x, law);
        first += above * step;
        second += 2 * x * above * step;
    }
    return (nb_moments){from + first, second - first * first};
}

double nb_normal_part(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

double nb_chi2_limit(int degrees)
{
    double k = 2.0 / (9.0 * degrees), t = 1 - k + 3.0902 * sqrt(k);
    return degrees * t * t * t;
}
