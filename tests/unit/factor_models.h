/* SPDX-License-Identifier: MIT */
/** Models of random atoms for tests; every failure fails the test. */
#ifndef NB_TESTS_FACTOR_MODELS_H
#define NB_TESTS_FACTOR_MODELS_H

#include "../../src/factors/model.h"
#include "../../src/factors/factors.h"
#include "factor_groups.h"
#include "factor_sites.h"

typedef struct test_model {
    nb_structure structure; /* owns the atoms */
    nb_model_options options;
    int notices; /* number of notices of the last sum */
    char last[256];
} test_model;

/** Makes a model of random C, N and S atoms; one atom in three is anisotropic. Options:
 * dmin 2 A, no solvent, one thread, direct sum. */
test_model test_model_make(const test_group *group, int atoms, uint64_t seed);
void test_model_free(test_model *m);
/** Model of the atoms first to first + count - 1. */
test_model test_model_part(const test_model *m, size_t first, size_t count);
/** Model in P1 in which every symmetry image of an atom is an atom. */
test_model test_model_expand(const test_model *m);
void test_model_shift(test_model *m, const double x0[3]);
double test_cell_volume(const test_model *m);

nb_partials test_model_sum(test_model *m);
/** Grid of F and phases for these partial sums. */
nb_factor_grid test_grid_for(const nb_partials *p);
/** Sums the model and combines the sums. */
nb_factor_grid test_model_grid(test_model *m, const nb_anomalous *f);

#endif
