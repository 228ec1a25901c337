/* SPDX-License-Identifier: MIT */
/** Exponential and sine functions for the vectors of ../base/simd.h. */
#ifndef NB_FACTORS_LANES_H
#define NB_FACTORS_LANES_H

#include <math.h>

#include "../base/coefficients.h"
#include "../base/simd.h"

#ifndef NB_SET
#define NB_SET base
#endif
#define NB_JOIN_(a, b) a##b
#define NB_JOIN(a, b) NB_JOIN_(a, b) /* makes the name of a function for NB_SET */

/** Vector in an array of doubles, aligned to 8 bytes only. */
typedef double vd_any __attribute__((vector_size(8 * NB_H), aligned(8)));

/** e^x for |x| < 700: 2^n e^r, with the power series of e^r for |r| <= ln 2/2. */
NB_INLINE vd nb_v_exp(vd x)
{
    vd shifted = x * NB_LOG2_E + NB_ROUND_DOUBLE, n = shifted - NB_ROUND_DOUBLE;
    vd r = (x - n * NB_LN2_HIGH) - n * NB_LN2_LOW,
       e = r * (1 / 6227020800.) + 1 / 479001600.;
    /* The low bits of the sum are n + 1023. Shifted to the exponent, they give 2^n. */
    vl power = (vl)(n + (NB_ROUND_DOUBLE + 1023.0)) << 52;
    e = e * r + 1 / 39916800.;
    e = e * r + 1 / 3628800.;
    e = e * r + 1 / 362880.;
    e = e * r + 1 / 40320.;
    e = e * r + 1 / 5040.;
    e = e * r + 1 / 720.;
    e = e * r + 1 / 120.;
    e = e * r + 1 / 24.;
    e = e * r + 1 / 6.;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    return e * (vd)power;
}

/** cos and sin of 2 pi t, by power series for an eighth of a turn around each quarter. */
NB_INLINE void nb_v_turn(vd t, vd *cosine, vd *sine)
{
    vd shifted = t * 4.0 + NB_ROUND_DOUBLE, n = shifted - NB_ROUND_DOUBLE;
    vd r = (t * 4.0 - n) * (M_PI / 2), x = r * r;
    vl quarter = (vl)shifted, odd = -(quarter & 1);
    vl minus_s = (quarter & 2) << 62, minus_c = ((quarter + 1) & 2) << 62;
    vd s = x * (1 / 355687428096000.) - 1 / 1307674368000.;
    vd c = x * (1 / 20922789888000.) - 1 / 87178291200.;
    s = s * x + 1 / 6227020800.;
    c = c * x + 1 / 479001600.;
    s = s * x - 1 / 39916800.;
    c = c * x - 1 / 3628800.;
    s = s * x + 1 / 362880.;
    c = c * x + 1 / 40320.;
    s = s * x - 1 / 5040.;
    c = c * x - 1 / 720.;
    s = s * x + 1 / 120.;
    c = c * x + 1 / 24.;
    s = s * x - 1 / 6.;
    c = c * x - 0.5;
    s = s * x * r + r;
    c = c * x + 1.0;
    *cosine = (vd)(((odd & (vl)s) | (~odd & (vl)c)) ^ minus_c);
    *sine = (vd)(((odd & (vl)c) | (~odd & (vl)s)) ^ minus_s);
}

#endif
