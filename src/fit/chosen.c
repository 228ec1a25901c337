/* SPDX-License-Identifier: MIT */
#include "chosen.h"

#include <stddef.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../render/request.h"
#include "../sim/footprint.h"
#include "../sim/light.h"
#include "../sim/sim.h"

/** Restrict *scene to the pixels of c by the mask *seen, which the caller frees. Errors:
 * NB_ERR_NOMEM. */
static nb_status mask_others(const nb_chosen *c, nb_scene *scene, uint8_t **seen,
                             nb_error *err)
{
    const uint8_t *mask = scene->raster.mask;
    if (!(*seen = nb_alloc(scene->raster.pixels, 1, "pixels of a fit", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < c->n; i++)
        (*seen)[c->at[i]] = !mask || mask[c->at[i]];
    scene->raster.mask = *seen;
    return NB_OK;
}

/** List the spans of the pixels at c->at. The simulation must render each pixel. */
static nb_status list_spans(nb_chosen *c, nb_error *err)
{
    nb_scene scene = c->sim->model.scene;
    uint8_t *seen;
    size_t n = 0;
    nb_status st = mask_others(c, &scene, &seen, err);
    NB_TRY(nb_spans_build(&scene, &c->list.spans, &c->list.n, err));
    c->list.number = ++c->sim->n_observed;
    for (size_t i = 0; i < c->list.n; i++)
        n += (size_t)c->list.spans[i].n;
    nb_free(seen);
    return st || n == c->n ? st
                           : nb_fail(err, NB_ERR_INPUT,
                                     "pixels of a fit: %zu are not rendered", c->n - n);
}

nb_status nb_chosen_open(nb_sim *sim, const nb_observation *seen, const int64_t *at,
                         size_t n, nb_chosen *out, nb_error *err)
{
    const int64_t pixels = (int64_t)sim->model.scene.raster.pixels;
    memset(out, 0, sizeof *out);
    out->sim = sim;
    out->seen = *seen;
    if (!(out->at = nb_alloc_raw(n + 1, sizeof *out->at, "pixels of a fit", err)))
        return NB_ERR_NOMEM;
    for (int64_t last = -1; out->n < n; last = at[out->n++]) {
        if (at[out->n] <= last || at[out->n] >= pixels)
            return nb_fail(err, NB_ERR_INPUT,
                           "pixels of a fit: their places must grow, below %lld",
                           (long long)pixels);
        out->at[out->n] = (size_t)at[out->n];
    }
    return list_spans(out, err);
}

void nb_chosen_ungroup(nb_chosen *c)
{
    nb_free(c->group);
    nb_free(c->stol);
    nb_free(c->order);
    nb_free(c->begin);
    nb_free(c->u);
    memset(&c->groups, 0, sizeof *c - offsetof(nb_chosen, groups));
}

void nb_chosen_close(nb_chosen *c)
{
    nb_chosen_ungroup(c);
    nb_slope_pixels_free(&c->list);
    nb_slope_list_free(&c->places);
    nb_free(c->at);
    nb_free(c->image);
    nb_free(c->room);
    memset(c, 0, sizeof *c);
}

nb_status nb_chosen_slopes(nb_chosen *c, const char *const *names, int count,
                           double *values, nb_error *err)
{
    const nb_pixels_seen of = {&c->seen, &c->list, &c->places};
    nb_status st = NB_OK;
    if (!c->places.place)
        st = nb_slope_list_open(&c->sim->model.scene, &c->list, &c->places, err);
    return st ? st : nb_sim_slopes_at(c->sim, names, count, &of, values, err);
}

/* Render the pixels with the backend, which is quicker than sums of derivatives. */

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

/** Render the pixels with the footprint. */
static nb_status render_wide(nb_chosen *c, nb_error *err)
{
    nb_sim_engine *engine = &c->sim->engine;
    const nb_request request = {.precision = engine->options.precision,
                                .tolerance = engine->options.tolerance};
    nb_scene scene = c->sim->model.scene;
    uint8_t *seen;
    int on_device = 0;
    nb_status st = mask_others(c, &scene, &seen, err);
    NB_TRY(nb_engine_open(engine, err));
    NB_TRY(nb_sim_plan_footprint(c->sim, &on_device, err));
    NB_TRY(nb_sim_render_footprint(c->sim, &scene, &request, c->image, err));
    nb_free(seen);
    return st;
}

/** True if sums of derivatives make the image: with a point spread or several lattices. */
static int is_summed(const nb_chosen *c)
{
    return c->sim->cfg.psf != NB_PSF_NONE || c->sim->further;
}

nb_status nb_chosen_image(nb_chosen *c, double *values, nb_error *err)
{
    const long n = (long)c->n;
    nb_status st;
    if (is_summed(c))
        return nb_chosen_slopes(c, NULL, 0, values, err);
    if (!c->image && !(c->image = nb_alloc_raw(c->sim->model.scene.raster.pixels,
                                               sizeof *c->image, "image of a fit", err)))
        return NB_ERR_NOMEM;
    st = nb_sim_has_footprint(c->sim) ? render_wide(c, err) : render_spans(c, err);
    NB_TRY(nb_sim_finish_spans(c->sim, c->list.spans, c->list.n, c->image, err));
    if (st)
        return st;
#pragma omp parallel for num_threads(nb_image_threads(c->sim->engine.options.threads, n))
    for (long i = 0; i < n; i++)
        values[i] = c->image[c->at[i]];
    return NB_OK;
}
