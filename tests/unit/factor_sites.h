/* SPDX-License-Identifier: MIT */
/** Random atoms, and their structure factors summed term by term. */
#ifndef NB_TESTS_FACTOR_SITES_H
#define NB_TESTS_FACTOR_SITES_H

#include "../../src/factors/sums.h"
#include "factor_groups.h"

/** Site i anywhere in the cell, with B (A^2) from 5 to 5 + spread; one site in three is
 * anisotropic. */
nb_site test_random_site(uint64_t *state, const double cell[6], double spread, size_t i);

/** Sum over sites and operators, by libm: re, im for each of n reflections, [2 n]. */
void test_sum_terms(const nb_site *sites, size_t count, const nb_symmetry *sg,
                    const int (*hkl)[3], size_t n, double *P);

/** Sets *rms and *max to the r.m.s. and the largest |a - b|, both divided by the r.m.s.
 * of b. a and b hold n complex numbers, [2 n]. */
void test_differences(const double *a, const double *b, size_t n, double *rms,
                      double *max);

#endif
