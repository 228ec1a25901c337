/* SPDX-License-Identifier: MIT */
/** The mean orientation of the mosaic domains that were drawn. */
#ifndef NB_MODEL_DRAWN_H
#define NB_MODEL_DRAWN_H

#include "scene_build.h"

/** a*, b*, c* [1/A, lab] of the mean of the drawn domains at phi 0: those of the crystal, turned by the rotation that
 * is nearest to the mean of the domains' rotations.  phi: of the first spindle step, rad.  Returns that rotation's angle,
 * rad.  All are NaN where domains are so spread that they have no mean. */
double nb_model_drawn(const nb_model *m, double phi, nb_vec3 reciprocal[3]);

#endif
