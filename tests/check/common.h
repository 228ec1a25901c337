/* SPDX-License-Identifier: MIT */
/** Common code of the checks of the vector renderer and of the CUDA backend: flags, images
 * between guard words, the acceptance table, the result. */
#ifndef NB_TESTS_CHECK_COMMON_H
#define NB_TESTS_CHECK_COMMON_H

#include <stdint.h>

#include "../golden/compare.h"
#include "cases.h"

typedef struct check_settings {
    uint64_t seed;
    int count, only, verbose, bench;
    const char *isa, *precision; /* NULL: all */
} check_settings;

/** 0: an unknown flag. --isa and --bench only if the program has them (with_isa). */
int check_parse(check_settings *o, int argc, char **argv, int with_isa);

/** True if this name is selected; filter NULL: all names. */
int check_wanted(const char *filter, const char *name);

/** The allowed difference of a precision from the reference, in nb_precision's order. */
enum { CHECK_PRECISIONS = 2 };
typedef struct check_tolerances {
    const char *name;
    double maxrel, rel6, sum, corr;
} check_tolerances;
extern const check_tolerances check_allowed[CHECK_PRECISIONS];

size_t check_pixels(const nb_scene *sc);
/** True if a renderer fills pixel i. */
int check_rendered(const nb_scene *sc, size_t i);

/** An image between guard words, filled with NaN. Ends the program without memory. */
typedef struct check_image {
    float *memory, *image; /* free(memory) */
    size_t n;
} check_image;
check_image check_image_new(size_t n);
int check_guards_intact(const check_image *g);

/** Keeps only the rendered pixels, in place. Returns their number, or -1 if a pixel that
 * is not rendered is not 0. */
long check_squeeze(const nb_scene *sc, float *image);

/** Compares n rendered pixels a with those of the reference b. Returns NULL or the
 * error. */
const char *check_judge(const float *a, const float *b, size_t n, const nb_scene *sc,
                        nb_precision precision, nb_comparison *c);
void check_remember_worst(nb_comparison *worst, const nb_comparison *c);

/** Reduces the pixels so that the reference is quick: at most `limit` steps; 0: no
 * limit. */
void check_shrink(nb_scene *sc, double limit);

#endif
