/* SPDX-License-Identifier: MIT */
/** Images with -footprint: render and spread the Bragg light. */
#ifndef NB_SIM_FOOTPRINT_H
#define NB_SIM_FOOTPRINT_H

#include "../derive/products.h"
#include "../image/footprint.h"
#include "../render/backend.h"
#include "sim.h"

/** True if a footprint spreads the Bragg light of the image. */
static inline int nb_sim_has_footprint(const nb_sim *sim)
{
    return !nb_footprint_is_point(&sim->model.footprint);
}

/** Parts of a scene with a footprint. The scene must outlive them. */
typedef struct nb_footprint_parts {
    const nb_footprint_plan *plan;
    nb_footprint_plan own; /* memory of the plan, or empty */
    /* scene with the crystal alone, in all pixels whose light reaches pixels of the
     * scene */
    nb_scene bragg;
    uint8_t *mask; /* owned; mask of bragg, or NULL */
} nb_footprint_parts;

/** Make *parts, with slopes of the taps if `slopes` is 1. The caller frees *parts, also
 * after an error: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_footprint_parts_of(const nb_footprint *fp, const nb_scene *scene, int slopes,
                                nb_footprint_parts *parts, nb_error *err);
void nb_footprint_parts_free(nb_footprint_parts *parts);

/** Plan the footprint of the next image.  *on_device stays 1 if the device spreads the
 * light and keeps the image.  Errors: as nb_footprint_plan_make. */
nb_status nb_sim_plan_footprint(nb_sim *sim, int *on_device, nb_error *err);

/** Render the scene of sim, or this scene with another mask, with its footprint:
 * image[pixels], or NULL if the device keeps it (nb_sim_plan_footprint). Errors: the
 * renderer's. */
nb_status nb_sim_render_footprint(nb_sim *sim, const nb_scene *scene,
                                  const nb_request *as, float *image, nb_error *err);

/* --- derivatives (derive_footprint.c); run: open run with a job of the simulation --- */

/** Image and slopes at the listed pixels: values[1 + count][list->n].  Only light that
 * reaches these pixels is rendered.  Errors: those of the renderer, NB_ERR_NOMEM. */
nb_status nb_sim_footprint_at(const nb_sim *sim, const nb_slope_run *run,
                              const nb_slope_list *list, double *values, nb_error *err);

/** Like nb_slope_pullback and, unless F is NULL, nb_slope_F, with a footprint. dloss must
 * be 0 in pixels that are not rendered. */
nb_status nb_sim_footprint_pullback(const nb_sim *sim, const nb_slope_run *run,
                                    const double *dloss, double *gradient,
                                    nb_hkl_gradient *F, nb_error *err);

#endif
