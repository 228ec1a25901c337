/* SPDX-License-Identifier: MIT */
/** sin(pi x) = x P(x^2), |x| <= 1/2, for slopes in single precision: a Chebyshev fit of degree 5, so that
 * pi cos(pi x) = P + 2 z P', z = x^2, is 2e-8 off at most before rounding.  The constant term is pi. */
#ifndef NB_DERIVE_SLOPE_SINE_H
#define NB_DERIVE_SLOPE_SINE_H

#define NB_SINE5_1 (-5.16771278f)
#define NB_SINE5_2 2.55016387f
#define NB_SINE5_3 (-0.599258994f)
#define NB_SINE5_4 0.0820837178f
#define NB_SINE5_5 (-0.00708448878f)

/** 2 P' alone: 2 z P' is 7e-10 off at most with degree 4; 1.5e-7 with degree 3, and 2e-6 of itself near 0. */
#define NB_SINE_SLOPE4_0 (-10.3354254312f)
#define NB_SINE_SLOPE4_1 10.2006488359f
#define NB_SINE_SLOPE4_2 (-3.59545191419f)
#define NB_SINE_SLOPE4_3 0.656075102602f
#define NB_SINE_SLOPE4_4 (-0.0696856072811f)
#define NB_SINE_SLOPE3_0 (-10.3354064914f)
#define NB_SINE_SLOPE3_1 10.1999119351f
#define NB_SINE_SLOPE3_2 (-3.58654284669f)
#define NB_SINE_SLOPE3_3 0.613634409126f

#endif
