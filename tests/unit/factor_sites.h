/* SPDX-License-Identifier: MIT */
/** Random atoms and their sum term by term. */
#ifndef NB_TESTS_FACTOR_SITES_H
#define NB_TESTS_FACTOR_SITES_H

#include "../../src/factors/sums.h"
#include "factor_groups.h"

/** A site anywhere in the cell with B (A^2) in 5..5 + spread; one in three is
 * anisotropic. */
nb_site test_random_site(uint64_t *state, const double cell[6], double spread, size_t i);

/** re, im of the sum over sites and operators at each reflection, [2 n], with libm. */
void test_sum_terms(const nb_site *sites, size_t count, const nb_symmetry *sg,
                    const int (*hkl)[3], size_t n, double *P);

/** Root of the ratio of squares, and the largest difference over the rms of b; complex [2 n]. */
void test_differences(const double *a, const double *b, size_t n, double *rms,
                      double *max);

#endif
