/* SPDX-License-Identifier: MIT */
#include "chosen.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../sim/footprint.h"
#include "../sim/sim.h"

nb_status nb_chosen_open(nb_sim *sim, const nb_observation *seen, nb_chosen *out,
                         nb_error *err)
{
    nb_status st;
    memset(out, 0, sizeof *out);
    out->sim = sim;
    out->seen = *seen;
    if ((st = nb_sim_observe(sim, seen, &out->list, err)))
        return st;
    for (size_t i = 0; i < out->list.n; i++)
        out->n += (size_t)out->list.spans[i].n;
    if (!(out->at = nb_alloc_raw(out->n + 1, sizeof *out->at, "pixels of a fit", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0, n = 0; i < out->list.n; i++)
        for (int f = 0; f < out->list.spans[i].n; f++)
            out->at[n++] = out->list.spans[i].at + (size_t)f;
    return NB_OK;
}

void nb_chosen_close(nb_chosen *c)
{
    nb_slope_pixels_free(&c->list);
    nb_free(c->at);
    nb_free(c->image);
    nb_free(c->group);
    nb_free(c->stol);
    nb_free(c->order);
    nb_free(c->begin);
    nb_free(c->u);
    memset(c, 0, sizeof *c);
}

/* Images by the backend, which is quicker than the sums of derivatives. */

static nb_status render_spans(nb_chosen *c, nb_error *err)
{
    nb_sim_engine *engine = &c->sim->engine;
    const nb_request request = {.spans = c->list.spans,
                                .n = c->list.n,
                                .precision = engine->options.precision,
                                .tolerance = engine->options.tolerance};
    const nb_planes planes = {.image = c->image,
                              .pixels = c->sim->model.scene.raster.pixels};
    nb_status st = nb_engine_open(engine, err);
    return st ? st
              : engine->backend->render(engine->state, &c->sim->model.scene, &request,
                                        &planes, err);
}

/** The same behind the footprint. */
static nb_status render_wide(nb_chosen *c, nb_error *err)
{
    nb_sim_engine *engine = &c->sim->engine;
    const nb_request request = {.precision = engine->options.precision,
                                .tolerance = engine->options.tolerance};
    const uint8_t *mask = c->sim->model.scene.raster.mask;
    nb_scene scene = c->sim->model.scene;
    uint8_t *seen = nb_alloc(scene.raster.pixels, 1, "mask", err);
    nb_status st = seen ? nb_engine_open(engine, err) : NB_ERR_NOMEM;
    for (size_t i = 0; i < c->n && !st; i++)
        seen[c->at[i]] = !mask || mask[c->at[i]];
    scene.raster.mask = seen;
    if (!st)
        st = nb_sim_render_footprint(c->sim, &scene, &request, c->image, err);
    nb_free(seen);
    return st;
}

/** Behind a point spread. */
static nb_status expect(nb_chosen *c, double *values, nb_error *err)
{
    const nb_observation seen = {.photons = c->seen.photons};
    double *all =
        nb_alloc_raw(c->sim->model.scene.raster.pixels, sizeof *all, "image", err);
    nb_status st = all ? nb_sim_expected(c->sim, &seen, all, err) : NB_ERR_NOMEM;
    for (size_t i = 0; i < c->n && !st; i++)
        values[i] = all[c->at[i]];
    nb_free(all);
    return st;
}

nb_status nb_chosen_image(nb_chosen *c, double *values, nb_error *err)
{
    nb_status st;
    if (c->sim->cfg.psf != NB_PSF_NONE)
        return expect(c, values, err);
    if (!c->image && !(c->image = nb_alloc_raw(c->sim->model.scene.raster.pixels,
                                               sizeof *c->image, "image of a fit", err)))
        return NB_ERR_NOMEM;
    st = nb_sim_has_footprint(c->sim) ? render_wide(c, err) : render_spans(c, err);
    if (!st && nb_sim_has_factors(c->sim))
        nb_sim_factor_spans(c->sim, c->list.spans, c->list.n, c->image);
    for (size_t i = 0; i < c->n && !st; i++)
        values[i] = c->image[c->at[i]];
    return st;
}
