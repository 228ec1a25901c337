/* SPDX-License-Identifier: MIT */
/** The interference function of a parallelepiped, the product of sin(pi N d)/sin(pi d) on
 * three axes, and its slopes, in single precision. w is the fraction of a Miller index in
 * fixed point (../plan/fixed_point.h): d = w 2^-32. N w modulo 2^32 is N d modulo 1,
 * exactly for whole N. */
#ifndef NB_TERMS_INTERFERENCE_H
#define NB_TERMS_INTERFERENCE_H

#include "lane.h"

/* Coefficients of 2 P', where sin(pi x) = x P(z), z = x^2 <= 1/4; P is in
 * base/coefficients.h. With degree 4 the error of 2 z P' is at most 7e-10. With degree 3
 * the error of 2 P' is at most 2.3e-6, and relative 2e-7 near 0, in a central fringe. */
#define NB_SINE_SLOPE4_0 (-10.3354254312f)
#define NB_SINE_SLOPE4_1 10.2006488359f
#define NB_SINE_SLOPE4_2 (-3.59545191419f)
#define NB_SINE_SLOPE4_3 0.656075102602f
#define NB_SINE_SLOPE4_4 (-0.0696856072811f)
#define NB_SINE_SLOPE3_0 (-10.3354235f)
#define NB_SINE_SLOPE3_1 10.2003803f
#define NB_SINE_SLOPE3_2 (-3.59003806f)
#define NB_SINE_SLOPE3_3 0.62130326f

/** d of a fraction w. `least` is added: a small number that prevents 0/0 in quotients of
 * sines (NB_FIXED_TINY), or the rounding error of w. */
NB_TERM vf nb_fraction(vi w, vf least)
{
    return vf_fma(vf_from_int(w), vf_set((float)NB_FIXED_STEP), least);
}

/** N d modulo 1 for whole N. least: N times the `least` of nb_fraction. */
NB_TERM vf nb_turns(vi w, vi N, vf least)
{
    return nb_fraction(vi_mul(w, N), least);
}

/** N d modulo 1 for any number of cells: N whole cells and a fraction `part`. */
NB_TERM vf nb_turns_of_parts(vi w, vi N, vf part, vf least)
{
    const vf u =
        vf_fma(vf_from_int(w) * (float)NB_FIXED_STEP, part, nb_turns(w, N, least));
    return u - ((u + NB_ROUND_FLOAT) - NB_ROUND_FLOAT);
}

/** Arguments of a step's six sines, in units of pi: x[0..2] = N d, x[3..5] = d. */
typedef struct nb_sine_args {
    vf x[6];
} nb_sine_args;

#ifdef NB_GPU /* the instructions of a GPU contain the constants */
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

/** d^2 at the edge of the central fringe, |N d| = 1/2. The value is slightly smaller, so
 * that rounding of d moves no point of another fringe into the central one. */
static inline float nb_slope_edge(double N)
{
    return (float)((0.25 - 1e-6) / (N * N));
}

/** Return P of sin(pi x) = x P(z), z = x^2. *twice: 2 z P'(z), 2 P' of degree 4 or 3. */
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

/** With u = N d modulo 1, sin(pi x) = x P and pi cos(pi x) = P + 2 z P', z = x^2:
 *   s = top/below,   s' = (N slope - s tilt)/below,   ds/dN = by_N/below.
 * N slope - s tilt is N (P_u + 2 z_u P_u') - s (P_d + 2 z_d P_d'). In the central fringe
 * (u = N d) the equal terms N P_u and s P_d are left out: their rounding errors would be
 * larger than the other terms. */
typedef struct nb_slope_parts {
    vf top, below, slope, tilt, by_N;
} nb_slope_parts;

/** edge: nb_slope_edge. degree: degree of 2 P_u' (nb_sine_slope). It matters for large u;
 * 2 P_d' has degree 3, as its term is small then. */
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
