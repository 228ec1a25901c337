/* SPDX-License-Identifier: MIT */
/** The background of an image whose crystal absorbs: it is rendered alone, and kept for images that have the same. */
#ifndef NB_SIM_REST_H
#define NB_SIM_REST_H

#include "../nanobragg.h"
#include "../physics/scene.h"

struct nb_sim_engine;

typedef struct nb_kept_rest {
    float *image; /* owned, [pixels]; NULL: none was rendered */
    size_t pixels;
    uint64_t key; /* of all that the image depends on; 0: it is not whole */
} nb_kept_rest;

/** Have engine->rest.image of a scene without crystal, of nb_scene_without_crystal, in memory.  Errors: the backend's,
 * NB_ERR_NOMEM. */
nb_status nb_engine_rest(struct nb_sim_engine *engine, const nb_scene *scene,
                         nb_error *err);

void nb_kept_rest_free(nb_kept_rest *rest); /* zero or kept */

#endif
