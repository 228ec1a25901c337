/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <string.h>

#include "../base/memory.h"
#include "../physics/limits.h"
#include "../render/request.h"

/** The plan is there. */
static nb_status fill_parts(const nb_scene *sc, nb_footprint_parts *parts, nb_error *err)
{
    nb_status st = nb_footprint_sources(parts->plan, sc, &parts->bragg, &parts->mask, err);
    parts->bragg.background = 0;
    parts->bragg.amorphous = NULL;
    parts->has_rest = sc->background != 0 || sc->amorphous;
    parts->rest = nb_scene_without_crystal(sc);
    return st;
}

nb_status nb_footprint_parts_of(const nb_footprint *fp, const nb_scene *sc, int slopes,
                                nb_footprint_parts *parts, nb_error *err)
{
    nb_status st;
    memset(parts, 0, sizeof *parts);
    parts->plan = &parts->own;
    st = nb_footprint_plan_make(fp, sc, slopes, &parts->own, err);
    return st ? st : fill_parts(sc, parts, err);
}

void nb_footprint_parts_free(nb_footprint_parts *parts)
{
    nb_footprint_plan_free(&parts->own);
    nb_free(parts->mask);
    parts->mask = NULL;
}

/* --- the plan of the last image --- */

struct nb_footprint_kept {
    nb_footprint of;
    nb_panel *panels; /* owned */
    nb_footprint_plan plan;
};

void nb_footprint_kept_free(nb_footprint_kept *kept)
{
    if (!kept)
        return;
    nb_footprint_plan_free(&kept->plan);
    nb_free(kept->panels);
    nb_free(kept);
}

static int is_same_vector(nb_vec3 a, nb_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/** The panels as bytes: where padding differs, the plan is made again. */
static int is_kept(const nb_footprint_kept *kept, const nb_model *m)
{
    const nb_footprint *a = &m->footprint, *b = kept ? &kept->of : NULL;
    return b && kept->plan.n_panels == m->scene.n_panels && a->box == b->box &&
           is_same_vector(a->a, b->a) && is_same_vector(a->b, b->b) &&
           !memcmp(kept->panels, m->scene.panels,
                   (size_t)m->scene.n_panels * sizeof *kept->panels);
}

static nb_status keep_plan(nb_sim *sim, const nb_footprint_plan **plan, nb_error *err)
{
    const nb_model *m = &sim->model;
    const size_t n = (size_t)m->scene.n_panels;
    nb_footprint_kept *kept = sim->engine.footprint;
    nb_status st = NB_OK;
    if (!is_kept(kept, m)) {
        nb_footprint_kept_free(kept);
        kept = sim->engine.footprint = nb_alloc(1, sizeof *kept, "footprint", err);
        if (!kept || !(kept->panels = nb_alloc(n, sizeof *kept->panels, "panels", err)))
            return NB_ERR_NOMEM;
        kept->of = m->footprint;
        memcpy(kept->panels, m->scene.panels, n * sizeof *kept->panels);
        st = nb_footprint_plan_make(&m->footprint, &m->scene, 0, &kept->plan, err);
    }
    *plan = &kept->plan;
    if (st) {
        nb_footprint_kept_free(kept);
        sim->engine.footprint = NULL;
    }
    return st;
}

nb_status nb_sim_footprint_on_device(nb_sim *sim, int *is, nb_error *err)
{
    const nb_backend_device *device = sim->engine.backend->device;
    const nb_footprint_plan *plan;
    nb_status st = NB_OK;
    *is = device && device->image.spread;
    if (*is && !(st = keep_plan(sim, &plan, err)))
        for (int k = 0; k < plan->n_panels; k++)
            *is &= plan->panels[k].fast <= NB_DEVICE_FARTHEST &&
                   plan->panels[k].slow <= NB_DEVICE_FARTHEST;
    return st;
}

/* --- images --- */

/** Where the device keeps the image; image may be NULL. */
static nb_status render_on_device(const nb_sim_engine *engine, const nb_scene *sc,
                                  const nb_footprint_parts *parts, const nb_request *as,
                                  float *image, nb_error *err)
{
    const nb_image_device *device = engine->photons.device;
    nb_backend_state *state = engine->state;
    nb_status st = NB_OK;
    if (parts->has_rest &&
        !(st = nb_render_scene_as(engine->backend, state, &parts->rest, as, NULL, err)))
        st = device->set_aside(state, sc->raster.pixels, err);
    NB_TRY(nb_render_scene_as(engine->backend, state, &parts->bragg, as, NULL, err));
    NB_TRY(device->spread(state, parts->plan, sc, &parts->bragg, parts->has_rest, err));
    if (!st && image)
        st = device->fetch(state, -1, 0, sc->raster.rows, image, err);
    return st;
}

/** In memory; rest: room for the background, or NULL. */
static nb_status render_parts(const nb_sim_engine *engine, const nb_scene *sc,
                              const nb_footprint_parts *parts, const nb_request *as,
                              float *image, float *rest, nb_error *err)
{
    const nb_footprint_work work = {parts->plan, sc, &parts->bragg, engine->kernels,
                                    engine->options.threads};
    nb_status st = NB_OK;
    if (rest)
        st = nb_render_scene_as(engine->backend, engine->state, &parts->rest, as, rest,
                                err);
    NB_TRY(nb_render_scene_as(engine->backend, engine->state, &parts->bragg, as, image,
                              err));
    NB_TRY(nb_footprint_spread(&work, image, err));
    for (size_t i = 0; rest && !st && i < sc->raster.pixels; i++)
        image[i] += rest[i];
    return st;
}

nb_status nb_sim_render_footprint(nb_sim *sim, const nb_scene *sc, const nb_request *as,
                                  float *image, nb_error *err)
{
    nb_footprint_parts parts = {0};
    float *rest = NULL;
    nb_status st = keep_plan(sim, &parts.plan, err);
    NB_TRY(fill_parts(sc, &parts, err));
    if (!st && sim->engine.photons.device) {
        st = render_on_device(&sim->engine, sc, &parts, as, image, err);
        nb_footprint_parts_free(&parts);
        return st;
    }
    if (!st && parts.has_rest) {
        rest = nb_alloc_large(sc->raster.pixels, sizeof *rest, "background", err);
        st = rest ? NB_OK : NB_ERR_NOMEM;
    }
    NB_TRY(render_parts(&sim->engine, sc, &parts, as, image, rest, err));
    nb_free(rest);
    nb_footprint_parts_free(&parts);
    return st;
}
