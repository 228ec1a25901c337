/* SPDX-License-Identifier: MIT */
/** The interference function of a parallelepiped, sin(pi N d)/sin(pi d) on three axes, and its slopes, in single
 * precision from Miller indices in fixed point (../plan/fixed_point.h): the fraction w 2^-32 = d, and N w modulo
 * 2^32, which is N d modulo 1, exactly for whole N. */
#ifndef NB_TERMS_INTERFERENCE_H
#define NB_TERMS_INTERFERENCE_H

#include "lane.h"

/* Coefficients of 2 P', where sin(pi x) = x P(z), z = x^2 <= 1/4; P is in
 * base/coefficients.h. Degree 4: the error of 2 z P' is at most 7e-10. Degree 3: the
 * error of 2 P' is at most 2.3e-6, and relative 2e-7 near 0, for a central fringe. */
#define NB_SINE_SLOPE4_0 (-10.3354254312f)
#define NB_SINE_SLOPE4_1 10.2006488359f
#define NB_SINE_SLOPE4_2 (-3.59545191419f)
#define NB_SINE_SLOPE4_3 0.656075102602f
#define NB_SINE_SLOPE4_4 (-0.0696856072811f)
#define NB_SINE_SLOPE3_0 (-10.3354235f)
#define NB_SINE_SLOPE3_1 10.2003803f
#define NB_SINE_SLOPE3_2 (-3.59003806f)
#define NB_SINE_SLOPE3_3 0.62130326f

/** d of a fraction w. least: a small number that prevents 0/0 in quotients of sines
 * (NB_FIXED_TINY), or the rounding error of w. */
NB_TERM vf nb_fraction(vi w, vf least)
{
    return vf_fma(vf_from_int(w), vf_set((float)NB_FIXED_STEP), least);
}

/** N d modulo 1 for whole N; `least` is N times that of nb_fraction. */
NB_TERM vf nb_turns(vi w, vi N, vf least)
{
    return nb_fraction(vi_mul(w, N), least);
}

/** N d modulo 1 for any N: the nearest whole number in integers, `part`, the fraction of
 * N, in floats. */
NB_TERM vf nb_turns_of_parts(vi w, vi N, vf part, vf least)
{
    const vf u =
        vf_fma(vf_from_int(w) * (float)NB_FIXED_STEP, part, nb_turns(w, N, least));
    return u - ((u + NB_ROUND_FLOAT) - NB_ROUND_FLOAT);
}

/** Arguments of a step's six sines: x[0..2] = N d, x[3..5] = d, in turns of pi. */
typedef struct nb_sine_args {
    vf x[6];
} nb_sine_args;

#ifdef NB_GPU /* a GPU has the numbers in its instructions */
#define NB_CONSTANTS const
#else
#define NB_CONSTANTS static const
#endif

/** F_latt up to its sign. All six sines are calculated together, so that their chains of
 * dependent operations overlap. */
NB_TERM vf nb_interference_of(nb_sine_args s)
{
    NB_CONSTANTS float c[] = {(float)NB_PI, (float)NB_SINE4_1, (float)NB_SINE4_2,
                              (float)NB_SINE4_3, (float)NB_SINE4_4};
    vf y[6], p[6];
    int i, k;
    for (i = 0; i < 6; i++)
        y[i] = s.x[i] * s.x[i];
    for (i = 0; i < 6; i++)
        p[i] = vf_fma(y[i], vf_set(c[4]), vf_set(c[3]));
    for (k = 2; k > 0; k--)
        for (i = 0; i < 6; i++)
            p[i] = vf_fma(p[i], y[i], vf_set(c[k]));
    for (i = 0; i < 6; i++)
        p[i] = vf_fma_once(p[i], y[i], vf_set(c[0]));
    for (i = 0; i < 6; i++)
        p[i] = p[i] * s.x[i];
    return vf_over(p[0] * p[1] * p[2], p[3] * p[4] * p[5]);
}

/** d^2 at the edge of the central fringe, |N d| = 1/2. The value is slightly less, so
 * that no phase N d of another fringe is taken for a central one when d is rounded. */
static inline float nb_slope_edge(double N)
{
    return (float)((0.25 - 1e-6) / (N * N));
}

/** P of sin(pi x) = x P(z), z = x^2, and 2 z P'(z), the latter of degree 4 or 3. */
NB_TERM vf nb_sine_slope(vf z, vf *twice, const int degree)
{
    vf p = vf_fma(vf_set((float)NB_SINE4_4), z, vf_set((float)NB_SINE4_3)), by;
    p = vf_fma(p, z, vf_set((float)NB_SINE4_2));
    p = vf_fma(p, z, vf_set((float)NB_SINE4_1));
    p = vf_fma(p, z, vf_set((float)NB_PI));
    by = degree == 4 ? vf_fma(vf_set(NB_SINE_SLOPE4_4), z, vf_set(NB_SINE_SLOPE4_3))
                     : vf_set(NB_SINE_SLOPE3_3);
    by = vf_fma(by, z, vf_set(degree == 4 ? NB_SINE_SLOPE4_2 : NB_SINE_SLOPE3_2));
    by = vf_fma(by, z, vf_set(degree == 4 ? NB_SINE_SLOPE4_1 : NB_SINE_SLOPE3_1));
    by = vf_fma(by, z, vf_set(degree == 4 ? NB_SINE_SLOPE4_0 : NB_SINE_SLOPE3_0));
    *twice = by * z;
    return p;
}

/** With sin(pi x) = x P and pi cos(pi x) = P + 2 z P', z = x^2:
 *   s = top/below,   s' = (N slope - s tilt)/below,   ds/dN = by_N/below.
 * N slope - s tilt is N (P_u + 2 z_u P_u') - s (P_d + 2 z_d P_d'). Where N d = u, N P_u and s P_d
 * are equal and are left out: their difference would be only rounding, larger than the other
 * terms. */
typedef struct nb_slope_parts {
    vf top, below, slope, tilt, by_N;
} nb_slope_parts;

/** edge: nb_slope_edge; degree: that of the slope by u, as in nb_sine_slope. The degree
 * matters where u is large, as the slope by d is then small. */
NB_TERM nb_slope_parts nb_slope_parts_of(vf d, vf u, vf edge, const int degree)
{
    const vf zd = d * d;
    const vf_mask outside = (vf_mask)(zd >= edge);
    vf by_zd, by_zu, Pd = nb_sine_slope(zd, &by_zd, 3),
                     Pu = nb_sine_slope(u * u, &by_zu, degree);
    nb_slope_parts x;
    x.top = u * Pu;
    x.below = d * Pd;
    x.slope = vf_add_where(outside, Pu, by_zu);
    x.tilt = vf_add_where(outside, Pd, by_zd);
    x.by_N = d * (Pu + by_zu);
    return x;
}

#endif
