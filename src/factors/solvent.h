/* SPDX-License-Identifier: MIT */
/** The bulk solvent of a model. Jiang & Brunger, J. Mol. Biol. 243, 100 (1994); the grid is fixed, so
 * that the mask is reproducible (docs/physics.md). */
#ifndef NB_FACTORS_SOLVENT_H
#define NB_FACTORS_SOLVENT_H

#include "sites.h"

/** M(h) = V/N sum over points of solvent exp(2 pi i h x) of out->hkl: sets M, solvent_fraction and
 * solvent_grid of *out, whose cell, symmetry and reflections are there.  Errors: NB_ERR_NOMEM. */
nb_status nb_solvent_sum(const nb_sites *sites, nb_partials *out, int threads,
                         nb_error *err);

#endif
