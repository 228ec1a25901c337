/* SPDX-License-Identifier: MIT */
/** What a simulation's images have beside its scene. */
#ifndef NB_SIM_MIX_H
#define NB_SIM_MIX_H

#include "sim.h"

/** Arrays are the simulation's. */
nb_mix nb_sim_mix(const nb_sim *sim);

/** Make the image that was rendered that of engine->photons.mix: image[pixels], or NULL where the device keeps it.
 * Errors: NB_ERR_DEVICE. */
nb_status nb_sim_apply_mix(const nb_sim_engine *engine, const nb_scene *scene,
                           float *image, nb_error *err);

#endif
