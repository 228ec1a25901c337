/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

void nb_bench_series_add(nb_bench_series *s, double value)
{
    if (s->count < NB_BENCH_REPEATS_MAX)
        s->v[s->count++] = value;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

nb_bench_summary nb_bench_summarize(const nb_bench_series *s)
{
    nb_bench_summary out = {0};
    double sorted[NB_BENCH_REPEATS_MAX];
    int n = s->count;
    if (!n)
        return out;
    memcpy(sorted, s->v, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    out.count = n;
    out.low = sorted[0];
    out.high = sorted[n - 1];
    out.median = quantile(sorted, n, 0.5);
    out.q1 = quantile(sorted, n, 0.25);
    out.q3 = quantile(sorted, n, 0.75);
    return out;
}
