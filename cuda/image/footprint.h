/* SPDX-License-Identifier: MIT */
/** The footprint of the Bragg light, spread on the device (src/image/footprint.h). */
#ifndef NB_CUDA_FOOTPRINT_H
#define NB_CUDA_FOOTPRINT_H

#include "../backend/state.h"

extern "C" {
#include "../../src/image/footprint.h"
}

/* --- entries of nb_image_device --- */
nb_status nb_cuda_set_aside(nb_backend_state *state, size_t pixels, nb_error *err);
nb_status nb_cuda_spread(nb_backend_state *state, const nb_footprint_plan *plan,
                         const nb_scene *scene, const nb_scene *sources, int rest,
                         nb_error *err);

void nb_cuda_footprint_release(nb_cuda_footprint *footprint);

#endif
