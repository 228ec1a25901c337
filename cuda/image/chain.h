/* SPDX-License-Identifier: MIT */
/** The stages of the noise on the device. */
#ifndef NB_CUDA_CHAIN_H
#define NB_CUDA_CHAIN_H

#include "../backend/state.h"

/** What stands on the device for the stages is not that of this image. */
void nb_cuda_chain_begin(nb_backend_state *state);

/** Make a product of more than counts and an offset, into products.image[i]; overloads: on the device, is
 * added to.  scene: its arrays are device addresses, panels and sensors the host's; it is the product's
 * own.  All products between two nb_cuda_chain_begin have the same stages.  Errors: NB_ERR_NOMEM,
 * NB_ERR_DEVICE. */
nb_status nb_cuda_chain_make(nb_backend_state *state, const nb_scene *scene,
                             const nb_product *product, int i,
                             unsigned long long *overloads, nb_error *err);

void nb_cuda_chain_release(nb_cuda_chains *chains);

#endif
