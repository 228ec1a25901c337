/* SPDX-License-Identifier: MIT */
/** The largest F^2 around each reflection (tiles.h), for host and device. */
#ifndef NB_PLAN_TILE_FACTORS_H
#define NB_PLAN_TILE_FACTORS_H

#include "../physics/structure_factor.h"
#include "tiles.h"

#define NB_TILE_PAIR_UP (1 + 1e-6)

/** Largest F^2 of all tables at a place of the box, relative to 1/per_unit; times NB_TILE_PAIR_UP
 * to round up. */
NB_HD float nb_tile_square(const nb_factor_table *sf, const nb_tile_factors *f,
                           const int at[3], double per_unit)
{
    const int tables = sf->n_tables > 1 ? sf->n_tables : 1;
    double most = 0;
    for (int t = 0; t < tables; t++) {
        double F = sf->nh > 0 ? nb_F_nearest(sf, t, f->low[0] + at[0], f->low[1] + at[1],
                                             f->low[2] + at[2])
                              : sf->default_F;
        most = fmax(most, F * F);
    }
    return (float)(most * per_unit * NB_TILE_PAIR_UP);
}

#endif
