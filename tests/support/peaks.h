/* SPDX-License-Identifier: MIT */
/** Bragg peaks of an image, and figures that compare images and numbers. */
#ifndef NB_TESTS_PEAKS_H
#define NB_TESTS_PEAKS_H

#include <stddef.h>

typedef struct nb_peak {
    int f, s; /* brightest pixel */
    double value;
    double x,
        y; /* refined by a parabola through 3 pixels along each axis, pixel indices */
} nb_peak;

/** Local maxima (brightest within `exclusion` pixels along both axes) above the given
 * percentile of all pixels, not on the image's edge; the brightest `max` of them, brightest
 * first.  Returns how many. */
int nb_find_peaks(const float *image, int fast, int slow, double percentile,
                  int exclusion, nb_peak *peaks, int max);

/** Number of a's peaks with a peak of b within `radius` pixels. */
int nb_match_peaks(const nb_peak *a, int na, const nb_peak *b, int n_b, double radius);
/** Index in b of the peak nearest to p, or -1; *distance [px] to it. */
int nb_nearest_peak(const nb_peak *p, const nb_peak *b, int n_b, double *distance);

/** Index of the first brightest pixel. */
size_t nb_brightest(const float *image, size_t n);
/** Pearson correlation; NaN when one of them is constant. */
double nb_correlation(const float *a, const float *b, size_t n);
/** max|a - b| / max(b); NaN when a pixel is not finite. */
double nb_max_difference(const float *a, const float *b, size_t n);
double nb_image_sum(const float *image, size_t n);
int nb_all_finite(const float *image, size_t n);

typedef struct nb_line {
    double slope, intercept, r2;
} nb_line;
/** Least-squares line through n points. */
nb_line nb_fit_line(const double *x, const double *y, int n);

/** Upper 0.1 % point of chi-square (Wilson & Hilferty 1931). */
double nb_chi2_limit(int degrees);

#endif
