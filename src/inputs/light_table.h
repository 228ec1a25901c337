/* SPDX-License-Identifier: MIT */
/** Tables of diffuse light that simulations of the same files share, and the F that they are made of. */
#ifndef NB_INPUTS_LIGHT_TABLE_H
#define NB_INPUTS_LIGHT_TABLE_H

#include "../light/diffuse_table.h"
#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "inputs.h"

/** Give the table of a source, which is made where the store has none.  *table is held.  Errors: as
 * nb_diffuse_table_new. */
nb_status nb_light_table_take(const nb_inputs *in, const nb_diffuse_source *source,
                              const nb_diffuse_table **table, nb_error *err);

/** |q| (1/A) for a table of a crystal: a little more than the detector sees and -dmin leaves, rounded so that frames
 * share tables. */
double nb_light_reach(const nb_model *crystal);

/** Let a source have F of |q| <= its reach alone, so that they do not depend on what other frames of a series see: its
 * factors become *room, with F[its voxels], to be freed, else NULL. lattice (A, deg): of its indices; lattice[0] = 0: it has
 * F of every index that there is.  Errors: NB_ERR_NOMEM. */
nb_status nb_light_clip(nb_diffuse_source *source, const double lattice[6],
                        nb_factor_table *room, double **F, nb_error *err);
#endif
