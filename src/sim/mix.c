/* SPDX-License-Identifier: MIT */
#include "light.h"

#include "crystals.h"
#include "../inputs/shade.h"

nb_mix nb_sim_mix(const nb_sim *sim)
{
    nb_mix mix = {.light = nb_sim_light_plane(sim),
                  .late = sim->light ? &sim->light->late : NULL};
    nb_inputs_shade(&sim->in, &sim->model, &mix);
    mix.n_more = sim->further ? sim->further->n_scenes : 0;
    mix.more = sim->further ? sim->further->scenes : NULL;
    return mix;
}

nb_status nb_sim_apply_mix(const nb_sim_engine *engine, const nb_scene *scene,
                           float *image, nb_error *err)
{
    const nb_photons *photons = &engine->photons;
    const nb_mix *mix = &photons->mix;
    const int acts = mix->light || mix->background || mix->transmission || mix->add;
    nb_status st = NB_OK;
    if (!photons->device)
        return acts ? nb_mix_apply(mix, scene, engine->options.threads, image, err)
                    : NB_OK;
    if (acts || mix->absorb)
        st = photons->device->mix(engine->state, scene, mix, err);
    if (!st && image)
        st = photons->device->fetch(engine->state, -1, 0, scene->raster.rows, image, err);
    return st;
}
