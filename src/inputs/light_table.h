/* SPDX-License-Identifier: MIT */
/** Tables of diffuse light, shared by simulations of the same files, and their F. */
#ifndef NB_INPUTS_LIGHT_TABLE_H
#define NB_INPUTS_LIGHT_TABLE_H

#include "../light/diffuse_table.h"
#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "inputs.h"

/** Take the table of a source from the store, or make it.  *table is held.  Errors: as
 * nb_diffuse_table_new. */
nb_status nb_light_table_take(const nb_inputs *in, const nb_diffuse_source *source,
                              const nb_diffuse_table **table, nb_error *err);

/** |q| (1/A) for a table of a crystal: a little more than the detector sees and -dmin
 * leaves, rounded so that frames share tables. */
double nb_light_reach(const nb_model *crystal);

/** Clip F of a source to |q| <= its reach, for equal F in all frames of a series: factors
 * become *room, with F[voxels] to be freed.  lattice: cell of the indices, A, deg; if
 * lattice[0] is 0, *F is NULL: the source has F of all indices.  Errors: NB_ERR_NOMEM. */
nb_status nb_light_clip(nb_diffuse_source *source, const double lattice[6],
                        nb_factor_table *room, double **F, nb_error *err);
#endif
