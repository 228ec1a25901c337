/* SPDX-License-Identifier: MIT */
/** Bragg peaks of two images, and their pairs. */
#ifndef NB_ANALYSIS_PEAKS_H
#define NB_ANALYSIS_PEAKS_H

#include "pixels.h"

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

/** The peaks of image[slow][fast] within roi: pixels brighter than every other pixel of the
 * box of +-exclusion about them (of equal ones the first counts) and than the percentile of
 * the ROI, not on the ROI's edge; brightest first. Only the first `peak_count` (0: no
 * limit) are kept, and those as bright as the last of them to 0.1 %, because the order of
 * equal peaks is random. Errors: NB_ERR_NOMEM. */
nb_status nb_spots_find(const float *image, int fast, const int roi[4],
                        const nb_compare_options *options, nb_spot_list *out,
                        nb_error *err);

/** Pair the spots of two lists one to one: the largest possible number of pairs with a
 * distance of at most gate, with the smallest sum of squared distances (the linear
 * assignment problem: Kuhn, Naval Res. Logist. Q. 2, 83 (1955)). partner[a->count]
 * (caller's): index in b, or -1. Errors: NB_ERR_NOMEM. */
nb_status nb_spots_match(const nb_spot_list *a, const nb_spot_list *b, double gate,
                         int *partner, nb_error *err);

/** Fill the peak figures of *d.  Errors: NB_ERR_NOMEM. */
nb_status nb_compare_peaks(const nb_pair *pair, const nb_compare_options *options,
                           nb_difference *d, nb_error *err);

#endif
