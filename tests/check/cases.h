/* SPDX-License-Identifier: MIT */
/** Configurations for comparisons of backends: random configurations from a seed, and
 * extreme configurations written by hand. */
#ifndef NB_TESTS_CHECK_CASES_H
#define NB_TESTS_CHECK_CASES_H

#include <stdint.h>
#include <stdio.h>

#include "model/scene_build.h"

/** A configuration with the contents of its files; owns both. */
typedef struct check_case {
    char name[80];
    nb_config cfg;
    nb_model_inputs inputs; /* points into the arrays below */
    double *F;
    nb_source_line *sources;
    int *table_of_source;
    uint8_t *mask;
    struct check_scan *scan;         /* a crystal that changes along its frame */
    nb_detector_spec detector;       /* panels of cfg.detector, if not NULL */
    void (*finish)(nb_model *model); /* NULL, or sets members without a parameter */
    /* limit of pixels x steps x layers of random cases */
    double steps_limit;
} check_case;

/** Deterministic random numbers (splitmix64), so that a case can be repeated. */
typedef struct check_rng {
    uint64_t state;
} check_rng;
double check_uniform(check_rng *rng, double low, double high);
int check_below(check_rng *rng, int n); /* a random integer from 0 to n - 1 */

/** Makes random case `index` of `seed`, with any options; the case may be invalid. */
void check_random_case(check_case *c, uint64_t seed, int index);

/** Makes extreme case i; returns 0 after the last case. */
int check_cruel_case(check_case *c, int i);

/** Fills a table of F for the indices low to low + count - 1; one F in eight is 0. */
void check_fill_table(check_case *c, check_rng *rng, const int low[3], const int count[3]);

/** Makes the crystal change along the frame: the reciprocal axes by about the fraction
 * `part`, the setting of the goniometer by about `part` rad. */
void check_vary(check_case *c, check_rng *rng, double part);

void check_free_case(check_case *c);

/** Prints the case as parameters by name; contents of files are in angle brackets. */
void check_print_case(FILE *out, const check_case *c);

#endif
