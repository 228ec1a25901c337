/* SPDX-License-Identifier: MIT */
/** Axes of a chart: range, ticks, labels, and where a value lies. */
#ifndef NB_BENCH_AXIS_H
#define NB_BENCH_AXIS_H

#define NB_AXIS_TICKS_MAX 40

typedef enum nb_axis_unit {
    NB_UNIT_PLAIN = 0,
    NB_UNIT_SECONDS, /* labels in us, ms, s */
    NB_UNIT_TIMES    /* labels with a multiplication sign */
} nb_axis_unit;

typedef struct nb_axis {
    double low, high; /* both above 0: the scale is logarithmic */
    int count;        /* labelled ticks */
    double tick[NB_AXIS_TICKS_MAX];
    char label[NB_AXIS_TICKS_MAX][24];
    int minor_count; /* ticks without a label */
    double minor[NB_AXIS_TICKS_MAX * 9];
} nb_axis;

/** Around [low, high], which must be above 0: ends at 1, 2 or 5 times a power of ten, labels at
 * powers of ten, at 1, 2, 5 too where there are few of these. */
void nb_axis_span(nb_axis *a, double low, double high, nb_axis_unit unit);

/** Ticks at the given ascending values, above 0, and a little room at both ends. */
void nb_axis_at(nb_axis *a, const double *values, int count, nb_axis_unit unit);

/** 0 at low, 1 at high. */
double nb_axis_place(const nb_axis *a, double value);

#endif
