/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <string.h>

#include "../base/memory.h"
#include "../physics/limits.h"
#include "../render/request.h"

nb_status nb_footprint_parts_of(const nb_footprint *fp, const nb_scene *sc, int slopes,
                                nb_footprint_parts *parts, nb_error *err)
{
    nb_status st;
    memset(parts, 0, sizeof *parts);
    parts->plan = &parts->own;
    st = nb_footprint_plan_make(fp, sc, slopes, &parts->own, err);
    return st ? st
              : nb_footprint_sources(parts->plan, sc, &parts->bragg, &parts->mask, err);
}

void nb_footprint_parts_free(nb_footprint_parts *parts)
{
    nb_footprint_plan_free(&parts->own);
    nb_free(parts->mask);
    parts->mask = NULL;
}

/* --- images --- */

nb_status nb_sim_plan_footprint(nb_sim *sim, int *on_device, nb_error *err)
{
    const nb_backend_device *device = sim->engine.backend->device;
    nb_footprint_plan *plan = &sim->engine.footprint;
    nb_status st;
    nb_footprint_plan_free(plan);
    st = nb_footprint_plan_make(&sim->model.footprint, &sim->model.scene, 0, plan, err);
    *on_device = *on_device && device && device->image.spread;
    for (int k = 0; k < plan->n_panels && !st; k++)
        *on_device &= plan->panels[k].fast <= NB_DEVICE_FARTHEST &&
                      plan->panels[k].slow <= NB_DEVICE_FARTHEST;
    return st;
}

/** Render on the device, which keeps the image; copy it to `image` unless NULL. */
static nb_status render_on_device(const nb_sim_engine *engine, const nb_scene *sc,
                                  const nb_footprint_parts *parts, const nb_request *as,
                                  float *image, nb_error *err)
{
    const nb_image_device *device = engine->photons.device;
    nb_backend_state *state = engine->state;
    nb_status st;
    NB_FORWARD(nb_render_scene_as(engine->backend, state, &parts->bragg, as, NULL, err));
    st = device->spread(state, parts->plan, sc, &parts->bragg, err);
    if (!st && image)
        st = device->fetch(state, -1, 0, sc->raster.rows, image, err);
    return st;
}

nb_status nb_sim_render_footprint(nb_sim *sim, const nb_scene *sc, const nb_request *as,
                                  float *image, nb_error *err)
{
    const nb_sim_engine *engine = &sim->engine;
    nb_footprint_parts parts = {.plan = &sim->engine.footprint};
    const nb_footprint_work work = {parts.plan, sc, &parts.bragg, engine->kernels,
                                    engine->options.threads};
    nb_status st = nb_footprint_sources(parts.plan, sc, &parts.bragg, &parts.mask, err);
    if (engine->photons.device) {
        NB_TRY(render_on_device(engine, sc, &parts, as, image, err));
    } else {
        NB_TRY(nb_render_scene_as(engine->backend, engine->state, &parts.bragg, as, image,
                                  err));
        NB_TRY(nb_footprint_spread(&work, image, err));
    }
    nb_footprint_parts_free(&parts);
    return st;
}
