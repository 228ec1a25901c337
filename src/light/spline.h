/* SPDX-License-Identifier: MIT */
/** Cubic splines through the points of a grid: coefficients, weights between them, other grids. */
#ifndef NB_LIGHT_SPLINE_H
#define NB_LIGHT_SPLINE_H

#include <stddef.h>

/** Weights of the four coefficients about a point, t behind the second of them; 0 <= t <= 1. */
static inline void nb_spline_weights(double t, double w[4])
{
    double s = 1 - t;
    w[0] = s * s * s / 6;
    w[1] = (4 - 3 * t * t * (2 - t)) / 6;
    w[2] = (4 - 3 * s * s * (2 - s)) / 6;
    w[3] = t * t * t / 6;
}

/** Values a[n0][n1][n2] become coefficients; n_i >= 4.  Without curvature at the ends, whose error is a quarter at each
 * further point. */
void nb_spline_of(float *a, const int n[3]);

#endif
