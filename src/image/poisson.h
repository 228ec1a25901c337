/* SPDX-License-Identifier: MIT */
/** Poisson deviates as pure functions, the same integers on host and device.
 *
 * Only IEEE double + - * / sqrt and floor are used, because the last bits of a libm's log and
 * exp differ between machines.  The operations must not be contracted: compile with
 * -ffp-contract=off, and with nvcc --fmad=false.
 *
 * Means below 12: inversion, one uniform deviate searched along the cumulative distribution.
 * Up to 1e9: Hormann's transformed rejection PTRS (Insurance: Mathematics and Economics 12, 39
 * (1993)), with its acceptance test rearranged (see nb_poisson_accept).  Above: the rounded normal
 * distribution (skewness < 4e-5). */
#ifndef NB_IMAGE_POISSON_H
#define NB_IMAGE_POISSON_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../base/coefficients.h"
#include "../base/philox.h"
#include "../physics/hostdevice.h"

#define NB_POISSON_SMALL 12.0 /* below this mean: inversion */
#define NB_POISSON_HUGE 1e9   /* above this mean: normal distribution */
#define NB_POISSON_LONGEST                                                               \
    128 /* P(k >= 128 | mean 12) < 1e-83: the search always ends earlier */

/** e^x for -700 <= x <= 700, within 1e-15: x = n ln 2 + r, Taylor's series of r to r^13.
 * The terms are grouped by pairs (Estrin) to shorten the chain of operations. Adding 1.5
 * * 2^52 rounds to a whole n and leaves n in the lowest bits, from which a shift moves it
 * into the exponent. */
NB_HD double nb_exact_exp(double x)
{
    double shifted = x * NB_LOG2_E + NB_ROUND_DOUBLE;
    double n = shifted - NB_ROUND_DOUBLE;
    double r = (x - n * NB_LN2_HIGH) - n * NB_LN2_LOW;
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double a = (0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    double b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    double c = (1.0 / 3628800 + r * (1.0 / 39916800)) +
               r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
    double tail = r2 * ((a + r4 * b) + r8 * c), power;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + NB_ONE_BITS;
    memcpy(&power, &bits, sizeof power);
    return (1.0 + (r + tail)) * power;
}

/** ln x for normal x > 0, within 1e-15: x = 2^n m, ln m = 2 artanh(s), s = (m-1)/(m+1). */
NB_HD double nb_exact_log(double x)
{
    uint64_t bits;
    int n, i;
    double m, f, s, z, series;
    memcpy(&bits, &x, sizeof bits);
    n = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffu) | NB_ONE_BITS;
    memcpy(&m, &bits, sizeof m);
    if (m > NB_SQRT_2) {
        m *= 0.5;
        n++;
    }
    f = m - 1.0;
    s = f / (m + 1.0);
    z = s * s;
    series = 2.0 / 25;
    for (i = 23; i >= 3; i -= 2) /* |s| <= 0.172: the terms left out are below 2^-60 */
        series = series * z + 2.0 / i;
    /* 2s + s^3 ... with 2s = f - s f, so that f is exact and the other terms are small */
    return n * NB_LN2_HIGH + (n * NB_LN2_LOW + (f - s * (f - z * series)));
}

/** ln k! - (k ln k - k + ln(2 pi k)/2), the rest of Stirling's formula; whole k >= 1. */
NB_HD double nb_stirling_rest(double k)
{
    double k2 = k * k, rest = 0;
    /* for small k, use the exact recurrence rest(k) = rest(k+1) + (k+1/2) ln(1+1/k) -
     * 1 */
    while (k < 16) {
        rest += (k + 0.5) * nb_exact_log((k + 1.0) / k) - 1.0;
        k += 1.0;
        k2 = k * k;
    }
    return rest +
           (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / (1680 * k2)) / k2) / k2) / k;
}

/** Identity of a pixel, which sets its nth block of random words. */
typedef struct nb_poisson_key {
    uint64_t seed, pixel;
    uint32_t frame;
} nb_poisson_key;

