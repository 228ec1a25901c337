/* SPDX-License-Identifier: MIT */
/** What is mixed with the image on the device (src/image/mix.h). */
#ifndef NB_CUDA_MIX_H
#define NB_CUDA_MIX_H

#include "../backend/state.h"

#include "../../src/image/mix.h"

/** The scene's mask on the device, which may be another than that of the pixels rendered last; NULL: none. */
nb_status nb_cuda_mask(nb_backend_state *state, const nb_scene *scene,
                       const uint8_t **mask, nb_error *err);

/* --- entries of nb_image_device --- */
nb_status nb_cuda_add_aside(nb_backend_state *state, size_t pixels, nb_error *err);
nb_status nb_cuda_mix_image(nb_backend_state *state, const nb_scene *scene,
                            const nb_mix *mix, nb_error *err);

void nb_cuda_mix_release(nb_cuda_mix *mix);

#endif
