/* SPDX-License-Identifier: MIT */
/** The cross-section of -footprint in the lab. */
#ifndef NB_MODEL_FOOTPRINT_H
#define NB_MODEL_FOOTPRINT_H

#include "../params/params.h"
#include "../physics/footprint.h"
#include "detector.h"

/** Unit vectors of the axes of a and b: perpendicular to the beam, a's turned by the angle from the horizontal. */
void nb_footprint_axes(const nb_geometry *geometry, double angle_deg, nb_vec3 *a,
                       nb_vec3 *b);

/** The lengths of a and b for a width of 1 mm, m: a standard deviation, or an edge. */
double nb_footprint_unit(int box);

/** A point without -footprint, and where both widths are 0.  Errors: NB_ERR_INPUT. */
nb_status nb_footprint_of(const nb_settings *cfg, const nb_geometry *geometry,
                          nb_footprint *out, nb_error *err);

#endif
