/* SPDX-License-Identifier: MIT */
/** Diffuse scattering of a simulation: a plane of photons that is added to crystals and
 * background before the factors of a mix. */
#ifndef NB_SIM_LIGHT_H
#define NB_SIM_LIGHT_H

#include "../inputs/inputs.h"
#include "../io/common/json_node.h"
#include "sim.h"

/** Fill *table with the F for diffuse light of the first crystal.  *F is the memory of a
 * clipped copy (nb_free), or NULL if *table uses F of sim.  Errors: NB_ERR_NOMEM. */
nb_status nb_light_factors(const nb_sim *sim, nb_factor_table *table, double **F,
                           nb_error *err);

/** The light of the last image. */
typedef struct nb_sim_light {
    float *plane; /* owned */
    size_t pixels;
    int lit;                       /* 1: the image has light */
    nb_late_light late;            /* makes the plane in memory if a device has it */
    const nb_diffuse_table *table; /* shared; table of the last crystal, or NULL */
} nb_sim_light;

/** Set `lit` for the next image and reserve its plane.  Errors: NB_ERR_NOMEM. */
nb_status nb_sim_begin_light(nb_sim *sim, nb_error *err);
/** Make the light in memory before rendering, unless the device of the image makes it. */
nb_status nb_sim_make_light(nb_sim *sim, nb_error *err);
/** Make the light on the device, after rendering and before nb_sim_apply_mix. */
nb_status nb_sim_light_there(nb_sim *sim, nb_error *err);
/** Plane of the light, not yet filled if `late` has to make it; NULL without light. */
static inline const float *nb_sim_light_plane(const nb_sim *sim)
{
    return sim->light && sim->light->lit ? sim->light->plane : NULL;
}

/** Add the section of diffuse light to a report. */
void nb_sim_light_node(const nb_sim *sim, nb_json to);
void nb_sim_light_free(nb_sim_light *light);

/* --- factors and light of images, which are not in the scene --- */

/** Mix of the simulation, which owns the arrays. */
nb_mix nb_sim_mix(const nb_sim *sim);

/** Apply engine->photons.mix to the rendered image[pixels] (NULL: the image is on the
 * device). Errors: NB_ERR_DEVICE. */
nb_status nb_sim_apply_mix(const nb_sim_engine *engine, const nb_scene *scene,
                           float *image, nb_error *err);

#endif
