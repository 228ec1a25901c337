/* SPDX-License-Identifier: MIT */
#include "light.h"

#include <string.h>

#include "../base/memory.h"

/** Every kind. */
static const nb_light *const kinds[NB_LIGHT_KINDS] = {&nb_light_diffuse};
enum { KINDS = NB_LIGHT_KINDS };

/** The first kind fills the plane, others one of their own that is added. */
static nb_status fill_plane(nb_sim *sim, nb_error *err)
{
    nb_sim_light *light = sim->light;
    float *own = light->plane;
    nb_status st = NB_OK;
    for (int i = 0; i < KINDS && !st; i++) {
        if (!kinds[i]->applies(sim))
            continue;
        if (light->lit && own == light->plane &&
            !(own = nb_alloc_large(light->pixels, sizeof *own, "light", err)))
            return NB_ERR_NOMEM;
        st = kinds[i]->fill(sim, own, err);
        for (size_t p = 0; !st && own != light->plane && p < light->pixels; p++)
            light->plane[p] += own[p];
        light->lit = 1;
    }
    if (own != light->plane)
        nb_free(own);
    return st;
}

nb_status nb_sim_make_light(nb_sim *sim, nb_error *err)
{
    size_t pixels = sim->model.scene.raster.pixels;
    int some = 0;
    for (int i = 0; i < KINDS; i++)
        some = some || kinds[i]->applies(sim);
    if (sim->light)
        sim->light->lit = 0;
    if (!some)
        return NB_OK;
    if (!sim->light)
        sim->light = nb_alloc(1, sizeof *sim->light, "light", err);
    if (!sim->light)
        return NB_ERR_NOMEM;
    if (sim->light->pixels != pixels) {
        nb_free(sim->light->plane);
        sim->light->plane =
            nb_alloc_large(pixels, sizeof *sim->light->plane, "light", err);
        sim->light->pixels = sim->light->plane ? pixels : 0;
        if (!sim->light->plane)
            return NB_ERR_NOMEM;
    }
    return fill_plane(sim, err);
}

void nb_sim_light_node(const nb_sim *sim, nb_json to)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i]->applies(sim))
            kinds[i]->describe(sim, to);
}

void nb_sim_light_free(nb_sim_light *light)
{
    if (!light)
        return;
    nb_free(light->plane);
    nb_free(light);
}
