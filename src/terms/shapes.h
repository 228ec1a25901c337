/* SPDX-License-Identifier: MIT */
/** The edge of a top hat and the transform of a sphere, from fractions of indices in
 * 32-bit fixed point (plans/paths.md, section 2). Host and device compile this file. */
#ifndef NB_TERMS_SHAPES_H
#define NB_TERMS_SHAPES_H

#include <math.h>

#include "../physics/lattice.h"
#include "../plan/fixed_point.h"
#include "lane.h"

/* --- The edge of a top hat: doubles decide about a step that is too near to the edge for
 * floats --- */

/* Largest error of a fraction, due to the rounding to 2^-32 and to that of doubles up to
 * NB_FIXED_INDICES. */
#define NB_EDGE_FRACTION 1.5e-9
/* Number of roundings of a term of R^2: in its coefficient, its two fractions, and the
 * sums that contain the term. */
#define NB_EDGE_ROUNDINGS 9
/* Limit of nb_edge_doubt; above it, too many pixels would be calculated twice. */
#define NB_EDGE_DOUBT 1e-3

/** A quadratic form of fractions in units of 2^-32: xx yy zz xy xz yz. Its value is
 * (x/pi)^2 of a sphere's argument x, log2 F_latt^2 (decay) or R^2 (edge). */
typedef struct nb_shape_form {
    float m[6];
    /* edge: a step lies inside below the first limit, outside above the second */
    float inside, outside;
} nb_shape_form;

NB_HD float nb_shape_form_at(const nb_shape_form *form, float x, float y, float z)
{
    const float *m = form->m;
    return fmaf(fmaf(m[0], x, fmaf(m[3], y, m[4] * z)), x,
                fmaf(fmaf(m[1], y, m[5] * z), y, m[2] * z * z));
}

/** Largest extent in h, k, l of a top-hat spot from its reflection, or INFINITY. */
NB_HD void nb_edge_reach(const nb_lattice *lattice, double reach[3])
{
    const double *m = lattice->radius2, width = nb_shape_row_of(lattice->shape).width;
    const double xy = 0.5 * m[3], xz = 0.5 * m[4], yz = 0.5 * m[5];
    const double minor[3] = {m[1] * m[2] - yz * yz, m[0] * m[2] - xz * xz,
                             m[0] * m[1] - xy * xy};
    const double whole =
        m[0] * minor[0] - xy * (xy * m[2] - xz * yz) + xz * (xy * yz - m[1] * xz);
    for (int i = 0; i < 3; i++)
        reach[i] = whole > 0 && minor[i] > 0 && lattice->fudge > 0
                       ? sqrt(width / lattice->fudge * minor[i] / whole)
                       : INFINITY;
}

/** Largest relative error of R^2 in floats at the edge; INFINITY if spots reach half-way
 * to the next spots. */
NB_HD double nb_edge_doubt(const nb_lattice *lattice)
{
    const int axis[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double rounding = NB_EDGE_ROUNDINGS * 0x1p-24;
    double reach[3], sum = 0;
    nb_edge_reach(lattice, reach);
    for (int i = 0; i < 6; i++) {
        const double x = reach[axis[i][0]], y = reach[axis[i][1]];
        if (!(x < 0.499))
            return INFINITY;
        sum += fabs(lattice->radius2[i]) * (rounding * x * y + NB_EDGE_FRACTION * (x + y));
    }
    return sum * lattice->fudge / nb_shape_row_of(lattice->shape).width;
}

/** The form of a top hat. */
NB_HD nb_shape_form nb_edge_form(const nb_lattice *lattice)
{
    const double doubt = nb_edge_doubt(lattice),
                 width = nb_shape_row_of(lattice->shape).width;
    nb_shape_form form;
    for (int i = 0; i < 6; i++)
        form.m[i] =
            (float)(lattice->radius2[i] * lattice->fudge * NB_FIXED_STEP * NB_FIXED_STEP);
    form.inside = (float)(width * (1 - doubt));
    form.outside = (float)(width * (1 + doubt));
    return form;
}

/* --- nb_sphere_transform squared, for images with few steps per pixel. They show the
 * zeros of the transform, and near a zero a phase in single precision is too inaccurate
 * --- */

#define NB_SPHERE_FLAT 3.0f /* the closed form loses digits below this x^2 */

/* In float, sin x - x cos x has an error of 1e-7 x. Where its size is below this factor
 * times x, it is calculated again in double. Otherwise pixels with 1e-6 of the brightest
 * pixel's light could have relative errors above 1e-4. */
#define NB_SPHERE_DOUBT 0.003f

#ifdef NB_GPU_DEVICE_PASS
#define nb_sphere_inverse_root(x) rsqrtf(x)
#else
#define nb_sphere_inverse_root(x) (1.0f / sqrtf(x))
#endif

/** The transform by its series, for y = x^2 < NB_SPHERE_FLAT. */
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

/** sin(pi x) and cos(pi x) for |x| <= 1/2, by series around x = 1/2, where the cosine is
 * 0, since zeros of the transform are near there. */
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

/** Calculate *x = pi u, and its sine and cosine up to a common sign. u^2 = u2; rough2: u2
 * as float. */
NB_HD void nb_sphere_quick_waves(double u2, float rough2, float *x, float *sine,
                                 float *cosine)
{
    const float inverse = nb_sphere_inverse_root(rough2), rough = rough2 * inverse,
                whole = (rough + 0x1.8p23f) - 0x1.8p23f;
    /* correction of the root by Newton; u2 - rough^2 needs doubles */
    const float correction =
                    (float)fma(-(double)rough, (double)rough, u2) * (0.5f * inverse),
                fraction = (rough - whole) + correction;
    *x = (whole + fraction) * (float)NB_PI;
    nb_sphere_half_turn(fraction, sine, cosine);
}

/** The transform squared for any u2 >= 0: the phase in double, its sine and cosine in
 * float. *doubt: 1 if u2 is too near to a zero. */
NB_HD float nb_sphere_near(double u2, int *doubt)
{
    const float rough2 = (float)u2, y = rough2 * (float)(NB_PI * NB_PI);
    float x, s, c, difference, f;
    nb_sphere_quick_waves(u2, rough2, &x, &s, &c);
    difference = fmaf(-x, c, s);
    f = y < NB_SPHERE_FLAT ? nb_sphere_series(y) : vf_over(3.0f * difference, x * y);
    *doubt = y >= NB_SPHERE_FLAT && fabsf(difference) < NB_SPHERE_DOUBT * x;
    return f * f;
}

/** u^2 = (x/pi)^2 at the offset d, in Miller indices; m: N^2 fudge of each axis. */
NB_HD double nb_sphere_u2(const double m[3], const double d[3])
{
    return fma(m[0] * d[0], d[0], fma(m[1] * d[1], d[1], m[2] * d[2] * d[2]));
}

#endif
