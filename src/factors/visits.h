/* SPDX-License-Identifier: MIT */
/** Which things meet which planes of a periodic grid. */
#ifndef NB_FACTORS_VISITS_H
#define NB_FACTORS_VISITS_H

#include <stddef.h>

#include "../nanobragg.h"

/** Thing `which` meets plane u, u not yet brought into the cell. */
typedef struct nb_visit {
    int which, u;
} nb_visit;

/** first[p]..first[p + 1] - 1: the visits of plane p, in the order of the things. */
typedef struct nb_visits {
    size_t *first;   /* owned; [planes + 1] */
    nb_visit *visit; /* owned */
} nb_visits;

/** The planes that a thing meets: from[0]..from[1], any whole numbers. */
typedef void nb_extent_fn(const void *things, size_t which, int from[2]);

/** Errors: NB_ERR_NOMEM. */
nb_status nb_visits_make(const void *things, size_t count, nb_extent_fn *extent,
                         int planes, nb_visits *out, nb_error *err);
void nb_visits_free(nb_visits *visits);

/** a modulo n, 0..n-1. */
static inline int nb_modulo(int a, int n)
{
    a %= n;
    return a < 0 ? a + n : a;
}

#endif
