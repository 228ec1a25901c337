/* SPDX-License-Identifier: MIT */
/** What too few sub-pixels do to the photons of a spot (docs/physics.md, section 7). */
#ifndef NB_MODEL_SAMPLING_ERROR_H
#define NB_MODEL_SAMPLING_ERROR_H

#include "../physics/scene.h"

/** Relative error (root mean square) of a typical reflection's photons with so many sub-pixels
 * along the edge of a pixel, orientations and sources included; 0 when the sum is exact.  Takes
 * milliseconds. */
double nb_sampling_error(const nb_scene *scene, int oversample);

#endif
