/* SPDX-License-Identifier: MIT */
/** Images and derivatives with -footprint: the Bragg light is rendered alone and spread, what is left comes after. */
#ifndef NB_SIM_FOOTPRINT_H
#define NB_SIM_FOOTPRINT_H

#include "../image/footprint.h"
#include "../render/backend.h"
#include "sim.h"

/** Does a footprint spread the image's Bragg light? */
static inline int nb_sim_has_footprint(const nb_sim *sim)
{
    return !nb_footprint_is_point(&sim->model.footprint);
}

/** The parts of a scene that is spread, which lives as long as they. */
typedef struct nb_footprint_parts {
    nb_footprint_plan plan;
    nb_scene bragg; /* without background, and with all pixels whose light is seen */
    nb_scene rest;  /* of the background alone */
    int has_rest;
    uint8_t *mask; /* owned: of bragg; NULL: none */
} nb_footprint_parts;

/** slopes: with those of taps.  nb_footprint_parts_free after an error, too.  Errors: nb_footprint_plan_make's. */
nb_status nb_sim_footprint_parts(const nb_sim *sim, int slopes, nb_footprint_parts *parts,
                                 nb_error *err);
void nb_footprint_parts_free(nb_footprint_parts *parts);

/** nb_render_scene_as of the simulation's scene, with its footprint: image[pixels].  Errors: those of the
 * renderer, and of nb_footprint_plan_make. */
nb_status nb_sim_render_footprint(nb_sim *sim, const nb_request *as, float *image,
                                  nb_error *err);

#endif
