/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>

/** Means and the largest pixel of the reference. */
typedef struct level {
    double mean_a, mean_b, max_b;
} level;

static level level_of(const float *a, const float *b, size_t n)
{
    level l = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        l.mean_a += a[i];
        l.mean_b += b[i];
        l.max_b = b[i] > l.max_b ? b[i] : l.max_b;
    }
    l.mean_a /= (double)n;
    l.mean_b /= (double)n;
    return l;
}

nb_bench_figures nb_bench_measure(const float *a, const float *b, size_t n)
{
    nb_bench_figures f = {NAN, NAN, NAN};
    level l = n ? level_of(a, b, n) : (level){NAN, NAN, 0};
    double aa = 0, bb = 0, ab = 0, worst = 0, relative = 0, bright = 0;
    if (!isfinite(l.mean_a) || !isfinite(l.mean_b))
        return f;
    for (size_t i = 0; i < n; i++) {
        double da = a[i] - l.mean_a, db = b[i] - l.mean_b, d = fabs((double)a[i] - b[i]);
        aa += da * da;
        bb += db * db;
        ab += da * db;
        worst = d > worst ? d : worst;
        if (b[i] > 1e-6 * l.max_b) {
            relative += d / b[i];
            bright += 1;
        }
    }
    f.correlation = worst == 0 ? 1 : ab / sqrt(aa * bb);
    f.correlation = f.correlation > 1 ? 1 : f.correlation; /* rounding */
    f.max_error = worst == 0 ? 0 : worst / l.max_b;
    f.mean_relative = bright > 0 ? relative / bright : 0;
    return f;
}

/* The bounds of the golden suite (docs/physics.md, section 21). */
nb_bench_bounds nb_bench_bounds_of(nb_precision precision)
{
    switch (precision) {
    case NB_PRECISION_DOUBLE:
        return (nb_bench_bounds){1e-12, 2e-7};
    case NB_PRECISION_SINGLE:
        return (nb_bench_bounds){1e-10, 1e-5};
    default:
        return (nb_bench_bounds){1e-11, 1e-6};
    }
}

/* Other programs may round differently, but must make the same image. One in float32
 * differs by 0.08 of the brightest pixel at a peak's edge. */
nb_bench_bounds nb_bench_bounds_of_peer(void)
{
    return (nb_bench_bounds){1e-4, 0.1};
}

int nb_bench_is_right(const nb_bench_figures *f, const nb_bench_bounds *bounds)
{
    return 1 - f->correlation <= bounds->correlation && f->max_error <= bounds->max_error;
}

/** The worse value; NaN is the worst. */
static double worst_of(double a, double b, int larger_is_worse)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return (a > b) == larger_is_worse ? a : b;
}

nb_bench_figures nb_bench_worse(nb_bench_figures a, nb_bench_figures b)
{
    nb_bench_figures f = {worst_of(a.correlation, b.correlation, 0),
                          worst_of(a.max_error, b.max_error, 1),
                          worst_of(a.mean_relative, b.mean_relative, 1)};
    return f;
}
