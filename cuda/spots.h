/* SPDX-License-Identifier: MIT */
/** Pictures from reflections on the device. */
#ifndef NB_CUDA_SPOTS_H
#define NB_CUDA_SPOTS_H

#include "state.h"

/** Make the image of plan->scene, or refuse; launch->scene.raster.mask: of the stack, or NULL.  Errors:
 * NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_cuda_render_spots(nb_backend_state *state, const nb_plan *plan,
                               const nb_cuda_launch *launch, nb_spots_result *result,
                               nb_error *err);

#endif
