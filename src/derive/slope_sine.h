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

#endif
