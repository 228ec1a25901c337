/* SPDX-License-Identifier: MIT */
/** Splines of the fifth degree through the points of a grid: coefficients, weights between them, other grids. */
#ifndef NB_LIGHT_SPLINE_H
#define NB_LIGHT_SPLINE_H

#include <stddef.h>

#include "../physics/hostdevice.h"

#define NB_SPLINE_TERMS 6  /* coefficients that have a share in a value */
#define NB_SPLINE_BEFORE 2 /* of them before that at or before the point */

/** Weights of the coefficients about a point, t behind the third of them; 0 <= t <= 1. */
NB_HD void nb_spline_weights(float t, float w[NB_SPLINE_TERMS])
{
    const float s = 1 - t, t2 = t * t, s2 = s * s, per = 1 / 120.0f;
    w[0] = s2 * s2 * s * per;
    w[1] = (26 + t * (-50 + t * (20 + t * (20 + t * (-20 + 5 * t))))) * per;
    w[2] = (66 + t2 * (-60 + t2 * (30 - 10 * t))) * per;
    w[3] = (66 + s2 * (-60 + s2 * (30 - 10 * s))) * per;
    w[4] = (26 + s * (-50 + s * (20 + s * (20 + s * (-20 + 5 * s))))) * per;
    w[5] = t2 * t2 * t * per;
}

/** Where a value at y of a line of n coefficients begins, and its weights; n >= 6. */
NB_HD int nb_spline_at(double y, int n, float w[NB_SPLINE_TERMS])
{
    int at = (int)y - (y < (int)y);
    at = at < NB_SPLINE_BEFORE ? NB_SPLINE_BEFORE : at > n - 4 ? n - 4 : at;
    nb_spline_weights((float)(y - at), w);
    return at - NB_SPLINE_BEFORE;
}

/** Values a[n0][n1][n2] become coefficients; n_i >= 6.  Both ends are mirrored about their points, whose error is 0.43 of
 * that at each further point. */
void nb_spline_of(float *a, const int n[3], int threads);

#endif
