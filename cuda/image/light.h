/* SPDX-License-Identifier: MIT */
/** Diffuse light on the device (src/light/diffuse_rays.h). */
#ifndef NB_CUDA_LIGHT_H
#define NB_CUDA_LIGHT_H

#include "../backend/state.h"

/** An entry of nb_image_device. */
nb_status nb_cuda_make_light(nb_backend_state *state,
                             const struct nb_diffuse_plane *plane, int add, nb_error *err);

void nb_cuda_diffuse_release(nb_cuda_diffuse *light);

#endif
