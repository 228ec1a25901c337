/* SPDX-License-Identifier: MIT */
/** The error of a spot's photons with too few sub-pixels (docs/physics.md, section 7). */
#ifndef NB_MODEL_SAMPLING_ERROR_H
#define NB_MODEL_SAMPLING_ERROR_H

#include "../physics/scene.h"

/** Relative error (root mean square) of a typical reflection's photons with this number of
 * sub-pixels along the edge of a pixel, with orientations and sources; 0 if the sum is
 * exact. Takes milliseconds. */
double nb_sampling_error(const nb_scene *scene, int oversample);

/** What is sampled by steps: the rotation, the list of sources, the mosaic domains. */
typedef enum nb_steps_axis {
    NB_STEPS_PHI,
    NB_STEPS_SOURCES,
    NB_STEPS_DOMAINS
} nb_steps_axis;

typedef struct nb_steps {
    nb_steps_axis axis;
    int count;
    double range;    /* of the rotation, rad */
    nb_vec3 spindle; /* unit */
} nb_steps;

/** Relative error (root mean square) of a typical reflection's photons with this number of steps along one
 * axis, with the spread of the others; sources as a continuous spectrum.  Takes milliseconds. */
double nb_steps_error(const nb_scene *scene, const nb_steps *by);

/** The least number of steps, from by.count, with an error up to `most`; no more than 100000. */
int nb_steps_enough(const nb_scene *scene, nb_steps by, double most);

/** Spindle steps that resolve the rocking curves of a rotation by `range` (rad), at least 2: those of
 * an error of 0.05, twice, for the reflections that the ends of the rotation cut. The scene's
 * orientations are the domains at the middle of the rotation (n_phi 1). */
int nb_phi_steps_enough(const nb_scene *scene, double range, nb_vec3 spindle);

#endif
