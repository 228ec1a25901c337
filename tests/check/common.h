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
    int count, only, verbose;
    const char *isa, *precision; /* NULL: all */
} check_settings;

/** Returns 0 for an unknown flag. with_isa: the program has the flag --isa. */
int check_parse(check_settings *o, int argc, char **argv, int with_isa);

/** True if the filter selects this name; filter NULL selects all names. */
int check_wanted(const char *filter, const char *name);

/** Allowed differences of each precision from the reference, in nb_precision's order. */
enum { CHECK_PRECISIONS = 2 };
typedef struct check_tolerances {
    const char *name;
    double maxrel, rel6, sum, corr;
} check_tolerances;
extern const check_tolerances check_allowed[CHECK_PRECISIONS];

size_t check_pixels(const nb_scene *sc);
/** True if a renderer fills pixel i. */
int check_rendered(const nb_scene *sc, size_t i);

/** An image between guard words, filled with NaN. Lack of memory ends the program. */
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

/** Makes the region of interest smaller, so that the reference needs `limit` steps or
 * fewer (at least one pixel remains). 0 means no limit. */
void check_shrink(nb_scene *sc, double limit);

#endif
