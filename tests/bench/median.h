/* SPDX-License-Identifier: MIT */
/** The median of repeated measurements, for programs that time. */
#ifndef NB_BENCH_MEDIAN_H
#define NB_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** The upper one of an even number; x is sorted. */
static inline double bench_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, bench_by_value);
    return x[n / 2];
}

#endif
