/* SPDX-License-Identifier: MIT */
/** Random structure factors for the programs that time. */
#ifndef NB_TESTS_BENCH_RANDOM_TABLE_H
#define NB_TESTS_BENCH_RANDOM_TABLE_H

#include <stdlib.h>

#include "physics/scene.h"

/** Random amplitudes over a box that covers the image, 8e6 reflections; free() what is returned.  NULL: no memory. */
static inline double *nb_random_table(nb_factor_table *sf)
{
    enum { BOX = 100 };
    const int n = 2 * BOX + 1;
    const size_t count = (size_t)n * n * n;
    double *F = malloc(count * sizeof *F);
    uint64_t z = 88172645463325252u;
    for (size_t i = 0; F && i < count; i++) {
        z ^= z << 13;
        z ^= z >> 7;
        z ^= z << 17;
        F[i] = 200.0 * (double)(z >> 11) * 0x1p-53;
    }
    sf->hmin = sf->kmin = sf->lmin = -BOX;
    sf->nh = sf->nk = sf->nl = n;
    sf->F = F;
    return F;
}

#endif
