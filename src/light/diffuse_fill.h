/* SPDX-License-Identifier: MIT */
/** The coefficients of one form's table: every order by a lattice sum on a grid as coarse as its halos allow. Where the
 * sums of the lattice need too much memory, kernels are split at a distance: the soft part is summed on a coarser lattice,
 * what is left ends at that distance and is summed block by block. */
#ifndef NB_LIGHT_DIFFUSE_FILL_H
#define NB_LIGHT_DIFFUSE_FILL_H

#include "diffuse_table.h"
#include "lattice_sum.h"

/** Fill part->c.  sources: I0 of the table's box; room: bytes beside the tables.  Errors: NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED without FFTW. */
nb_status nb_diffuse_fill(const nb_diffuse_table *table, const nb_lattice_source *sources,
                          double room, int threads, nb_diffuse_part *part, nb_error *err);

#endif
