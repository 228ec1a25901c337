/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <string.h>

#include "../../src/image/photons.h"
#include "../../src/image/fibre.h"
#include "../../src/physics/panels.h"

void nb_cuda_chain_begin(nb_backend_state *state)
{
    state->products.chains.has_light = 0;
}

void nb_cuda_chain_release(nb_cuda_chains *chains)
{
    nb_cuda_mirror *const mirrors[] = {&chains->panels, &chains->weights, &chains->map};
    for (nb_cuda_mirror *mirror : mirrors)
        nb_cuda_release_mirror(mirror);
    nb_cuda_release(&chains->light);
    nb_cuda_release(&chains->between);
    nb_cuda_fibres_release(&chains->fibres);
}

static const nb_stage *stage_of(const nb_product *p, nb_stage_kind kind)
{
    for (int i = 0; i < p->stages; i++)
        if (p->chain[i].kind == kind)
            return &p->chain[i];
    return NULL;
}

/* --- panels and weights --- */

/** The weights of the Gaussian for all panels; neighbouring equal panels share weights. */
typedef struct weight_pool {
    double *at; /* owned */
    int64_t used;
    double fwhm;
} weight_pool;

/** Add the weights along an edge of n pixels; returns the index of displacement 0. */
static int64_t add_weights(weight_pool *pool, double pixel, int n, int *reach)
{
    double *k = pool->at + pool->used;
    *reach = nb_gauss_weights(pool->fwhm, pixel, n, k);
    memmove(k, k + n - 1 - *reach, (2 * (size_t)*reach + 1) * sizeof *k);
    pool->used += 2 * (int64_t)*reach + 1;
    return pool->used - *reach - 1;
}

static void weigh(weight_pool *pool, const nb_panel *panels, int k,
                  nb_cuda_chain_panel *out)
{
    const nb_panel *panel = &panels[k], *last = panel - (k > 0);
    int same = k > 0 && last->columns == panel->columns && last->rows == panel->rows &&
               last->pixel_fast == panel->pixel_fast &&
               last->pixel_slow == panel->pixel_slow;
    if (same) {
        memcpy(out[k].reach, out[k - 1].reach, sizeof out->reach);
        memcpy(out[k].weights, out[k - 1].weights, sizeof out->weights);
        return;
    }
    out[k].weights[0] =
        add_weights(pool, panel->pixel_fast, panel->columns, &out[k].reach[0]);
    out[k].weights[1] =
        add_weights(pool, panel->pixel_slow, panel->rows, &out[k].reach[1]);
}

static nb_cuda_chain_panel panel_of(const nb_scene *stack, const nb_product *p, int k)
{
    const nb_panel *panel = &stack->panels[k];
    const nb_region lit = nb_panel_region(stack, panel);
    const nb_stage *gain = stage_of(p, NB_STAGE_GAIN);
    nb_cuda_chain_panel out = {};
    out.first = (int64_t)panel->first_pixel;
    out.columns = panel->columns;
    out.rows = panel->rows;
    out.lit = {lit.fmin, lit.fmax + 1, lit.smin, lit.smax + 1};
    if (gain)
        out.gain = gain->of_panels ? gain->of_panels[k] : gain->amount;
    out.trusted = p->trusted_of ? p->trusted_of[k] : 0;
    return out;
}

/** Upper limit of the number of weights, if no panels share weights. */
static size_t weights_max(const nb_scene *sc)
{
    size_t n = 0;
    for (int k = 0; k < sc->n_panels; k++)
        n += 2 * ((size_t)sc->panels[k].columns + (size_t)sc->panels[k].rows);
    return n;
}

static nb_status upload_panels(nb_backend_state *state, const nb_scene *stack,
                               const nb_product *p, nb_cuda_chain *chain, nb_error *err)
{
    const nb_stage *spread = stage_of(p, NB_STAGE_SPREAD);
    const int gauss = spread && spread->shape == NB_PSF_GAUSS;
    const size_t n = (size_t)stack->n_panels;
    nb_cuda_chains *c = &state->products.chains;
    nb_cuda_chain_panel *panels =
        (nb_cuda_chain_panel *)nb_alloc(n, sizeof *panels, "panels", err);
    weight_pool pool = {};
    nb_status st = panels ? NB_OK : NB_ERR_NOMEM;
    if (!st && gauss) {
        pool.fwhm = spread->amount;
        pool.at =
            (double *)nb_alloc(weights_max(stack), sizeof *pool.at, "point spread", err);
        st = pool.at ? NB_OK : NB_ERR_NOMEM;
    }
    for (int k = 0; k < stack->n_panels && !st; k++) {
        panels[k] = panel_of(stack, p, k);
        if (gauss)
            weigh(&pool, stack->panels, k, panels);
    }
    NB_TRY(nb_cuda_upload_mirror(state, &c->panels, panels, n * sizeof *panels,
                                 "the panels", err));
    if (!st && gauss)
        st = nb_cuda_upload_mirror(state, &c->weights, pool.at,
                                   (size_t)pool.used * sizeof *pool.at,
                                   "the point spread", err);
    nb_free(pool.at);
    nb_free(panels);
    chain->panels = (const nb_cuda_chain_panel *)c->panels.device.at;
    chain->n_panels = stack->n_panels;
    chain->weights = (const double *)c->weights.device.at;
    return st;
}

