/* SPDX-License-Identifier: MIT */
/** Poisson deviates of 64 neighbouring pixels, several at a time: the same operations as
 * nb_poisson, pixel by pixel, hence the same integers.  kernels_*.c compile it once for each
 * instruction set. */
#ifndef NB_EFFECTS_NOISE_BLOCK_H
#define NB_EFFECTS_NOISE_BLOCK_H

#include "poisson.h"
#include "vector.h"

#ifdef NB_HAVE_RANDOM123

enum { NB_NOISE_BLOCK = 64 };

/** Fill adu[64] for the pixels first.pixel ... first.pixel + 63 with these means; returns how many
 * were clipped. */
typedef int nb_noise_block_fn(const float *mean, const nb_poisson_key *first,
                              double adc_offset, uint16_t *adu);

nb_noise_block_fn nb_noise_block_base;
#ifdef __x86_64__
nb_noise_block_fn nb_noise_block_avx2, nb_noise_block_avx512;
#endif

/** nb_philox of the pixels first.pixel + offset, offset + 1, ... for `vectors` vectors of them;
 * w[4 * i] ... w[4 * i + 3] are the words of vector i, in the low 32 bits of each lane.  Several
 * at once, because one is a long chain of operations. */
static inline void nb_v_philox(const nb_poisson_key *first, uint64_t offset, int vectors,
                               nb_vu *w)
{
    uint32_t k0 = (uint32_t)first->seed, k1 = (uint32_t)(first->seed >> 32);
    const nb_vu zero = {0};
    nb_vu lane = zero;
    for (unsigned i = 0; i < NB_LANES; i++)
        lane[i] = i;
    for (int i = 0; i < vectors; i++) {
        w[4 * i] = lane + (first->pixel + offset + (uint64_t)(i * NB_LANES));
        w[4 * i + 1] = w[4 * i] >> 32;
        w[4 * i + 2] = zero + first->frame;
        w[4 * i + 3] = zero;
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < vectors; i++) {
            nb_vu *c = w + 4 * i, p0, p1;
            nb_v_mul32(&c[0], PHILOX_M4x32_0, &p0);
            nb_v_mul32(&c[2], PHILOX_M4x32_1, &p1);
            c[0] = (p1 >> 32) ^ c[1] ^ k0;
            c[1] = p1;
            c[2] = (p0 >> 32) ^ c[3] ^ k1;
            c[3] = p0;
        }
        k0 += PHILOX_W32_0;
        k1 += PHILOX_W32_1;
    }
}

/** nb_uniform52 of the low halves. */
static inline void nb_v_uniform52(const nb_vu *high, const nb_vu *low, nb_vd *u)
{
    nb_vu bits =
        0x3ff0000000000000u | (*high & 0xffffffffu) << 20 | (*low & 0xffffffffu) >> 12;
    *u = (nb_vd)bits - (1.0 - 0.5 / 4503599627370496.0);
}

