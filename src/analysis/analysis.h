/* SPDX-License-Identifier: MIT */
/** Figures of images for compare and extract: pixels, peaks, radial means, curves. */
#ifndef NB_ANALYSIS_ANALYSIS_H
#define NB_ANALYSIS_ANALYSIS_H

#include <stddef.h>

#include "../nanobragg.h"

/** A pixel of a bin. */
typedef struct nb_binned {
    float counts;   /* photons */
    float per_unit; /* > 0; value of the binned quantity that one photon stands for */
} nb_binned;

/** Mean and standard deviation of counts * per_unit over a bin, and the number of pixels
 * used. */
typedef struct nb_bin_mean {
    double mean, deviation;
    size_t n;
} nb_bin_mean;

/** A bin with this number of pixels or more leaves out pixels far from the median (Bragg
 * spots, dead pixels). */
#define NB_BIN_ENOUGH 20

/** Median of the counts of n > 0 pixels. Pixels farther from it than *limit are left out.
 * For n < NB_BIN_ENOUGH, returns 0 and sets *limit to INFINITY. Overwrites work[n]. */
double nb_bin_centre(const nb_binned *pixels, size_t n, float *work, double *limit);
/** Mean of n > 0 pixels. work[n] is overwritten. */
nb_bin_mean nb_bin_mean_of(const nb_binned *pixels, size_t n, float *work);

/* --- Two images pixel by pixel: correlation, differences, relative errors --- */

/** A rectangle of two images of one size; the caller owns the pixels. */
typedef struct nb_pair {
    const float *a, *b; /* [slow][fast]; b is the reference */
    int fast, slow;
    int roi[4]; /* fast min, max, slow min, max; inclusive, in the image */
    /* for a and for b: [slow][fast], not 0 at pixels that are left out; or NULL */
    const uint8_t *out[2];
} nb_pair;

/** True if pixel i is left out in an image. */
static inline int nb_pair_leaves_out(const nb_pair *p, size_t i)
{
    return (p->out[0] && p->out[0][i]) || (p->out[1] && p->out[1][i]);
}

/** Fill the figures of *d for the pixels in use: sums, maxima, numbers of pixels that are
 * not finite. If all are finite, fill also correlation, rmse, largest difference, scale,
 * and relative errors where b > floor max(b). If the correlation in a square ROI is below
 * 0.99, fill also the correlation with swapped axes. Errors: NB_ERR_NOMEM, NB_ERR_INPUT
 * (no pixels). */
nb_status nb_compare_pixels(const nb_pair *pair, double floor, nb_difference *d,
                            nb_error *err);

/** Percentile `percent` (0..100) of values[n], with linear interpolation between two
 * values. Values are reordered and must not be NaN. Returns NaN for n = 0. */
double nb_percentile_of(double *values, size_t n, double percent);

/* --- Bragg peaks of two images, and their pairs --- */

/** A local maximum. x, y: refined position along fast and slow, pixels, by a parabola
 * through three pixels along each axis. Whole numbers are pixel centres. */
typedef struct nb_spot {
    int fast, slow;
    float value;
    double x, y;
} nb_spot;

typedef struct nb_spot_list {
    nb_spot *spots; /* owned (nb_free) */
    int count;
} nb_spot_list;

/** Find the peaks of an image of the pair in the ROI, brightest first, without pixels
 * that are left out or on the edge. A peak is brighter than the percentile of the ROI and
 * than other pixels in a box of +-exclusion (of equal pixels the first is the peak). The
 * first `peak_count` peaks are kept (0: all), and also peaks up to 0.1 % weaker than the
 * last of these, because the order of equal peaks is random. The caller frees out->spots.
 * NB_ERR_NOMEM. */
nb_status nb_spots_find(const nb_pair *pair, const float *image,
                        const nb_compare_options *options, nb_spot_list *out,
                        nb_error *err);

/** Pair the spots of two lists one to one within a distance of `gate`, the nearest pair
 * first. Fill partner[a->count]: index in b, or -1. Errors: NB_ERR_NOMEM. */
nb_status nb_spots_match(const nb_spot_list *a, const nb_spot_list *b, double gate,
                         int *partner, nb_error *err);

/** Fill the figures of *d for peaks. Errors: NB_ERR_NOMEM. */
nb_status nb_compare_peaks(const nb_pair *pair, const nb_compare_options *options,
                           nb_difference *d, nb_error *err);

/* --- Mean intensity against the distance from the beam centre --- */

/** Fill the radial figures of *d from means of both images over rings one pixel wide
 * around centre (fast, slow, pixels from the outer corner of the first pixel). The
 * position of a pixel's centre decides to which ring the pixel belongs. Errors:
 * NB_ERR_NOMEM, NB_ERR_INPUT (centre too far). */
nb_status nb_compare_radial(const nb_pair *pair, const double centre[2], nb_difference *d,
                            nb_error *err);

/* --- A smooth curve through points with errors --- */

typedef struct nb_curve_point {
    double x, y;
    double sigma; /* standard error of y, > 0; 0 leaves out the point */
} nb_curve_point;

/** Fill smooth[n] at n points in order of x. A parabola is fitted to the points less than
 * `half` away, with weights that fall with distance and sigma (local regression: W. S.
 * Cleveland, J. Am. Stat. Assoc. 74 (1979) 829). Points far from the curve are left out,
 * the farthest in a neighbourhood first. A value is NaN if fewer than four points count
 * or all are on one side. Errors: NB_ERR_NOMEM. */
nb_status nb_smooth_curve(const nb_curve_point *points, size_t n, double half,
                          double *smooth, nb_error *err);

#endif
