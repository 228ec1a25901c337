/* SPDX-License-Identifier: MIT */
#include "philox.h"

enum { MODULUS = 2147483647, MULTIPLIER = 16807, WARM_UP = 8, TABLE = 32 };

static int32_t advance(int32_t seed)
{
    return (int32_t)((int64_t)seed * MULTIPLIER % MODULUS);
}

void nb_ran1_seed(nb_ran1 *rng, int64_t seed)
{
    rng->seed = seed > 1 ? (int32_t)(seed % MODULUS) : 1;
    if (rng->seed == 0)
        rng->seed = 1; /* a seed of zero would stay zero */
    for (int i = 0; i < WARM_UP; i++)
        rng->seed = advance(rng->seed);
    for (int i = TABLE - 1; i >= 0; i--)
        rng->table[i] = rng->seed = advance(rng->seed);
    rng->last = rng->table[0];
}

float nb_ran1_next(nb_ran1 *rng)
{
    const float largest = (float)(1.0 - 1.2e-7);
    int slot;
    float value;
    rng->seed = advance(rng->seed);
    slot = rng->last / (1 + (MODULUS - 1) / TABLE);
    rng->last = rng->table[slot];
    rng->table[slot] = rng->seed;
    value = (float)(rng->last * (1.0 / MODULUS));
    return value > largest ? largest : value;
}
