/* SPDX-License-Identifier: MIT */
/** Coefficients and magic numbers of the fast paths. Host and device share them, so each
 * is written only here (tests/lint/numbers.py). The polynomials are Chebyshev fits made
 * for nanobragg. */
#ifndef NB_BASE_COEFFICIENTS_H
#define NB_BASE_COEFFICIENTS_H

/* sin(pi x) = x P(x^2), |x| <= 1/2, as floats: relative error 6e-9 before rounding. */
#define NB_SINE4_1 (-5.16771057357)
#define NB_SINE4_2 2.55008230601
#define NB_SINE4_3 (-0.598308095473)
#define NB_SINE4_4 0.0776759750483

/* e^x = 2^n e^r, ln 2 = HIGH + LOW. HIGH ends in 21 zero bits, so n HIGH is exact. */
#define NB_LOG2_E 1.44269504088896340736
#define NB_LN2_HIGH 6.93147180369123816490e-01
#define NB_LN2_LOW 1.90821492927058770002e-10

/* Doubles near 1.5 2^52, and floats near 1.5 2^23, have steps of 1. Adding this constant
 * rounds to a whole number, which the lowest bits hold; then subtract the constant. */
#define NB_ROUND_DOUBLE 6755399441055744.0
#define NB_ROUND_FLOAT 12582912.0f
#define NB_ROUND_FLOAT_BITS 0x4B400000

/* Fixed point: doubles of this size (1.5 2^20) have steps of 2^-32. NB_FIXED_HIGH is the
 * high word of NB_FIXED_MAGIC. */
#define NB_FIXED_MAGIC 1572864.0
#define NB_FIXED_HIGH 0x41380000
#define NB_FIXED_STEP 2.3283064365386963e-10 /* 2^-32 */
/* 2^-40; added to avoid 0/0 in quotients of sines */
#define NB_FIXED_TINY 9.094947017729282e-13f

/* The bits of 1.0, the square root of 2, and 2^52. A double near 2^52 is a whole number;
 * its lowest bits hold this number. */
#define NB_ONE_BITS 0x3ff0000000000000u
#define NB_SQRT_2 1.41421356237309505
#define NB_TWO_52 4503599627370496.0
#define NB_TWO_52_BITS 0x4330000000000000u
/* 2^64 divided by the golden ratio; it spreads bits in hashes. */
#define NB_GOLDEN_BITS 0x9e3779b97f4a7c15u

#endif
