/* SPDX-License-Identifier: MIT */
/** Images and derivatives with -footprint: the Bragg light is rendered alone and spread, what is left comes after. */
#ifndef NB_SIM_FOOTPRINT_H
#define NB_SIM_FOOTPRINT_H

#include "../derive/products.h"
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
    const nb_footprint_plan *plan;
    nb_footprint_plan own; /* what plan points to, or empty */
    nb_scene bragg; /* without background, and with all pixels whose light is seen */
    nb_scene rest;  /* of the background alone */
    int has_rest;
    uint8_t *mask; /* owned: of bragg; NULL: none */
} nb_footprint_parts;

/** slopes: with those of taps.  nb_footprint_parts_free after an error, too.  Errors: nb_footprint_plan_make's. */
nb_status nb_footprint_parts_of(const nb_footprint *fp, const nb_scene *scene, int slopes,
                                nb_footprint_parts *parts, nb_error *err);
void nb_footprint_parts_free(nb_footprint_parts *parts);

/** Plan the footprint of the next image; *on_device stays 1 if the simulation's device spreads the light and keeps the image.
 * Errors: nb_footprint_plan_make's. */
nb_status nb_sim_plan_footprint(nb_sim *sim, int *on_device, nb_error *err);

/** nb_render_scene_as of a scene, the simulation's or with another mask, with its footprint: image[pixels], or NULL
 * where the device keeps it, as nb_sim_plan_footprint said before.  Errors: those of the renderer. */
nb_status nb_sim_render_footprint(nb_sim *sim, const nb_scene *scene,
                                  const nb_request *as, float *image, nb_error *err);

/* --- derivatives (derive_footprint.c); run: of the simulation's job, open --- */

/** The image and its slopes at the pixels of a list: values[1 + count][list->n].  Light is rendered only where it reaches
 * them.  Errors: those of the renderer, NB_ERR_NOMEM. */
nb_status nb_sim_footprint_at(const nb_sim *sim, const nb_slope_run *run,
                              const nb_slope_list *list, double *values, nb_error *err);

/** nb_slope_pullback of dloss[pixels], which is 0 where nothing is rendered, and, if F is not NULL, nb_slope_F. */
nb_status nb_sim_footprint_pullback(const nb_sim *sim, const nb_slope_run *run,
                                    const double *dloss, double *gradient,
                                    nb_hkl_gradient *F, nb_error *err);

#endif
