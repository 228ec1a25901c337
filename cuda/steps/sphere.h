/* SPDX-License-Identifier: MIT */
/** nb_sphere_transform squared, for crystals with few steps a pixel. There zeros of the sphere are
 * visible, and around a zero a phase in single precision is not accurate enough. Plain C, so that
 * the host can test it. */
#ifndef NB_CUDA_SPHERE_H
#define NB_CUDA_SPHERE_H

#include <math.h>

#include "../../src/physics/lattice.h"
#include "../../src/plan/fixed_point.h"

#define NB_SPHERE_FLAT 3.0f /* x^2 below which the closed form loses digits */

/* A float of sin x - x cos x has an error of 1e-7 x. Below this part of x it is calculated again;
 * otherwise pixels of 1e-6 of the brightest could have errors above 1e-4. */
#define NB_SPHERE_DOUBT 0.003f

#ifdef NB_GPU_DEVICE_PASS
#define nb_sphere_reciprocal(x) gpuReciprocal(x)
#define nb_sphere_inverse_root(x) rsqrtf(x)
#else
#define nb_sphere_reciprocal(x) (1.0f / (x))
#define nb_sphere_inverse_root(x) (1.0f / sqrtf(x))
#endif

/** The series at y = x^2 < NB_SPHERE_FLAT. */
NB_HD float nb_sphere_series(float y)
{
    float sine = (float)(1.0 / 31135104000.0);
    sine = fmaf(sine, y, (float)(-1.0 / 172972800.0));
    sine = fmaf(sine, y, (float)(1.0 / 1330560.0));
    sine = fmaf(sine, y, (float)(-1.0 / 15120.0));
    sine = fmaf(sine, y, (float)(1.0 / 280.0));
    sine = fmaf(sine, y, (float)(-1.0 / 10.0));
    return fmaf(sine, y, 1.0f);
}

/** sin and cos of pi u. */
NB_HD void nb_sphere_waves(double u, double *sine, double *cosine)
{
#ifdef NB_GPU_DEVICE_PASS
    sincospi(u, sine, cosine);
#else
    const double turn = u - 2 * rint(0.5 * u);
    *sine = sin(NB_PI * turn);
    *cosine = cos(NB_PI * turn);
#endif
}

/** The transform squared at x = pi sqrt(u2), x^2 >= NB_SPHERE_FLAT. */
NB_HD float nb_sphere_exact(double u2)
{
    const double x2 = u2 * (NB_PI * NB_PI), u = sqrt(u2), x = NB_PI * u;
    double s, c, f;
    nb_sphere_waves(u, &s, &c);
    f = 3 * fma(-x, c, s) / (x * x2);
    return (float)(f * f);
}

/** sin(pi x) and cos(pi x) for |x| <= 1/2, by series around the zero of the cosine, near the zeros
 * of the transform. */
NB_HD void nb_sphere_half_turn(float x, float *sine, float *cosine)
{
    const float z = (0.5f - fabsf(x)) * (float)NB_PI, y = z * z;
    float s = (float)(1.0 / 6227020800.0), c = (float)(1.0 / 479001600.0);
    s = fmaf(s, y, (float)(-1.0 / 39916800.0));
    s = fmaf(s, y, (float)(1.0 / 362880.0));
    s = fmaf(s, y, (float)(-1.0 / 5040.0));
    s = fmaf(s, y, (float)(1.0 / 120.0));
    s = fmaf(s, y, (float)(-1.0 / 6.0));
    c = fmaf(c, y, (float)(-1.0 / 3628800.0));
    c = fmaf(c, y, (float)(1.0 / 40320.0));
    c = fmaf(c, y, (float)(-1.0 / 720.0));
    c = fmaf(c, y, (float)(1.0 / 24.0));
    c = fmaf(c, y, -0.5f);
    *sine = copysignf(fmaf(c, y, 1.0f), x);
    *cosine = fmaf(s, y, 1.0f) * z;
}

/** sin and cos of pi u up to a common sign; rough2: u2 in float. *x: pi u. */
NB_HD void nb_sphere_quick_waves(double u2, float rough2, float *x, float *sine,
                                 float *cosine)
{
    const float inverse = nb_sphere_inverse_root(rough2), rough = rough2 * inverse,
                whole = (rough + 0x1.8p23f) - 0x1.8p23f;
    /* correction of the root by Newton; u2 - rough^2 needs doubles */
    const float lacks = (float)fma(-(double)rough, (double)rough, u2) * (0.5f * inverse),
                rest = (rough - whole) + lacks;
    *x = (whole + rest) * (float)NB_PI;
    nb_sphere_half_turn(rest, sine, cosine);
}

/** The same for any u2 >= 0, with waves in float of a phase in double; *doubt: it is too near to a zero. */
NB_HD float nb_sphere_near(double u2, int *doubt)
{
    const float rough2 = (float)u2, y = rough2 * (float)(NB_PI * NB_PI);
    float x, s, c, difference, f;
    nb_sphere_quick_waves(u2, rough2, &x, &s, &c);
    difference = fmaf(-x, c, s);
    f = y < NB_SPHERE_FLAT ? nb_sphere_series(y)
                           : 3.0f * difference * nb_sphere_reciprocal(x * y);
    *doubt = y >= NB_SPHERE_FLAT && fabsf(difference) < NB_SPHERE_DOUBT * x;
    return f * f;
}

/** u^2 = (x/pi)^2 at an offset from a reflection, in parts of a reciprocal cell; m: N^2 fudge on each axis. */
NB_HD double nb_sphere_u2(const double m[3], const double d[3])
{
    return fma(m[0] * d[0], d[0], fma(m[1] * d[1], d[1], m[2] * d[2] * d[2]));
}

#endif
