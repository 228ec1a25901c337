/* SPDX-License-Identifier: MIT */
/** Numbers of pixels through the point spread of a simulation.  Its kernel is even, and no light comes from beyond a
 * panel's edge, so that the same sum is its adjoint. */
#ifndef NB_API_DERIVE_SPREAD_H
#define NB_API_DERIVE_SPREAD_H

#include "../image/stages.h"
#include "sim.h"

/** Is there a point spread?  *psf: its stage. */
int nb_sim_has_spread(const nb_sim *sim, nb_stage *psf);

/** values[pixels of the stack], those of the region, through the spread, to the digits of doubles.  Errors:
 * NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (nb_light_make). */
nb_status nb_sim_spread_values(const nb_sim *sim, const nb_stage *psf, double *values,
                               nb_error *err);

/** What the spread makes of the slopes of a loss by the pixels behind it: those by the pixels before it, [pixels], 0
 * outside of the region and the mask.  *out: nb_free.  Errors as above. */
nb_status nb_sim_spread_loss(const nb_sim *sim, const nb_stage *psf, nb_real_type type,
                             const void *dloss, double **out, nb_error *err);

#endif
