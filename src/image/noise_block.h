/* SPDX-License-Identifier: MIT */
/** Poisson and normal deviates of 64 neighbouring pixels, several at a time. Each pixel
 * has the operations of nb_poisson, so the integers are the same. kernels_*.c compile it
 * once for each instruction set. */
#ifndef NB_IMAGE_NOISE_BLOCK_H
#define NB_IMAGE_NOISE_BLOCK_H

#include "poisson.h"
#include "../base/simd.h"

enum { NB_NOISE_BLOCK = 64 };

/** One full round of the four words c with the keys k0 and k1. */
static inline void nb_v_philox_round(vul *c, uint32_t k0, uint32_t k1)
{
    vul p0, p1;
    p0 = vul_mul32(c[0], PHILOX_M4x32_0);
    p1 = vul_mul32(c[2], PHILOX_M4x32_1);
    c[0] = (p1 >> 32) ^ c[1] ^ k0;
    c[1] = p1;
    c[2] = (p0 >> 32) ^ c[3] ^ k1;
    c[3] = p0;
}

/** nb_philox for this draw of NB_H pixels with the seed and frame of `first`. The
 * words are in the low 32 bits of each lane. */
static inline void nb_v_philox_at(const nb_poisson_key *first, vul pixel, uint32_t draw,
                                  vul w[4])
{
    const uint32_t k0 = (uint32_t)first->seed, k1 = (uint32_t)(first->seed >> 32);
    const vul zero = {0};
    w[0] = pixel;
    w[1] = w[0] >> 32;
    w[2] = zero + first->frame;
    w[3] = zero + draw;
    for (uint32_t round = 0; round < 10; round++)
        nb_v_philox_round(w, k0 + round * PHILOX_W32_0, k1 + round * PHILOX_W32_1);
}

/** nb_v_philox_at of NB_H pixels from first.pixel + offset on. */
static inline void nb_v_philox(const nb_poisson_key *first, uint64_t offset,
                               uint32_t draw, vul w[4])
{
    vul pixel = {0};
    for (unsigned i = 0; i < NB_H; i++)
        pixel[i] = first->pixel + offset + i;
    nb_v_philox_at(first, pixel, draw, w);
}

/** nb_v_philox for draw 0 of several vectors at a time, because one vector alone is a
 * long chain of operations. Only the first two words are made: w[4 * i] and w[4 * i + 1]
 * of vector i. The pixels have the same high word, so common parts of the first rounds
 * are calculated once. The last rounds leave out operations on the other two words. */
static inline void nb_v_philox_two(const nb_poisson_key *first, uint64_t offset,
                                   int vectors, vul *w)
{
    const uint32_t k0 = (uint32_t)first->seed, k1 = (uint32_t)(first->seed >> 32);
    const uint64_t of_frame = (uint64_t)first->frame * PHILOX_M4x32_1;
    const uint32_t first_0 =
        (uint32_t)(of_frame >> 32) ^ (uint32_t)(first->pixel >> 32) ^ k0;
    const uint64_t of_first = (uint64_t)first_0 * PHILOX_M4x32_0;
    const uint32_t second_0 = (uint32_t)of_frame ^ (k0 + PHILOX_W32_0);
    const uint32_t second_2 = (uint32_t)(of_first >> 32) ^ (k1 + PHILOX_W32_1);
    const vul zero = {0};
    vul lane = zero;
    for (unsigned i = 0; i < NB_H; i++)
        lane[i] = i;
    for (int i = 0; i < vectors; i++) { /* rounds 1 and 2 */
        vul *c = w + 4 * i, p;
        c[0] = lane + (first->pixel + offset + (uint64_t)(i * NB_H));
        c[3] = vul_mul32(c[0], PHILOX_M4x32_0);
        c[2] = (c[3] >> 32) ^ k1;
        p = vul_mul32(c[2], PHILOX_M4x32_1);
        c[0] = (p >> 32) ^ second_0;
        c[1] = p;
        c[2] = c[3] ^ second_2;
        c[3] = zero + (uint32_t)of_first;
    }
    for (uint32_t round = 2; round < 8; round++)
        for (int i = 0; i < vectors; i++)
            nb_v_philox_round(w + 4 * i, k0 + round * PHILOX_W32_0,
                              k1 + round * PHILOX_W32_1);
    for (int i = 0; i < vectors; i++) { /* rounds 9 and 10 */
        vul *c = w + 4 * i, p, q;
        p = vul_mul32(c[0], PHILOX_M4x32_0);
        q = vul_mul32(c[2], PHILOX_M4x32_1);
        c[2] = (p >> 32) ^ c[3] ^ (k1 + 8 * PHILOX_W32_1);
        p = vul_mul32(c[2], PHILOX_M4x32_1);
        c[0] = (p >> 32) ^ q ^ (k0 + 9 * PHILOX_W32_0);
        c[1] = p;
    }
}