/** nb_exact_exp. */
static inline void nb_v_exact_exp(const nb_vd *of, nb_vd *power)
{
    nb_vd x = *of, shifted = x * 1.44269504088896340736 + 6755399441055744.0;
    nb_vd n = shifted - 6755399441055744.0;
    nb_vd r = (x - n * NB_LN2_HIGH) - n * NB_LN2_LOW;
    nb_vd r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    nb_vd a = (0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    nb_vd b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    nb_vd c = (1.0 / 3628800 + r * (1.0 / 39916800)) +
              r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
    nb_vd tail = r2 * ((a + r4 * b) + r8 * c);
    nb_vu bits = ((nb_vu)shifted << 52) + 0x3ff0000000000000u;
    *power = (1.0 + (r + tail)) * (nb_vd)bits;
}

/** nb_poisson_inversion.  Most pixels of most images are empty, and stay so without e^-mean:
 * it is at least 1 - mean. */
static inline void nb_v_inversion(const nb_vd *mean, const nb_vd *u, nb_vd *photons)
{
    nb_vd p, sum, count = {0}, one = count + 1.0;
    nb_vi open = *u > (1.0 - *mean) - 1e-12;
    if (nb_v_bits(&open)) {
        nb_vd minus = -*mean;
        nb_v_exact_exp(&minus, &p);
        sum = p;
        open = *u > sum;
        for (int k = 1; k <= NB_POISSON_LONGEST && nb_v_bits(&open); k++) {
            count += NB_V_WHERE(open, one);
            p = p * (*mean * (1.0 / k));
            sum += p;
            open = *u > sum;
        }
    }
    *photons = count;
}

/** nb_poisson_rejection as far as its first pair of deviates, for lanes of NB_POISSON_SMALL to
 * NB_POISSON_HUGE; returns the lanes which that decides without the second test, six of seven. */
static inline void nb_v_rejection(const nb_vd *mean, const nb_vu *w, nb_vd *photons,
                                  nb_vi *certain)
{
    const nb_vd zero = {0};
    nb_vd root, b, a, v_certain, u, v, us, x, k;
    nb_v_sqrt(mean, &root);
    b = 0.931 + 2.53 * root;
    a = -0.059 + 0.02483 * b;
    v_certain = 0.9277 - 3.6224 / (b - 2.0);
    nb_v_uniform52(&w[0], &w[1], &u);
    nb_v_uniform52(&w[2], &w[3], &v);
    u -= 0.5;
    us = 0.5 - NB_V_CHOOSE(u < zero, -u, u);
    x = (2.0 * a / us + b) * u + *mean + 0.43;
    k = (x + 6755399441055744.0) - 6755399441055744.0; /* nearest, then down: floor */
    k -= NB_V_WHERE(k > x, zero + 1.0);
    *photons = k;
    *certain = (us >= 0.07) & (v <= v_certain);
}

/** The lanes of NB_POISSON_SMALL and more. */
static inline void nb_v_large(const float *mean, const nb_poisson_key *first,
                              uint64_t offset, nb_vd *photons)
{
    const nb_vd zero = {0};
    nb_vf narrow;
    nb_vd m, quick;
    nb_vi large, done;
    nb_vu w[4];
    nb_v_load(mean, &narrow);
    m = __builtin_convertvector(narrow, nb_vd);
    large = m >= NB_POISSON_SMALL;
    nb_v_philox(first, offset, 1, w);
    done = large & (m <= NB_POISSON_HUGE);
    m = NB_V_CHOOSE(done, m, zero + 100.0); /* a tame number elsewhere */
    {
        nb_vi certain;
        nb_v_rejection(&m, w, &quick, &certain);
        done &= certain;
    }
    *photons = NB_V_CHOOSE(done, quick, *photons);
    large &= ~done;
    for (int i = 0; i < NB_LANES && nb_v_bits(&large); i++) {
        if (large[i]) {
            nb_poisson_key key = *first;
            key.pixel += offset + (uint64_t)i;
            (*photons)[i] = nb_poisson(mean[i], &key);
        }
    }
}

/** nb_noise_adu; returns how many lanes were clipped. */
static inline int nb_v_digitize(const nb_vd *photons, double adc_offset, uint16_t *adu)
{
    const nb_vd zero = {0};
    nb_vd x = *photons + adc_offset + 0.5;
    nb_vi overload = x >= 65536.0;
    nb_vw whole;
    nb_vh narrow;
    x = NB_V_CHOOSE(overload, zero + 65535.0, x);
    x = NB_V_WHERE(x > zero, x);
    whole = __builtin_convertvector(x, nb_vw);
    narrow = __builtin_convertvector(whole, nb_vh);
    memcpy(adu, &narrow, sizeof narrow);
    return __builtin_popcount(nb_v_bits(&overload));
}

static inline int nb_noise_block(const float *mean, const nb_poisson_key *first,
                                 double adc_offset, uint16_t *adu)
{
    enum { TOGETHER = NB_LANES >= 8 ? 4 : 2 }; /* as the registers allow */
    const nb_vd zero = {0};
    nb_vd u[NB_NOISE_BLOCK / NB_LANES];
    int clipped = 0;
    for (int i = 0; i < NB_NOISE_BLOCK / NB_LANES; i += TOGETHER) {
        nb_vu w[4 * TOGETHER];
        nb_v_philox(first, (uint64_t)i * NB_LANES, TOGETHER, w);
        for (int j = 0; j < TOGETHER; j++)
            nb_v_uniform52(&w[4 * j], &w[4 * j + 1], &u[i + j]);
    }
    for (int i = 0; i < NB_NOISE_BLOCK; i += NB_LANES) {
        nb_vf narrow;
        nb_vd m, small, photons;
        nb_vi large;
        nb_v_load(mean + i, &narrow);
        m = __builtin_convertvector(narrow, nb_vd);
        small = NB_V_WHERE((m > zero) & (m < NB_POISSON_SMALL), m);
        large = m >= NB_POISSON_SMALL;
        nb_v_inversion(&small, &u[i / NB_LANES], &photons); /* mean 0 gives 0 */
        if (nb_v_bits(&large))
            nb_v_large(mean + i, first, (uint64_t)i, &photons);
        clipped += nb_v_digitize(&photons, adc_offset, adu + i);
    }
    return clipped;
}

#endif
#endif
