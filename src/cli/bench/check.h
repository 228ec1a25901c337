/* SPDX-License-Identifier: MIT */
/** Compare an image with the reference. Every timed image must pass this check. */
#ifndef NB_BENCH_CHECK_H
#define NB_BENCH_CHECK_H

#include <stddef.h>

#include "../../nanobragg.h"

typedef struct nb_bench_figures {
    double correlation;   /* Pearson's; 1 if equal, NaN if one is flat or not finite */
    double max_error;     /* max |A - B| / max(B) */
    double mean_relative; /* mean |A - B|/B over pixels with B > 1e-6 max(B) */
} nb_bench_figures;

/** The limits for an image. */
typedef struct nb_bench_bounds {
    double correlation; /* 1 - correlation at most */
    double max_error;   /* at most */
} nb_bench_bounds;

/** n pixels of an image and of the reference. */
nb_bench_figures nb_bench_measure(const float *image, const float *reference, size_t n);

/** Bounds of our own images in a precision; of another program's. */
nb_bench_bounds nb_bench_bounds_of(nb_precision precision);
nb_bench_bounds nb_bench_bounds_of_peer(void);

/** NaN fails. */
int nb_bench_is_right(const nb_bench_figures *f, const nb_bench_bounds *bounds);

/** The worse value of both for each figure. */
nb_bench_figures nb_bench_worse(nb_bench_figures a, nb_bench_figures b);

#endif
