/* SPDX-License-Identifier: MIT */
/** Philox4x32-10: 128 random bits as a pure function of a seed and a counter (Salmon,
 * Moraes, Dror & Shaw, SC11, doi:10.1145/2063384.2063405; the Random123 headers). Host
 * and device get the same bits. */
#ifndef NB_BASE_PHILOX_H
#define NB_BASE_PHILOX_H

#include <Random123/philox.h>
#include <stdint.h>
#include <string.h>

#include "coefficients.h"

#ifdef NB_GPU
#define NB_PHILOX_HD static __host__ __device__ inline
#else
#define NB_PHILOX_HD static inline
#endif

typedef struct nb_philox_words {
    uint32_t w[4];
} nb_philox_words;

/** Four random words for (seed; item, stream, draw), e.g. (pixel, frame, nth draw). */
NB_PHILOX_HD nb_philox_words nb_philox(uint64_t seed, uint64_t item, uint32_t stream,
                                       uint32_t draw)
{
    philox4x32_ctr_t counter;
    philox4x32_key_t key;
    nb_philox_words out;
    int i;
    counter.v[0] = (uint32_t)item;
    counter.v[1] = (uint32_t)(item >> 32);
    counter.v[2] = stream;
    counter.v[3] = draw;
    key.v[0] = (uint32_t)seed;
    key.v[1] = (uint32_t)(seed >> 32);
    counter = philox4x32(counter, key);
    for (i = 0; i < 4; i++)
        out.w[i] = counter.v[i];
    return out;
}

/** Uniform in (0, 1), both ends excluded: exactly (n + 1/2) / 2^52 for 52 random bits n.
 * The bits become the fraction of a number in [1, 2); no conversion is needed. */
NB_PHILOX_HD double nb_uniform52(uint32_t high, uint32_t low)
{
    uint64_t bits = NB_ONE_BITS | (uint64_t)high << 20 | low >> 12;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x - (1.0 - 0.5 / NB_TWO_52);
}

/* ran1: the minimal-standard generator with a shuffle table, for nanoBragg's mosaic
 * domains (Park & Miller, CACM 31, 1192 (1988); Bays & Durham, TOMS 2, 59 (1976);
 * combined as in Numerical Recipes in C, 2nd ed., section 7.1). */

typedef struct nb_ran1 {
    int32_t seed; /* state of the linear congruential generator, > 0 */
    int32_t last; /* the shuffle's last output */
    int32_t table[32];
} nb_ran1;

/** Start the stream of a user's seed (0 and negative seeds act as 1). */
void nb_ran1_seed(nb_ran1 *rng, int64_t seed);

/** Next deviate in (0, 1), single precision. */
float nb_ran1_next(nb_ran1 *rng);

#endif
