/* SPDX-License-Identifier: MIT */
/** Sines and exponentials of vectors of doubles.  Coefficients: Chebyshev fits of our
 * own with the constant term held, so that a ratio of two is exact where both
 * arguments vanish. */
#ifndef NB_RENDER_KERNEL_MATH_H
#define NB_RENDER_KERNEL_MATH_H

#include "simd_ops.h"

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
    static const double c[9] = {
        3.1415926535897931,     -5.1677127800499703,     2.5501640398773402,
        -0.59926452932034302,   0.082145886596752316,    -0.0073704307196345862,
        0.00046630087411496363, -2.1906201655131958e-05, 7.725743030789876e-07};
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

/** e^x, x <= 709; 0 below -700.  Taylor's series around the nearest multiple of ln 2. */
NB_INLINE vd vd_exp(vd x)
{
    static const double c[13] = {1.0,
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
    vl dark = (vl)(x < -700.0);
    vd n, r;
    x = vd_max(x, vd_set(-700.0));
    n = vd_round(x * 1.4426950408889634);
    r = vd_fma(n, vd_set(-6.93147180369123816490e-01),
               x); /* ln 2 in two parts, the first with */
    r = vd_fma(n, vd_set(-1.90821492927058770002e-10),
               r); /* 21 zero bits: n times it is exact */
    return (vd)(~dark & (vl)(vd_horner(c, 12, r) * vd_exp2_whole(n)));
}

/** 1 - e^-x to the last digits, however small x is, and *left = e^-x; -700 <= x.  As vd_exp. */
NB_INLINE vd vd_decay(vd x, vd *left)
{
    static const double c[12] = {1.0,           1.0 / 2,        1.0 / 6,
                                 1.0 / 24,      1.0 / 120,      1.0 / 720,
                                 1.0 / 5040,    1.0 / 40320,    1.0 / 362880,
                                 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
    vd n, r, whole, part;
    x = vd_max(-x, vd_set(-700.0));
    n = vd_round(x * 1.4426950408889634);
    r = vd_fma(n, vd_set(-6.93147180369123816490e-01), x);
    r = vd_fma(n, vd_set(-1.90821492927058770002e-10), r);
    whole = vd_exp2_whole(n);
    part = whole * (r * vd_horner(c, 11, r)); /* 2^n (e^r - 1) */
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
