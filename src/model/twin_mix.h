/* SPDX-License-Identifier: MIT */
/** Parts of a twin whose lattices coincide: one scene whose F^2 is the mean of theirs.  docs/physics.md, section 8. */
#ifndef NB_MODEL_TWIN_MIX_H
#define NB_MODEL_TWIN_MIX_H

#include "scene_build.h"

/** Has the part the lattice of the first one, its points at T^-1 h, and the same peaks about them?  T: 9 numbers, row by
 * row. */
int nb_twin_coincides(const nb_model *first, const nb_model *part, const double T[9]);

/** Let the first scene have F^2 of itself and of the part, each by its share; nb_model_free frees it.  What it had alone is
 * first->alone.  Errors: NB_ERR_NOMEM. */
nb_status nb_twin_mix(nb_model *first, const nb_model *part, const double T[9],
                      nb_error *err);

/** Let the first scene have its own F alone again. */
void nb_twin_part(nb_model *first);

#endif
