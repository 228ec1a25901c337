/* SPDX-License-Identifier: MIT */
/** What compare and extract compute of images: pixel by pixel, peaks, radial means, smooth curves. */
#ifndef NB_ANALYSIS_ANALYSIS_H
#define NB_ANALYSIS_ANALYSIS_H

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

/* --- Bragg peaks of two images, and their pairs --- */

/** A local maximum; x, y along fast and slow in pixels, whole numbers at pixel centres,
 * refined by the parabola through three pixels along each axis. */
typedef struct nb_spot {
    int fast, slow;
    float value;
    double x, y;
} nb_spot;

typedef struct nb_spot_list {
    nb_spot *spots; /* owned: nb_free */
    int count;
} nb_spot_list;

/** The peaks of an image of the pair within its roi, but for what it leaves out: pixels brighter than every other pixel of the
 * box of +-exclusion about them (of equal ones the first counts) and than the percentile of
 * the ROI, not on the ROI's edge; brightest first. Only the first `peak_count` (0: no
 * limit) are kept, and those as bright as the last of them to 0.1 %, because the order of
 * equal peaks is random. Errors: NB_ERR_NOMEM. */
nb_status nb_spots_find(const nb_pair *pair, const float *image,
                        const nb_compare_options *options, nb_spot_list *out,
                        nb_error *err);

/** Pair the spots of two lists one to one within a distance of `gate`: always the two nearest spots that have no pair
 * yet.  partner[a->count] (caller's): index in b, or -1. Errors: NB_ERR_NOMEM. */
nb_status nb_spots_match(const nb_spot_list *a, const nb_spot_list *b, double gate,
                         int *partner, nb_error *err);

/** Fill the peak figures of *d.  Errors: NB_ERR_NOMEM. */
nb_status nb_compare_peaks(const nb_pair *pair, const nb_compare_options *options,
                           nb_difference *d, nb_error *err);

/* --- Mean intensity against the distance from the beam centre --- */

/** Fill the radial figures of *d: both images averaged over rings of one pixel's width about
 * centre (fast, slow, pixels from the outer corner of the first pixel; a pixel belongs to the
 * ring that its own centre is in).  Errors: NB_ERR_NOMEM. */
nb_status nb_compare_radial(const nb_pair *pair, const double centre[2], nb_difference *d,
                            nb_error *err);

/* --- A smooth curve through points with errors --- */

typedef struct nb_curve_point {
    double x, y;
    double sigma; /* standard error of y, > 0; 0: the point does not count */
} nb_curve_point;

/** smooth[i] at each of n points with x increasing: the value of a parabola through the points less than `half` away, with
 * weights that fall with distance and sigma (local regression: W. S. Cleveland, J. Am. Stat. Assoc. 74 (1979) 829).
 * Points far from the curve are left out, the farthest of a neighbourhood first.  NaN where fewer than four points count, or
 * all on one side.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_smooth_curve(const nb_curve_point *points, size_t n, double half,
                          double *smooth, nb_error *err);

#endif