/** nb_uniform52 of the low 32 bits of `high` and `low`, lane by lane. */
static inline vd nb_v_uniform52(vul high, vul low)
{
    vul bits = NB_ONE_BITS | ((high << 32) | (low & 0xffffffffu)) >> 12;
    return (vd)bits - (1.0 - 0.5 / NB_TWO_52);
}

/** nb_exact_exp of each lane. */
static inline vd nb_v_exact_exp(vd x)
{
    vd shifted = x * NB_LOG2_E + NB_ROUND_DOUBLE;
    vd n = shifted - NB_ROUND_DOUBLE;
    vd r = (x - n * NB_LN2_HIGH) - n * NB_LN2_LOW;
    vd r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    vd a = (0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    vd b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    vd c = (1.0 / 3628800 + r * (1.0 / 39916800)) +
           r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
    vd tail = r2 * ((a + r4 * b) + r8 * c);
    vul bits = ((vul)shifted << 52) + NB_ONE_BITS;
    return (1.0 + (r + tail)) * (vd)bits;
}

enum {
    NB_TOGETHER = NB_H >= 4 ? 4 : 2
}; /* number of vectors at a time, limited by the number of registers */

/** True if a lane of one of the vectors is true. */
static inline int nb_v_any(const vl *mask)
{
    vl any = mask[0];
    for (int i = 1; i < NB_TOGETHER; i++)
        any |= mask[i];
    return vl_bits(any) != 0;
}

/** nb_poisson_inversion of NB_TOGETHER vectors, whose chains of operations overlap. All
 * vectors end together, because a mispredicted branch takes longer than some idle steps.
 * Usually pixels have no photons: if u <= 1 - mean, which is at most e^-mean, the
 * exponential is not needed. */
static inline void nb_v_inversion(const vd *mean, const vd *u, vd *photons)
{
    const vd zero = {0}, one = zero + 1.0;
    vd p[NB_TOGETHER], sum[NB_TOGETHER];
    vl open[NB_TOGETHER];
    for (int i = 0; i < NB_TOGETHER; i++) {
        photons[i] = zero;
        open[i] = u[i] > (1.0 - mean[i]) - 1e-12;
    }
    if (!nb_v_any(open))
        return;
    for (int i = 0; i < NB_TOGETHER; i++) {
        p[i] = nb_v_exact_exp(-mean[i]);
        sum[i] = p[i];
        open[i] = u[i] > sum[i];
    }
    for (int k = 1; k <= NB_POISSON_LONGEST && nb_v_any(open); k++) {
        for (int i = 0; i < NB_TOGETHER; i++) {
            photons[i] += vd_where(open[i], one);
            p[i] = p[i] * (mean[i] * (1.0 / k));
            sum[i] += p[i];
            open[i] = u[i] > sum[i];
        }
    }
}

/** nb_exact_log of normal numbers > 0. */
static inline vd nb_v_exact_log(vd x)
{
    const vd zero = {0};
    vul bits = (vul)x;
    vd n = (vd)(bits >> 52 | NB_TWO_52_BITS) - (NB_TWO_52 + 1023.0);
    vd m = (vd)((bits & 0x000fffffffffffffu) | NB_ONE_BITS), f, s, z;
    vd series = zero + 2.0 / 25;
    vl upper = m > NB_SQRT_2;
    m = vd_pick(upper, m * 0.5, m);
    n += vd_where(upper, zero + 1.0);
    f = m - 1.0;
    s = f / (m + 1.0);
    z = s * s;
    for (int i = 23; i >= 3; i -= 2)
        series = series * z + 2.0 / i;
    return n * NB_LN2_HIGH + (n * NB_LN2_LOW + (f - s * (f - z * series)));
}

/** nb_stirling_rest of whole k >= 1. */
static inline vd nb_v_stirling_rest(vd k)
{
    static const double small[16] = {0, /* nb_stirling_rest(0 to 15) */
                                     0.081061466795312911,
                                     0.041340695955395038,
                                     0.027677925684983961,
                                     0.020790672103750973,
                                     0.016644691189807059,
                                     0.013876128823056898,
                                     0.011896709945877559,
                                     0.010411265261958357,
                                     0.0092554621826990251,
                                     0.0083305634333486027,
                                     0.0075736754879367598,
                                     0.0069428401071953806,
                                     0.0064089941879910241,
                                     0.0059513701127462794,
                                     0.005554733551950586};
    vd k2 = k * k, rest;
    vl few = k < 16.0;
    rest = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / (1680 * k2)) / k2) / k2) / k;
    if (vl_bits(few))
        for (int i = 0; i < NB_H; i++)
            if (few[i])
                rest[i] = small[(int)k[i]];
    return rest;
}

