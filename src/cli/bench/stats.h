/* SPDX-License-Identifier: MIT */
/** Repeated measurements in a few numbers. */
#ifndef NB_BENCH_STATS_H
#define NB_BENCH_STATS_H

#define NB_BENCH_REPEATS_MAX 256

/** Seconds of repeats, in the order they were measured. */
typedef struct nb_bench_series {
    int count;
    double v[NB_BENCH_REPEATS_MAX];
} nb_bench_series;

typedef struct nb_bench_summary {
    int count;
    double median, low, high; /* low, high: the extremes */
    double q1, q3;            /* quartiles: half of the repeats lie between them */
} nb_bench_summary;

/** Add one value; values beyond the capacity are dropped. */
void nb_bench_series_add(nb_bench_series *s, double value);

/** Quantiles interpolate linearly between the sorted values.  All 0 for an empty series. */
nb_bench_summary nb_bench_summarize(const nb_bench_series *s);

#endif
