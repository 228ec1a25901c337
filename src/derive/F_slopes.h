/* SPDX-License-Identifier: MIT */
/** Of which entries of the table of F a sample's F is made. */
#ifndef NB_DERIVE_F_SLOPES_H
#define NB_DERIVE_F_SLOPES_H

#include "../physics/slopes.h"

/** The weight of entry `at` of the table in F. */
NB_HD double nb_F_share(const nb_factor_table *sf, const nb_F_slope *F, int64_t at)
{
    int64_t first = F->entry, i, j, m;
    if (!F->interpolated)
        return at >= 0 && at == first ? 1 : 0;
    if (at < first)
        return 0;
    m = (at - first) % sf->nl;
    j = (at - first) / sf->nl % sf->nk;
    i = (at - first) / sf->nl / sf->nk;
    return i < 4 && j < 4 && m < 4 ? F->w[0][i] * F->w[1][j] * F->w[2][m] : 0;
}

/** The weight of all that is default_F, outside of the n-th table and in it. */
NB_HD double nb_F_share_of_default(const nb_factor_table *sf, int n, const nb_F_slope *F)
{
    const double *table = sf->nh > 0 ? nb_table_at(sf, n) : NULL;
    double share = 0;
    if (F->entry < 0)
        return 1;
    if (!F->interpolated)
        return table[F->entry] == sf->default_F ? 1 : 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int m = 0; m < 4; m++)
                if (table[F->entry + ((int64_t)i * sf->nk + j) * sf->nl + m] ==
                    sf->default_F)
                    share += F->w[0][i] * F->w[1][j] * F->w[2][m];
    return share;
}

#endif
