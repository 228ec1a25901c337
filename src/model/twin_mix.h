/* SPDX-License-Identifier: MIT */
/** Parts of a twin whose lattices coincide: one scene whose F^2 is the mean of theirs.  docs/physics.md, section 8. */
#ifndef NB_MODEL_TWIN_MIX_H
#define NB_MODEL_TWIN_MIX_H

#include "scene_build.h"

/** F^2 of several parts of a twin together.  Shared: frames and crystals of the same F have the same. */
typedef struct nb_twin_mixed {
    nb_factor_table table; /* its F is owned */
    uint64_t key;          /* of what it was made of; 0: unknown */
} nb_twin_mixed;

/** Has the part the lattice of the first one, its points at T^-1 h, and the same peaks about them?  T: 9 numbers, row by
 * row. */
int nb_twin_coincides(const nb_model *first, const nb_model *part, const double T[9]);

/** Let the first scene have F^2 of itself and of the part, each by its share; nb_model_free frees it.  What it had alone is
 * first->alone.  *kept: what an earlier call made, or NULL; taken where it is the same, else replaced, if both tables have
 * a hash.  The caller's: nb_shared_drop.  Errors: NB_ERR_NOMEM. */
nb_status nb_twin_mix(nb_model *first, const nb_model *part, const double T[9],
                      nb_twin_mixed **kept, nb_error *err);

/** Let the first scene have its own F alone again. */
void nb_twin_part(nb_model *first);

#endif
