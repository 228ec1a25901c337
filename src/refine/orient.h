/* SPDX-License-Identifier: MIT */
/** Orientations about the present one whose pictures are like the observed one. */
#ifndef NB_REFINE_ORIENT_H
#define NB_REFINE_ORIENT_H

#include "fit.h"

/** A turn by a rotation vector about the lab axes, deg, and how well it fits. */
typedef struct nb_turn_tried {
    double by[3], correlation;
} nb_turn_tried;

/** The `wanted` best turns of the simulation's crystal, the best one first; *found of them, well apart.  It is for blurred
 * crystals (NB_ORIENT_STEP).  Only axes whose rotation is refined are turned about, within their bounds.  The simulation is
 * as before.  Errors: NB_ERR_NOMEM, those of a render. */
nb_status nb_fit_orient(nb_fit *fit, int wanted, nb_turn_tried *best, int *found,
                        nb_error *err);

/** Pearson's of the chosen pixels and the simulation's picture. */
nb_status nb_fit_correlation(nb_fit *fit, double *correlation, nb_error *err);

#endif
