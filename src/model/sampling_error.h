/* SPDX-License-Identifier: MIT */
/** The error of a spot's photons with too few sub-pixels (docs/physics.md, section 7). */
#ifndef NB_MODEL_SAMPLING_ERROR_H
#define NB_MODEL_SAMPLING_ERROR_H

#include "../physics/scene.h"

/** Relative error (root mean square) of a typical reflection's photons with this number of
 * sub-pixels along the edge of a pixel, with orientations and sources; 0 if the sum is
 * exact. Takes milliseconds. */
double nb_sampling_error(const nb_scene *scene, int oversample);

#endif
