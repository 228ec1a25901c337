/* SPDX-License-Identifier: MIT */
/** Robust means of pixels in bins. */
#ifndef NB_ANALYSIS_BINS_H
#define NB_ANALYSIS_BINS_H

#include <stddef.h>

/** A pixel of a bin. */
typedef struct nb_binned {
    float counts;   /* photons */
    float per_unit; /* quantity of one photon, > 0 */
} nb_binned;

/** The mean of counts * per_unit, its standard deviation, and the pixels that count. */
typedef struct nb_bin_mean {
    double mean, deviation;
    size_t n;
} nb_bin_mean;

/** Bins of this many pixels leave out what stands far from their median: Bragg spots, dead pixels. */
#define NB_BIN_ENOUGH 20

/** Of n > 0 pixels; work[n] is overwritten. */
nb_bin_mean nb_bin_mean_of(const nb_binned *pixels, size_t n, float *work);

#endif
