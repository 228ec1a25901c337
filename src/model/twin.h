/* SPDX-License-Identifier: MIT */
/** Twins: a crystal whose parts have turned lattices.  docs/physics.md, section 8. */
#ifndef NB_MODEL_TWIN_H
#define NB_MODEL_TWIN_H

#include "crystal.h"

enum { NB_TWIN_MOST = 8 /* laws */ };

/** -twin, taken apart: laws that change nothing, and those of no part, are left out. */
typedef struct nb_twin {
    int n;
    double T[NB_TWIN_MOST][9]; /* inverse of each law, on columns h k l, row by row */
    double x[NB_TWIN_MOST];    /* part of the crystal, above 0 */
} nb_twin;

/** Read "law:x[;law:x]", as "k,h,-l:0.3"; "": no law.  Errors: NB_ERR_INPUT (no law, |det| not 1, parts that add to 1
 * or more). */
nb_status nb_twin_read(const char *text, nb_twin *out, nb_error *err);

/** The part of the crystal that has lattice i: 0 the first, else that of law i - 1. */
double nb_twin_share(const nb_twin *twin, int i);

/** Give the crystal lattice i: by the orthogonal matrix nearest to that of T.  Returns the largest angle (rad) between a
 * turned direction and that of T: its obliquity. */
double nb_twin_turn(const nb_twin *twin, int i, nb_crystal *crystal);

#endif