/** nb_poisson_accept of k >= 0. */
static inline vl nb_v_accept(vd mean, vd of, vd of_ratio)
{
    const vd zero = {0}, one = zero + 1.0;
    vl none = of < 1.0;
    vd k = vd_pick(none, one, of), root = 2 * NB_PI * k, quotient = k / mean, ratio,
       excess;
    ratio = vd_pick(none, of_ratio, of_ratio * vd_sqrt(root));
    excess = (k - mean) - k * nb_v_exact_log(quotient) - nb_v_stirling_rest(k);
    excess = nb_v_exact_log(ratio) - vd_pick(none, -mean, excess);
    return excess <= zero;
}

/** Constants of nb_poisson_rejection. */
typedef struct nb_v_hat {
    vd a, b, inverse_alpha, v_certain;
} nb_v_hat;

static inline nb_v_hat nb_v_hat_of(vd mean)
{
    nb_v_hat hat;
    hat.b = 0.931 + 2.53 * vd_sqrt(mean);
    hat.a = -0.059 + 0.02483 * hat.b;
    hat.inverse_alpha = 1.1239 + 1.1328 / (hat.b - 3.4);
    hat.v_certain = 0.9277 - 3.6224 / (hat.b - 2.0);
    return hat;
}

/** One draw of nb_poisson_rejection for the open lanes. *accepted: lanes whose k is
 * accepted by this draw. */
static inline vl nb_v_rejection(vd mean, const nb_v_hat *hat, const vul w[4], vl open,
                                vd *of_k)
{
    const vd zero = {0};
    vd u, v, us, x, k, ratio;
    vl certain, possible;
    u = nb_v_uniform52(w[0], w[1]);
    v = nb_v_uniform52(w[2], w[3]);
    u -= 0.5;
    us = 0.5 - (vd)((vl)u & INT64_MAX); /* less |u| */
    x = (2.0 * hat->a / us + hat->b) * u + mean + 0.43;
    /* to the nearest whole number, then down: floor */
    k = (x + NB_ROUND_DOUBLE) - NB_ROUND_DOUBLE;
    k -= vd_where(k > x, zero + 1.0);
    certain = open & (us >= 0.07) & (v <= hat->v_certain);
    possible = open & ~certain & (k >= zero) & ~((us < 0.013) & (v > us));
    *of_k = k;
    if (!vl_bits(possible))
        return certain;
    ratio = v * hat->inverse_alpha / (hat->a / (us * us) + hat->b);
    return certain | (possible & nb_v_accept(mean, vd_where(possible, k), ratio));
}

