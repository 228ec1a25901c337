/* SPDX-License-Identifier: MIT */
/** Poisson deviates of 64 neighbouring pixels, written so that the compiler turns every loop
 * into vector instructions: the same operations as nb_poisson, pixel by pixel, hence the same
 * integers.  noise_block*.c compile it once for each instruction set. */
#ifndef NB_EFFECTS_NOISE_BLOCK_H
#define NB_EFFECTS_NOISE_BLOCK_H

#include "poisson.h"

#ifdef NB_HAVE_RANDOM123

#ifdef _OPENMP
#define NB_SIMD(clauses) _Pragma(clauses)
#else
#define NB_SIMD(clauses)
#endif

enum { NB_NOISE_BLOCK = 64 };

/** Fill adu[64] for the pixels first.pixel ... first.pixel + 63 with these means; returns how many
 * were clipped. */
typedef int nb_noise_block_fn(const float *mean, const nb_poisson_key *first,
                              double adc_offset, uint16_t *adu);

nb_noise_block_fn nb_noise_block_base;
#ifdef __x86_64__
nb_noise_block_fn nb_noise_block_avx2, nb_noise_block_avx512;
#endif

/** u[i]: the first uniform deviate of pixel i. */
static inline void nb_block_uniforms(const nb_poisson_key *first, double *restrict u)
{
    NB_SIMD("omp simd")
    for (int i = 0; i < NB_NOISE_BLOCK; i++) {
        nb_philox_words r =
            nb_philox(first->seed, first->pixel + (uint64_t)i, first->frame, 0);
        u[i] = nb_uniform52(r.w[0], r.w[1]);
    }
}

/** As nb_poisson_inversion; u[i] = 0 finds 0 at once. */
static inline void nb_block_inversion(const double *restrict mean,
                                      const double *restrict u, double *restrict photons)
{
    double p[NB_NOISE_BLOCK], sum[NB_NOISE_BLOCK];
    int open = 0;
    NB_SIMD("omp simd reduction(| : open)")
    for (int i = 0; i < NB_NOISE_BLOCK; i++) {
        p[i] = sum[i] = nb_exact_exp(-mean[i]);
        photons[i] = 0;
        open |= u[i] > sum[i];
    }
    for (int k = 1; open && k <= NB_POISSON_LONGEST; k++) {
        double inverse = 1.0 / k;
        open = 0;
        NB_SIMD("omp simd reduction(| : open)")
        for (int i = 0; i < NB_NOISE_BLOCK; i++) {
            photons[i] += u[i] > sum[i] ? 1.0 : 0.0;
            p[i] = p[i] * (mean[i] * inverse);
            sum[i] += p[i];
            open |= u[i] > sum[i];
        }
    }
}

static inline int nb_block_digitize(const double *restrict photons, double adc_offset,
                                    uint16_t *restrict adu)
{
    int clipped = 0;
    NB_SIMD("omp simd reduction(+ : clipped)")
    for (int i = 0; i < NB_NOISE_BLOCK; i++) {
        int overload;
        adu[i] = nb_noise_adu(photons[i], adc_offset, &overload);
        clipped += overload;
    }
    return clipped;
}

static inline int nb_noise_block(const float *mean, const nb_poisson_key *first,
                                 double adc_offset, uint16_t *adu)
{
    double small[NB_NOISE_BLOCK], u[NB_NOISE_BLOCK], photons[NB_NOISE_BLOCK];
    int any = 0, large = 0;
    NB_SIMD("omp simd reduction(| : any, large)")
    for (int i = 0; i < NB_NOISE_BLOCK; i++) {
        int is_small = mean[i] > 0 && mean[i] < NB_POISSON_SMALL;
        small[i] = is_small ? (double)mean[i] : 0.0;
        photons[i] = 0;
        any |= is_small;
        large |= mean[i] >= NB_POISSON_SMALL;
    }
    if (any) {
        nb_block_uniforms(first, u);
        nb_block_inversion(small, u, photons); /* e^0 = 1 > u: mean 0 gives 0 */
    }
    for (int i = 0; large && i < NB_NOISE_BLOCK; i++) {
        if (mean[i] >= NB_POISSON_SMALL) {
            nb_poisson_key key = *first;
            key.pixel += (uint64_t)i;
            photons[i] = nb_poisson(mean[i], &key);
        }
    }
    return nb_block_digitize(photons, adc_offset, adu);
}

#endif
#endif
