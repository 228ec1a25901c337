/* SPDX-License-Identifier: MIT */
/** Renders a whole scene with a backend, summing every step. */
#ifndef NB_TEST_RENDER_H
#define NB_TEST_RENDER_H

#include "../../src/render/request.h"

static inline nb_status nb_render_scene(const nb_backend *backend, nb_backend_state *state,
                                        const nb_scene *scene, nb_precision precision,
                                        float *image, nb_error *err)
{
    const nb_request as = {.precision = precision};
    return nb_render_scene_as(backend, state, scene, &as, image, err);
}

#endif
