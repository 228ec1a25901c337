/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/limits.h"
#include "../render/request.h"

/** The scene without its crystal: one orientation, whose every F is 0. */
static nb_scene rest_of(const nb_scene *sc)
{
    static const double nothing[1] = {0};
    nb_factor_table none = {.nh = 1, .nk = 1, .nl = 1, .F = nothing, .n_tables = 1};
    nb_scene rest = *sc;
    const int n = sc->lattice.n_orientations;
    nb_factor_table_measure(&none);
    rest.factors.table = none;
    rest.lattice.n_orientations = rest.lattice.n_phi = rest.lattice.n_domains = 1;
    rest.samples = sc->samples / n;
    rest.intensity_scale = sc->intensity_scale * n;
    return rest;
}

nb_status nb_sim_footprint_parts(const nb_sim *sim, int slopes, nb_footprint_parts *parts,
                                 nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    nb_status st;
    memset(parts, 0, sizeof *parts);
    st = nb_footprint_plan_make(&sim->model.footprint, sc, slopes, &parts->plan, err);
    if (!st)
        st = nb_footprint_sources(&parts->plan, sc, &parts->bragg, &parts->mask, err);
    parts->bragg.background = 0;
    parts->bragg.amorphous = NULL;
    parts->has_rest = sc->background != 0 || sc->amorphous;
    parts->rest = rest_of(sc);
    return st;
}

void nb_footprint_parts_free(nb_footprint_parts *parts)
{
    nb_footprint_plan_free(&parts->plan);
    nb_free(parts->mask);
    parts->mask = NULL;
}

static nb_status render_parts(nb_sim *sim, const nb_footprint_parts *parts,
                              const nb_request *as, float *image, float *rest,
                              nb_error *err)
{
    const nb_sim_engine *engine = &sim->engine;
    const nb_scene *sc = &sim->model.scene;
    nb_status st = NB_OK;
    if (rest)
        st = nb_render_scene_as(engine->backend, engine->state, &parts->rest, as, rest,
                                err);
    if (!st)
        st = nb_render_scene_as(engine->backend, engine->state, &parts->bragg, as, image,
                                err);
    if (!st)
        st = nb_footprint_spread(&parts->plan, sc, &parts->bragg, engine->kernels,
                                 engine->options.threads, image, err);
    for (size_t i = 0; rest && !st && i < sc->raster.pixels; i++)
        image[i] += rest[i];
    return st;
}

nb_status nb_sim_render_footprint(nb_sim *sim, const nb_request *as, float *image,
                                  nb_error *err)
{
    nb_footprint_parts parts;
    float *rest = NULL;
    nb_status st = nb_sim_footprint_parts(sim, 0, &parts, err);
    if (!st && parts.has_rest) {
        rest = nb_alloc_large(sim->model.scene.raster.pixels, sizeof *rest, "background",
                              err);
        st = rest ? NB_OK : NB_ERR_NOMEM;
    }
    if (!st)
        st = render_parts(sim, &parts, as, image, rest, err);
    nb_free(rest);
    nb_footprint_parts_free(&parts);
    return st;
}
