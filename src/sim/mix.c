/* SPDX-License-Identifier: MIT */
#include "mix.h"

#include "shade.h"

nb_mix nb_sim_mix(const nb_sim *sim)
{
    nb_mix mix = {0};
    nb_inputs_shade(&sim->in, &sim->model, &mix);
    return mix;
}

nb_status nb_sim_apply_mix(const nb_sim_engine *engine, const nb_scene *scene,
                           float *image, nb_error *err)
{
    const nb_photons *photons = &engine->photons;
    nb_status st = NB_OK;
    if (!photons->device) {
        nb_mix_apply(&photons->mix, scene, engine->options.threads, image);
        return NB_OK;
    }
    st = photons->device->mix(engine->state, scene, &photons->mix, err);
    if (!st && image)
        st = photons->device->fetch(engine->state, -1, 0, scene->raster.rows, image, err);
    return st;
}
