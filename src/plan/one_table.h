/* SPDX-License-Identifier: MIT */
/** Do the sources of a beam need more than one table of F? */
#ifndef NB_PLAN_ONE_TABLE_H
#define NB_PLAN_ONE_TABLE_H

#include "../physics/scene.h"

/** All sources have the table of the first. */
static inline int nb_one_table(const nb_beam *beam)
{
    for (int i = 1; i < beam->n_sources; i++)
        if (beam->sources[i].table != beam->sources[0].table)
            return 0;
    return 1;
}

#endif
