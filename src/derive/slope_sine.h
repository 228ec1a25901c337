/* SPDX-License-Identifier: MIT */
/** 2 P' of sin(pi x) = x P(z), z = x^2 <= 1/4, for slopes in single precision, beside P of
 * base/coefficients.h.  Degree 4: 2 z P' is 7e-10 off at most.  Degree 3: 2 P' is 2.3e-6 off at most, and 2e-7
 * of itself near 0, where a central fringe needs it most. */
#ifndef NB_DERIVE_SLOPE_SINE_H
#define NB_DERIVE_SLOPE_SINE_H

/** d^2 at the edge of the central fringe, |N d| = 1/2; a little within, so that no rounding of d lets a phase N d that has
 * gone round by a turn pass for a central one. */
static inline float nb_slope_edge(double N)
{
    return (float)((0.25 - 1e-6) / (N * N));
}

#define NB_SINE_SLOPE4_0 (-10.3354254312f)
#define NB_SINE_SLOPE4_1 10.2006488359f
#define NB_SINE_SLOPE4_2 (-3.59545191419f)
#define NB_SINE_SLOPE4_3 0.656075102602f
#define NB_SINE_SLOPE4_4 (-0.0696856072811f)
#define NB_SINE_SLOPE3_0 (-10.3354235f)
#define NB_SINE_SLOPE3_1 10.2003803f
#define NB_SINE_SLOPE3_2 (-3.59003806f)
#define NB_SINE_SLOPE3_3 0.62130326f

#endif
