/* SPDX-License-Identifier: MIT */
/* Counting noise of the old program: poidev, gaussdev and gammln of Numerical Recipes in
 * C, 2nd ed., sections 6.1, 7.2 and 7.3, with the same roundings to single precision. */
#include <math.h>

#include "../base/memory.h"
#include "../base/philox.h"
#include "../physics/hostdevice.h"
#include "image.h"

struct nb_compat_noise {
    nb_ran1 uniform;
    int has_spare;
    float spare; /* second deviate of the last normal pair */
};

/** ln Gamma(x) by Lanczos' formula. */
static float ln_gamma(float x)
{
    static const double c[6] = {76.18009172947146,     -86.50532032941677,
                                24.01409824083091,     -1.231739572450155,
                                0.1208650973866179e-2, -0.5395239384953e-5};
    double tmp = x + 5.5, series = 1.000000000190015, y = x;
    tmp -= (x + 0.5) * log(tmp);
    for (int i = 0; i < 6; i++) {
        y += 1;
        series += c[i] / y;
    }
    return (float)(-tmp + log(2.5066282746310005 * series / x));
}

static float normal(nb_compat_noise *st)
{
    float v1, v2, r2, factor;
    if (st->has_spare) {
        st->has_spare = 0;
        return st->spare;
    }
    do {
        v1 = (float)(2.0 * nb_ran1_next(&st->uniform) - 1.0);
        v2 = (float)(2.0 * nb_ran1_next(&st->uniform) - 1.0);
        r2 = v1 * v1 + v2 * v2;
    } while (r2 >= 1.0f || r2 == 0.0f);
    factor = (float)sqrt(-2.0 * log(r2) / r2);
    st->spare = v1 * factor;
    st->has_spare = 1;
    return v2 * factor;
}

/** Count for means below 12: multiply uniforms until the product is at most e^-mean. */
static float product_count(nb_compat_noise *st, float mean)
{
    float limit = (float)exp(-mean), product = 1.0f, count = -1.0f;
    do {
        count += 1.0f;
        product *= nb_ran1_next(&st->uniform);
    } while (product > limit);
    return count;
}

/** Count for means from 12 to 1e6: rejection under a Lorentzian. */
static float rejection(nb_compat_noise *st, float mean)
{
    float root = (float)sqrt(2.0 * mean), ln_mean = (float)log(mean);
    float g = mean * ln_mean - ln_gamma((float)(mean + 1.0));
    float y, k, ratio;
    do {
        do {
            y = (float)tan(NB_PI * nb_ran1_next(&st->uniform));
            k = root * y + mean;
        } while (k < 0.0f);
        k = floorf(k);
        ratio = (float)(0.9 * (1.0 + y * y) *
                        exp(k * ln_mean - ln_gamma((float)(k + 1.0)) - g));
    } while (nb_ran1_next(&st->uniform) > ratio);
    return k;
}

static float poisson(nb_compat_noise *st, float mean)
{
    if (mean > 1.0e6f)
        return (float)(mean + sqrt(mean) * normal(st));
    return mean < 12.0f ? product_count(st, mean) : rejection(st, mean);
}

nb_compat_noise *nb_noise_compat_start(const nb_stage *stage, nb_error *err)
{
    nb_compat_noise *stream = nb_alloc(1, sizeof *stream, "noise", err);
    if (stream)
        nb_ran1_seed(&stream->uniform, stage->seed);
    return stream;
}

int64_t nb_noise_compat_row(const nb_product *p, size_t pixel, int n, uint16_t *out)
{
    int64_t clipped = 0;
    for (int f = 0; f < n; f++) {
        const float mean = p->photons->pixels[pixel + (size_t)f];
        const double adu = poisson(p->stream, mean) + p->adc_offset;
        const int overload = adu > 65535.0;
        clipped += overload;
        out[f] = (uint16_t)(overload ? 65535.0 : adu > 0 ? adu : 0.0);
    }
    return clipped;
}
