/* SPDX-License-Identifier: MIT */
/** Space groups for tests: products of a few generators give all operators. */
#ifndef NB_TESTS_FACTOR_GROUPS_H
#define NB_TESTS_FACTOR_GROUPS_H

#include "../../src/io/structure/gemmi.h"

/** A group and a cell that fits the group. */
typedef struct test_group {
    const char *name;
    const char *generators; /* "-x,y+1/2,-z; ..." */
    double cell[6];
} test_group;

extern const test_group test_groups[];
extern const int test_group_count;

/** All operators that the generators give; more than NB_SYMOPS_MAX fail the test. */
nb_symmetry test_group_close(const test_group *group);

/** Random number, uniform in 0..1; the caller keeps *state. */
double test_random(uint64_t *state);

#endif