/** nb_poisson for the lanes with a mean of NB_POISSON_SMALL or more. */
static inline void nb_v_large(const double *mean, const nb_poisson_key *first,
                              uint64_t offset, vd *photons)
{
    const vd zero = {0};
    vd m, k;
    vl large, open, accepted;
    nb_v_hat hat;
    memcpy(&m, mean, sizeof m);
    large = m >= NB_POISSON_SMALL;
    open = large & (m <= NB_POISSON_HUGE);
    large &= ~open;
    /* other lanes get a mean that causes no error */
    m = vd_pick(open, m, zero + 100.0);
    hat = nb_v_hat_of(m);
    for (uint32_t draw = 0; vl_bits(open); draw++) {
        vul w[4];
        nb_v_philox(first, offset, draw, w);
        accepted = nb_v_rejection(m, &hat, w, open, &k);
        *photons = vd_pick(accepted, k, *photons);
        open &= ~accepted;
    }
    for (int i = 0; i < NB_H && vl_bits(large); i++) {
        if (large[i]) {
            nb_poisson_key key = *first;
            key.pixel += offset + (uint64_t)i;
            (*photons)[i] = nb_poisson(mean[i], &key);
        }
    }
}

/** nb_noise_adu of each lane. Returns the number of clipped lanes. */
static inline int nb_v_digitize(vd photons, double adc_offset, uint16_t *adu)
{
    const vd zero = {0};
    vd x = photons + adc_offset + 0.5;
    vl overload = x >= 65536.0;
    vih whole;
    vu16 narrow;
    x = vd_pick(overload, zero + 65535.0, x);
    x = vd_where(x > zero, x);
    whole = __builtin_convertvector(x, vih);
    narrow = __builtin_convertvector(whole, vu16);
    memcpy(adu, &narrow, sizeof narrow);
    return vl_bits(overload) ? __builtin_popcount(vl_bits(overload)) : 0;
}

/** nb_poisson of NB_TOGETHER vectors from first.pixel + offset on. */
static inline __attribute__((always_inline)) void nb_v_counts(const double *mean,
                                                              const nb_poisson_key *first,
                                                              uint64_t offset, vd *photons)
{
    const vd zero = {0};
    vul w[4 * NB_TOGETHER];
    vd u[NB_TOGETHER], small[NB_TOGETHER];
    vl large[NB_TOGETHER];
    if ((first->pixel >> 32) == ((first->pixel + NB_NOISE_BLOCK) >> 32))
        nb_v_philox_two(first, offset, NB_TOGETHER, w);
    else
        for (int i = 0; i < NB_TOGETHER; i++)
            nb_v_philox(first, offset + (uint64_t)(i * NB_H), 0, w + 4 * i);
    for (int i = 0; i < NB_TOGETHER; i++) {
        vd m;
        u[i] = nb_v_uniform52(w[4 * i], w[4 * i + 1]);
        memcpy(&m, mean + i * NB_H, sizeof m);
        small[i] = vd_where((m > zero) & (m < NB_POISSON_SMALL), m);
        large[i] = m >= NB_POISSON_SMALL;
    }
    nb_v_inversion(small, u, photons); /* mean 0 gives 0 */
    for (int i = 0; i < NB_TOGETHER; i++)
        if (vl_bits(large[i]))
            nb_v_large(mean + i * NB_H, first, offset + (uint64_t)(i * NB_H), &photons[i]);
}

