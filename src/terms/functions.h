/* SPDX-License-Identifier: MIT */
/** Sines, exponentials and powers of vectors of doubles, for the CPU only. The
 * coefficients are Chebyshev fits made for this project. The constant terms are not
 * fitted, so that a ratio of two sines is exact if both arguments go to 0. */
#ifndef NB_TERMS_FUNCTIONS_H
#define NB_TERMS_FUNCTIONS_H

#include "../base/simd.h"
#include "../physics/hostdevice.h"

NB_INLINE vd vd_horner(const double *c, int degree, vd y)
{
    vd p = vd_set(c[degree]);
    int i;
    for (i = degree - 1; i >= 0; i--)
        p = vd_fma(p, y, vd_set(c[i]));
    return p;
}

/** sin(pi x), |x| <= 1/2: relative error 2e-16. */
NB_INLINE vd vd_sinpi(vd x)
{
    static const double c[9] = {NB_PI,
                                -5.1677127800499703,
                                2.5501640398773402,
                                -0.59926452932034302,
                                0.082145886596752316,
                                -0.0073704307196345862,
                                0.00046630087411496363,
                                -2.1906201655131958e-05,
                                7.725743030789876e-07};
    return x * vd_horner(c, 8, x * x);
}

/** cos(pi x), |x| <= 1/2: absolute error 2e-16. */
NB_INLINE vd vd_cospi(vd x)
{
    static const double c[9] = {1.0,
                                -4.934802200544679,
                                4.0587121264167356,
                                -1.3352627688518803,
                                0.2353306302721577,
                                -0.025806890025875391,
                                0.001929562652479866,
                                -0.00010458286368326585,
                                4.1663994627269487e-06};
    return vd_horner(c, 8, x * x);
}

/** Taylor's series of e^x. */
static const double nb_exp_series[13] = {1.0,
                                         1.0,
                                         1.0 / 2,
                                         1.0 / 6,
                                         1.0 / 24,
                                         1.0 / 120,
                                         1.0 / 720,
                                         1.0 / 5040,
                                         1.0 / 40320,
                                         1.0 / 362880,
                                         1.0 / 3628800,
                                         1.0 / 39916800,
                                         1.0 / 479001600};

/** Split x = n ln 2 + r into n, a whole number, and r, which is returned. */
NB_INLINE vd vd_split_exponent(vd x, vd *n)
{
    *n = vd_round(x * NB_LOG2_E);
    return vd_fma(*n, vd_set(-NB_LN2_LOW), vd_fma(*n, vd_set(-NB_LN2_HIGH), x));
}

/** e^x, x <= 709; 0 below -700. */
NB_INLINE vd vd_exp(vd x)
{
    vl dark = (vl)(x < -700.0);
    vd n, r = vd_split_exponent(vd_max(x, vd_set(-700.0)), &n);
    return (vd)(~dark & (vl)(vd_horner(nb_exp_series, 12, r) * vd_exp2_whole(n)));
}

/** 1 - e^-x to the last digits, also for small x, and *left = e^-x; x >= -700. */
NB_INLINE vd vd_decay(vd x, vd *left)
{
    vd n, r = vd_split_exponent(vd_max(-x, vd_set(-700.0)), &n);
    vd whole = vd_exp2_whole(n);
    vd part = whole * (r * vd_horner(nb_exp_series + 1, 11, r)); /* 2^n (e^r - 1) */
    *left = whole + part;
    return (1.0 - whole) - part;
}

/** x^n, n >= 0 */
NB_INLINE vd vd_power(vd x, int n)
{
    vd p = vd_set(1.0);
    for (; n > 0; n /= 2, x *= x)
        if (n % 2)
            p *= x;
    return p;
}

#endif
