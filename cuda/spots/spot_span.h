/* SPDX-License-Identifier: MIT */
/** Sums over the sources that contribute to a ray of a Gaussian crystal. Host and device. */
#ifndef NB_CUDA_SPOT_SPAN_H
#define NB_CUDA_SPOT_SPAN_H

#ifdef NB_GPU
#include "../backend/vendor.h"
#define NB_SPOT_INVERSE_ROOT(x) rsqrt(x)
#else
#define NB_SPOT_INVERSE_ROOT(x) (1 / sqrt(x))
#endif

#include "../../src/terms/spot_terms.h"

/* sqrt(2) 2^x for |x| <= 1/2, by Remez's algorithm: relative error 2e-9 in exact arithmetic. */
#define NB_SPOT_POWER_0 ((float)NB_SQRT_2)
#define NB_SPOT_POWER_1 0.980258167f
#define NB_SPOT_POWER_2 0.339731544f
#define NB_SPOT_POWER_3 0.0784935057f
#define NB_SPOT_POWER_4 0.0136025976f
#define NB_SPOT_POWER_5 0.00189503643f
#define NB_SPOT_POWER_6 0.000217022549f

/** x + this has x in units of 2^-23 in its low bits. */
#define NB_SPOT_FIXED 0x1.8p29
#define NB_SPOT_LEAST_POWER (-250)

/** 2^x for NB_SPOT_LEAST_POWER <= x <= 0, relative error 1.5e-7; undefined for other x. fixed: x +
 * NB_SPOT_FIXED. */
NB_HD double nb_spot_power(double fixed)
{
    int64_t bits;
    uint32_t mantissa;
    float f, sum;
    double power;
    memcpy(&bits, &fixed, sizeof bits);
    mantissa = 0x3f800000u | ((uint32_t)bits & 0x7fffffu);
    memcpy(&f, &mantissa, sizeof f);
    f -= 1.5f;
    sum = fmaf(NB_SPOT_POWER_6, f, NB_SPOT_POWER_5);
    sum = fmaf(sum, f, NB_SPOT_POWER_4);
    sum = fmaf(sum, f, NB_SPOT_POWER_3);
    sum = fmaf(sum, f, NB_SPOT_POWER_2);
    sum = fmaf(sum, f, NB_SPOT_POWER_1);
    sum = fmaf(sum, f, NB_SPOT_POWER_0);
    memcpy(&mantissa, &sum, sizeof mantissa);
    /* as a double, times 2 to the whole part; 896: the exponents' biases differ by it */
    bits = ((int64_t)mantissa << 29) + ((int64_t)(((int32_t)bits >> 23) + 896) << 52);
    memcpy(&power, &bits, sizeof power);
    return power;
}

/** The sources of a run that contribute to a ray: entries of nb_spots from `first` on with an
 * offset of at most `high`. Each adds 2^(base - NB_SPOT_FIXED - (scale offset + shift)^2). */
typedef struct nb_spot_span {
    double scale, shift, base, high;
    int first;
} nb_spot_span;

NB_HD nb_spot_span nb_spot_span_of(const nb_spots *sp, const nb_spot_pair *pair,
                                   const nb_spot_lines *line)
{
    const double left = fmax(0.0, pair->spot->reach2 - line->across2);
    const double reach =
        left > 0 ? left * NB_SPOT_INVERSE_ROOT(left) * line->by_slope2 : 0;
    nb_spot_span span;
    span.scale = line->slope2 * line->by_slope2 * sp->fall_root;
    span.shift = line->shift * span.scale;
    span.base = fma(line->across2, sp->fall, NB_SPOT_FIXED);
    span.high = fmin(-line->shift + reach, line->last);
    span.first = (int)pair->run->first + nb_spot_entry(pair, -line->shift - reach);
    return span;
}

/** Sum of weight exp(-2 R^2/width), by two at a time; weight NULL: 1. */
NB_HD double nb_spot_span_sum(const double *offset, const double *weight,
                              const nb_spot_span *span)
{
    double sums[2] = {0, 0};
    for (int a = span->first; offset[a] <= span->high; a += 2)
        for (int i = 0; i < 2; i++) { /* there is padding behind the last */
            const double k = fma(offset[a + i], span->scale, span->shift),
                         power = nb_spot_power(fma(-k, k, span->base)),
                         term = weight ? power * weight[a + i] : power;
            sums[i] += offset[a + i] <= span->high ? term : 0;
        }
    return sums[0] + sums[1];
}

/** Weighted terms of a span. */
NB_HD double nb_spot_span_terms(const nb_spots *sp, const nb_spot_span *span)
{
    return sp->even > 0 ? sp->even * nb_spot_span_sum(sp->offset, NULL, span)
                        : nb_spot_span_sum(sp->offset, sp->weight, span);
}

/** Weighted F_latt^2/cells2 of a ray with one source. */
NB_HD double nb_spot_one_term(const nb_spots *sp, const nb_spot_pair *pair,
                              const nb_spot_ray *at, nb_law law, const nb_spot_aim *aim)
{
    const double R2 = nb_spot_radius2(aim);
    if (!(R2 <= pair->most) || !(aim->last >= pair->offset[0]))
        return 0;
    if (law == NB_LAW_EDGE)
        return nb_spot_tophat_lit(pair, at, 0, R2) ? pair->weight[0] : 0;
    return nb_spot_decay_term(sp, pair, R2, 1);
}

/** Weighted F_latt^2/cells2 that a pair adds to a ray; law: of nb_spots. */
NB_HD double nb_spot_terms(const nb_spots *sp, const nb_spot_pair *pair,
                           const nb_spot_ray *at, nb_law law, const nb_spot_aim *aim)
{
    nb_spot_lines line;
    nb_spot_span span;
    if (pair->run->n == 1)
        return nb_spot_one_term(sp, pair, at, law, aim);
    line = nb_spot_lines_of(aim);
    if (!(line.across2 <= pair->most))
        return 0;
    if (law == NB_LAW_EDGE) {
        const nb_spot_line one = {line.across2, line.slope2, line.shift, line.last};
        return nb_spot_tophat_weights(pair, at, &one);
    }
    span = nb_spot_span_of(sp, pair, &line);
    return nb_spot_span_terms(sp, &span);
}

#endif
