/* SPDX-License-Identifier: MIT */
/** A smooth curve through points with errors. */
#ifndef NB_ANALYSIS_SMOOTH_H
#define NB_ANALYSIS_SMOOTH_H

#include <stddef.h>

#include "../nanobragg.h"

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