/** `noise` of nb_image_kernels. */
static inline int nb_noise_block(const float *mean, const nb_poisson_key *first,
                                 double adc_offset, uint16_t *adu)
{
    double wider[NB_NOISE_BLOCK];
    int clipped = 0, lit = 0;
    for (int i = 0; i < NB_NOISE_BLOCK; i++)
        lit |= mean[i] > 0;
    if (!lit) { /* all counts are 0 for any random numbers */
        const vd none = {0};
        for (int i = 0; i < NB_NOISE_BLOCK; i += NB_H)
            clipped += nb_v_digitize(none, adc_offset, adu + i);
        return clipped;
    }
    for (int i = 0; i < NB_NOISE_BLOCK; i++)
        wider[i] = mean[i];
    for (int i = 0; i < NB_NOISE_BLOCK; i += NB_TOGETHER * NB_H) {
        vd photons[NB_TOGETHER];
        nb_v_counts(wider + i, first, (uint64_t)i, photons);
        for (int j = 0; j < NB_TOGETHER; j++)
            clipped += nb_v_digitize(photons[j], adc_offset, adu + i + j * NB_H);
    }
    return clipped;
}

/** `counts` of nb_image_kernels. */
static inline void nb_counts_block(const double *mean, const nb_poisson_key *first,
                                   double *photons)
{
    for (int i = 0; i < NB_NOISE_BLOCK; i += NB_TOGETHER * NB_H) {
        vd counts[NB_TOGETHER];
        nb_v_counts(mean + i, first, (uint64_t)i, counts);
        memcpy(photons + i, counts, sizeof counts);
    }
}

/* --- normal deviates, by the operations of nb_normal for each pixel --- */

/** Pixels of a block that still need a draw (open), and the values of the other
 * pixels. */
typedef struct nb_polar {
    double x[NB_NOISE_BLOCK], r2[NB_NOISE_BLOCK];
    uint8_t open[NB_NOISE_BLOCK + NB_H]; /* the last lanes are idle */
    int n_open;
} nb_polar;

/** Draw `nth` of NB_H open pixels from open[at] on. Pixels that need another draw
 * go to open[kept] on. Returns the new `kept`. */
static inline int nb_v_polar(nb_polar *p, const nb_poisson_key *first, uint32_t nth,
                             int at, int kept)
{
    const vd zero = {0}, one = zero + 1.0;
    int lanes = p->n_open - at < NB_H ? p->n_open - at : NB_H;
    uint8_t place[NB_H];
    vul pixel = {0}, w[4];
    vd x, y, r2;
    vl good;
    memcpy(place, p->open + at, sizeof place);
    for (int i = 0; i < NB_H; i++)
        pixel[i] = first->pixel + place[i];
    nb_v_philox_at(first, pixel, nth, w);
    x = nb_v_uniform52(w[0], w[1]);
    y = nb_v_uniform52(w[2], w[3]);
    x = 2.0 * x - 1.0;
    y = 2.0 * y - 1.0;
    r2 = x * x + y * y;
    good = (r2 > zero) & (r2 < one);
    for (int i = 0; i < lanes; i++) {
        p->x[place[i]] = x[i];
        p->r2[place[i]] = r2[i];
        p->open[kept] = place[i];
        kept += !good[i];
    }
    return kept;
}

/** `normals` of nb_image_kernels. */
static inline void nb_normal_block(const nb_poisson_key *first, uint32_t stream,
                                   double *deviate)
{
    nb_polar p;
    memset(p.open, 0, sizeof p.open);
    for (int i = 0; i < NB_NOISE_BLOCK; i++)
        p.open[i] = (uint8_t)i;
    p.n_open = NB_NOISE_BLOCK;
    for (uint32_t nth = stream << NB_STREAM_BITS; p.n_open; nth++) {
        int kept = 0;
        for (int at = 0; at < p.n_open; at += NB_H)
            kept = nb_v_polar(&p, first, nth, at, kept);
        p.n_open = kept;
    }
    for (int i = 0; i < NB_NOISE_BLOCK; i += NB_H) {
        vd x, r2;
        memcpy(&x, p.x + i, sizeof x);
        memcpy(&r2, p.r2 + i, sizeof r2);
        x = x * vd_sqrt(-2.0 * nb_v_exact_log(r2) / r2);
        memcpy(deviate + i, &x, sizeof x);
    }
}

#endif