/** Two uniforms in (0, 1). */
NB_HD void nb_poisson_draw(const nb_poisson_key *key, uint32_t nth, double *u, double *v)
{
    nb_philox_words r = nb_philox(key->seed, key->pixel, key->frame, nth);
    *u = nb_uniform52(r.w[0], r.w[1]);
    *v = nb_uniform52(r.w[2], r.w[3]);
}

/** Smallest k whose cumulative probability reaches u, for 0 <= mean < NB_POISSON_SMALL.
 * Noise over a block of pixels (noise_block.h) does the same operations in parallel. */
NB_HD double nb_poisson_inversion(double mean, double u)
{
    double p = nb_exact_exp(-mean), sum = p;
    int k = 0;
    while (u > sum && k < NB_POISSON_LONGEST) {
        k++;
        p = p * (mean * (1.0 / k));
        sum += p;
    }
    return k;
}

/** PTRS's second test, ln(v / (b + a/us^2) * inv_alpha) <= -mean + k ln mean - ln k!, with
 * ln k! by Stirling's formula: the large terms cancel in k ln(k/mean). */
NB_HD int nb_poisson_accept(double mean, double k, double ratio)
{
    if (k < 1)
        return nb_exact_log(ratio) + mean <= 0;
    return nb_exact_log(ratio * sqrt(2 * NB_PI * k)) -
               ((k - mean) - k * nb_exact_log(k / mean) - nb_stirling_rest(k)) <=
           0;
}

NB_HD double nb_poisson_rejection(double mean, const nb_poisson_key *key)
{
    double b = 0.931 + 2.53 * sqrt(mean);
    double a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    double v_certain = 0.9277 - 3.6224 / (b - 2.0);
    uint32_t nth;
    for (nth = 0;; nth++) {
        double u, v, us, k;
        nb_poisson_draw(key, nth, &u, &v);
        u -= 0.5;
        us = 0.5 - fabs(u);
        k = floor((2.0 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= v_certain)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (nb_poisson_accept(mean, k, v * inverse_alpha / (a / (us * us) + b)))
            return k;
    }
}

/** Random numbers of the stages of a pixel; each stage has 2^24 draws. */
enum {
    NB_STREAM_COUNTS = 0,
    NB_STREAM_READOUT,
    NB_STREAM_CALIBRATION,
    NB_STREAM_FLICKER,
    NB_STREAM_BITS = 24
};

/** Normal deviate, mean 0 and variance 1, by Marsaglia's polar method. */
NB_HD double nb_normal(const nb_poisson_key *key, uint32_t stream)
{
    uint32_t nth;
    for (nth = stream << NB_STREAM_BITS;; nth++) {
        double x, y, r2;
        nb_poisson_draw(key, nth, &x, &y);
        x = 2.0 * x - 1.0;
        y = 2.0 * y - 1.0;
        r2 = x * x + y * y;
        if (r2 > 0 && r2 < 1)
            return x * sqrt(-2.0 * nb_exact_log(r2) / r2);
    }
}

NB_HD double nb_poisson_normal(double mean, const nb_poisson_key *key)
{
    return floor(mean + sqrt(mean) * nb_normal(key, NB_STREAM_COUNTS) + 0.5);
}

/** Poisson deviate, a whole number >= 0. A mean that is not positive (or NaN) gives 0, an
 * infinite mean infinity. */
NB_HD double nb_poisson(double mean, const nb_poisson_key *key)
{
    double u, v;
    if (!(mean > 0))
        return 0;
    if (mean > NB_POISSON_HUGE)
        return mean * 0.5 == mean ? mean : nb_poisson_normal(mean, key);
    if (mean >= NB_POISSON_SMALL)
        return nb_poisson_rejection(mean, key);
    nb_poisson_draw(key, 0, &u, &v);
    return nb_poisson_inversion(mean, u);
}

/** Value of a pixel of the noise image: photons and offset, rounded half up, clamped.
 * *overload: 1 if it was above 65535, else 0. */
NB_HD uint16_t nb_noise_adu(double photons, double adc_offset, int *overload)
{
    double v = floor(photons + adc_offset + 0.5);
    *overload = v > 65535.0;
    return (uint16_t)(*overload ? 65535.0 : v > 0 ? v : 0.0);
}

#endif