/* --- the chain --- */

/** Copy the stages, and upload their arrays. */
static nb_status upload_stages(nb_backend_state *state, const nb_product *p,
                               nb_cuda_chain *chain, nb_error *err)
{
    nb_cuda_chains *c = &state->products.chains;
    nb_status st = NB_OK;
    chain->spread = -1;
    chain->n = p->stages;
    for (int i = 0; i < p->stages && !st; i++) {
        nb_stage *stage = &chain->stages[i];
        *stage = p->chain[i];
        if (stage->kind == NB_STAGE_SPREAD)
            chain->spread = i;
        if (stage->kind != NB_STAGE_GAINMAP)
            continue;
        st = nb_cuda_upload_mirror(state, &c->map, stage->map,
                                   (size_t)chain->pixels * sizeof *stage->map,
                                   "the gain map", err);
        stage->map = (const float *)c->map.device.at;
    }
    return st;
}

/** Make the light after the point spread, once for all products of an image. */
static nb_status make_light(nb_backend_state *state, const nb_scene *sc,
                            nb_cuda_chain *chain, nb_error *err)
{
    nb_cuda_chains *c = &state->products.chains;
    const nb_stage *spread = &chain->stages[chain->spread];
    const size_t bytes = (size_t)chain->pixels * sizeof(double);
    const char *what = "the point spread";
    nb_status st = NB_OK;
    if (c->has_light) {
        chain->light = (double *)c->light.at;
        return NB_OK;
    }
    NB_FORWARD(nb_cuda_reserve(&c->light, bytes, what, err));
    chain->light = (double *)c->light.at;
    if (spread->shape == NB_PSF_GAUSS &&
        (st = nb_cuda_reserve(&c->between, bytes, what, err)))
        return st;
    nb_cuda_launch_counts(chain, state->stream);
    if (spread->shape == NB_PSF_GAUSS)
        nb_cuda_launch_gauss(chain, (double *)c->between.at, state->stream);
    for (int k = 0, n; k < sc->n_panels && spread->shape != NB_PSF_GAUSS && !st; k += n) {
        for (n = 1; k + n < sc->n_panels &&
                    nb_cuda_fibre_alike(&sc->panels[k], &sc->panels[k + n]);)
            n++;
        st = nb_cuda_fibre_spread(&c->fibres, &sc->panels[k], n, spread->amount,
                                  chain->light + sc->panels[k].first_pixel, state->stream,
                                  err);
    }
    c->has_light = !st;
    return st;
}

nb_status nb_cuda_chain_make(nb_backend_state *state, const nb_scene *sc,
                             const nb_product *p, int i, unsigned long long *overloads,
                             nb_error *err)
{
    const nb_scene *stack = p->photons ? nb_photons_stack(p->photons) : sc;
    nb_cuda_chain chain = {};
    nb_status st;
    chain.image = (const float *)state->image.at;
    chain.mask = sc->raster.mask;
    chain.pixels = (int64_t)sc->raster.columns * sc->raster.rows;
    chain.scale = p->scale;
    chain.adc_offset = p->adc_offset;
    chain.held = nb_adu_range_of(p->type);
    if (p->trusted > 0)
        chain.held.max = fmin(chain.held.max, p->trusted);
    chain.overloads = overloads;
    chain.out = state->products.image[i].at;
    st = upload_stages(state, p, &chain, err);
    NB_TRY(upload_panels(state, stack, p, &chain, err));
    if (!st && chain.spread >= 0)
        st = make_light(state, sc, &chain, err);
    if (!st)
        nb_cuda_launch_chain(p->type, &chain, state->stream);
    return st;
}
