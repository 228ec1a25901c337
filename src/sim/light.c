/* SPDX-License-Identifier: MIT */
#include "light.h"

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
    int first = 1;
    for (int i = 0; i < KINDS && !st; i++) {
        if (!kinds[i]->applies(sim))
            continue;
        if (!first && own == light->plane &&
            !(own = nb_alloc_large(light->pixels, sizeof *own, "light", err)))
            return NB_ERR_NOMEM;
        st = kinds[i]->fill(sim, own, err);
        for (size_t p = 0; !st && own != light->plane && p < light->pixels; p++)
            light->plane[p] += own[p];
        first = 0;
    }
    if (own != light->plane)
        nb_free(own);
    return st;
}

static nb_status fill_late(void *sim, nb_error *err)
{
    return fill_plane(sim, err);
}

/** On the device. */
static nb_status make_there(nb_sim *sim, nb_error *err)
{
    nb_status st = NB_OK;
    int add = 0;
    for (int i = 0; i < KINDS && !st; i++) {
        if (!kinds[i]->applies(sim))
            continue;
        st = kinds[i]->there(sim, add, err);
        add = 1;
    }
    return st;
}

static int device_makes(const nb_sim *sim)
{
    const nb_image_device *device = sim->engine.photons.device;
    int all = device && device->light;
    for (int i = 0; i < KINDS; i++)
        all = all && (kinds[i]->there || !kinds[i]->applies(sim));
    return all;
}

nb_status nb_sim_begin_light(nb_sim *sim, nb_error *err)
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
    sim->light->late = (nb_late_light){1, fill_late, sim};
    if (sim->light->pixels != pixels) {
        nb_free(sim->light->plane);
        sim->light->plane =
            nb_alloc_large(pixels, sizeof *sim->light->plane, "light", err);
        sim->light->pixels = sim->light->plane ? pixels : 0;
        if (!sim->light->plane)
            return NB_ERR_NOMEM;
    }
    sim->light->lit = 1;
    return NB_OK;
}

nb_status nb_sim_make_light(nb_sim *sim, nb_error *err)
{
    nb_status st;
    if (!nb_sim_light_plane(sim) || device_makes(sim))
        return NB_OK;
    st = fill_plane(sim, err);
    sim->light->late.missing = st != NB_OK;
    return st;
}

nb_status nb_sim_light_there(nb_sim *sim, nb_error *err)
{
    nb_error local = {0};
    nb_status st;
    if (!nb_sim_light_plane(sim) || !device_makes(sim))
        return NB_OK;
    st = make_there(sim, &local);
    if (st == NB_ERR_DEVICE)
        return nb_mix_need_light(&sim->engine.photons.mix, err);
    if (st && err)
        *err = local;
    return st;
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
