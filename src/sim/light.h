/* SPDX-License-Identifier: MIT */
/** Light of a simulation that no step of a renderer makes, diffuse scattering: a plane of photons, added to crystals and
 * background before the factors of a mix. */
#ifndef NB_SIM_LIGHT_H
#define NB_SIM_LIGHT_H

#include "../inputs/light_table.h"
#include "../io/common/json_node.h"
#include "sim.h"

/** F whose halos the first crystal of an image has: *table, with *F, to be freed, or (NULL) F of the simulation.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_light_factors(const nb_sim *sim, nb_factor_table *table, double **F,
                           nb_error *err);

/** The light of the last image. */
typedef struct nb_sim_light {
    float *plane; /* owned */
    size_t pixels;
    int lit;                       /* the image has some */
    nb_late_light late;            /* makes the plane, if a device made it there */
    const nb_diffuse_table *table; /* held; of the last crystal, or NULL */
} nb_sim_light;

/** Say whether the image that will be rendered has light, and reserve its plane.  Errors: NB_ERR_NOMEM. */
nb_status nb_sim_begin_light(nb_sim *sim, nb_error *err);
/** Make it in memory, unless the device that keeps the image can; before the image is rendered. */
nb_status nb_sim_make_light(nb_sim *sim, nb_error *err);
/** Make it on that device; after the image was rendered, before it is mixed. */
nb_status nb_sim_light_there(nb_sim *sim, nb_error *err);
/** Its plane, which may be `late`; NULL: none. */
static inline const float *nb_sim_light_plane(const nb_sim *sim)
{
    return sim->light && sim->light->lit ? sim->light->plane : NULL;
}

/** Its section of a report. */
void nb_sim_light_node(const nb_sim *sim, nb_json to);
void nb_sim_light_free(nb_sim_light *light);

/* --- What a simulation's images have beside its scene --- */

/** Arrays are the simulation's. */
nb_mix nb_sim_mix(const nb_sim *sim);

/** Make the image that was rendered that of engine->photons.mix: image[pixels], or NULL where the device keeps it.
 * Errors: NB_ERR_DEVICE. */
nb_status nb_sim_apply_mix(const nb_sim_engine *engine, const nb_scene *scene,
                           float *image, nb_error *err);

#endif
