/* SPDX-License-Identifier: MIT */
/** ran1: the minimal-standard generator with a shuffle table that fixes nanoBragg's mosaic
 * domains (Park & Miller, CACM 31, 1192 (1988); Bays & Durham, TOMS 2, 59 (1976); the
 * combination as in Numerical Recipes in C, 2nd ed., section 7.1). */
#ifndef NB_BASE_RAN1_H
#define NB_BASE_RAN1_H

#include <stdint.h>

typedef struct nb_ran1 {
    int32_t seed; /* the LCG's state, > 0 */
    int32_t last; /* the shuffle's last output */
    int32_t table[32];
} nb_ran1;

/** Start the stream of a user's seed (0 and negative ones act as 1). */
void nb_ran1_seed(nb_ran1 *rng, int64_t seed);

/** Next deviate in (0, 1), single precision. */
float nb_ran1_next(nb_ran1 *rng);

#endif
