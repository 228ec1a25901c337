/* SPDX-License-Identifier: MIT */
/** Sums over atoms one by one. */
#ifndef NB_FACTORS_DIRECT_H
#define NB_FACTORS_DIRECT_H

#include "sites.h"
#include "symmetry.h"

/** Reflections to sum at. */
typedef struct nb_hkl_list {
    const int (*hkl)[3]; /* in rows of l */
    size_t n;
    double s2_limit; /* of the list, 1/A^2 */
} nb_hkl_list;

/** Method and place of a sum over sites. */
typedef struct nb_sum_job {
    const nb_sum_operators *operators;
    nb_hkl_list list;
    const double *cell; /* A, deg */
    double dmin;        /* A */
    int threads;
    nb_isa isa;
    int only_grid; /* nb_density_sum puts every possible site on the grid, also where it is slower */
} nb_sum_job;

/** Add S(h) = sum over sites and operators of q T(h R) exp(2 pi i (h R x + h t)) to S, [2 n].
 * Errors: NB_ERR_NOMEM. */
nb_status nb_direct_sum(const nb_site *sites, size_t count, const nb_sum_job *job,
                        double *S, nb_error *err);

#endif
