/* SPDX-License-Identifier: MIT */
/** Robust means of pixels in bins. */
#ifndef NB_ANALYSIS_PIXELS_H
#define NB_ANALYSIS_PIXELS_H

#include <stddef.h>

#include "../nanobragg.h"

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

/** Bins with at least this number of pixels leave out pixels far from the median: Bragg spots,
 * dead pixels. */
#define NB_BIN_ENOUGH 20

/** The median of the counts of n > 0 pixels; *limit: pixels further from it do not count, infinite in bins with too few
 * pixels.  work[n] is overwritten. */
double nb_bin_centre(const nb_binned *pixels, size_t n, float *work, double *limit);
/** The mean of n > 0 pixels; work[n] is overwritten. */
nb_bin_mean nb_bin_mean_of(const nb_binned *pixels, size_t n, float *work);

/* --- Two images pixel by pixel: correlation, differences, relative errors --- */

/** A rectangle of two images of one size; the caller owns the pixels. */
typedef struct nb_pair {
    const float *a, *b; /* [slow][fast]; b is the reference */
    int fast, slow;
    int roi[4];            /* fast min, fast max, slow min, slow max, inclusive, inside */
    const uint8_t *out[2]; /* of a and b, [slow][fast], not 0: left out; NULL: none */
} nb_pair;

/** Is pixel i left out in one of them? */
static inline int nb_pair_leaves_out(const nb_pair *p, size_t i)
{
    return (p->out[0] && p->out[0][i]) || (p->out[1] && p->out[1][i]);
}

/** Fill the pixel figures of *d, over the pixels that are used: sums, maxima, counts of pixels that are not finite, and,
 * when there are none of these, correlation, rmse, largest difference, relative errors over
 * B > floor max(B), scale and, for a square ROI, the correlation with the axes swapped.
 * Errors: NB_ERR_NOMEM, NB_ERR_INPUT (all pixels are left out). */
nb_status nb_compare_pixels(const nb_pair *pair, double floor, nb_difference *d,
                            nb_error *err);

/** The value below which `percent` (0..100) of values[n] are, with linear interpolation
 * between two values; values are reordered. NaN for n = 0. No value may be NaN. */
double nb_percentile_of(double *values, size_t n, double percent);

#endif
