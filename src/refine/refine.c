/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../sim/sim.h"
#include "../base/c_locale.h"
#include "../base/clock.h"
#include "../base/cminpack_lib.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "fit.h"

void nb_refine_defaults(nb_refine_options *o)
{
    memset(o, 0, sizeof *o);
    o->knots = 12;
    o->spot_half = 3;
    o->spot_sigma = 6;
    o->evaluations = 40;
}

static nb_status check_options(const nb_sim *sim, const nb_refine_options *o,
                               nb_error *err)
{
    const nb_config *cfg = nb_sim_config(sim);
    if (o->likelihood == NB_LIKELIHOOD_GAUSS && !(cfg->readout_noise > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "-likelihood gauss needs the noise of the read-out: add "
                       "-readout_noise");
    if (o->background == NB_BACKGROUND_WATER && !(cfg->water_um > 0))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-fit_background water: the start has no water; add -water, or use "
            "radial:12");
    if (o->background == NB_BACKGROUND_RADIAL &&
        (o->knots < 1 || o->knots > NB_FIT_KNOTS_MAX))
        return nb_fail(err, NB_ERR_INPUT, "-fit_background radial:%d: from 1 to %d knots",
                       o->knots, NB_FIT_KNOTS_MAX);
    return NB_OK;
}

static nb_status open_fit(nb_fit *fit, const nb_image *picture, nb_error *err)
{
    const nb_crystal *x = &fit->sim->model.crystal;
    const nb_config *cfg = nb_sim_config(fit->sim);
    const nb_vec3 edges[3] = {x->a, x->b, x->c};
    int mosaic;
    nb_status st = nb_fit_name(fit, err);
    if (!st)
        st = nb_fit_observe(fit, picture, err);
    fit->kind = fit->o->background;
    if (fit->kind == NB_BACKGROUND_AUTO)
        fit->kind = cfg->water_um > 0 ? NB_BACKGROUND_WATER : NB_BACKGROUND_RADIAL;
    if (!st && fit->kind == NB_BACKGROUND_PLANES &&
        !(fit->background =
              nb_alloc(fit->pixels, sizeof *fit->background, "background", err)))
        st = NB_ERR_NOMEM;
    for (int i = 0; i < 3; i++)
        fit->start_edges[i] = nb_norm(edges[i]);
    mosaic = nb_fit_find(&fit->list, "mosaic");
    fit->start_mosaic = mosaic < 0 ? 0 : fit->list.p[mosaic].value;
    return st;
}

nb_status nb_refine(nb_sim *sim, const nb_image *picture,
                    const nb_refine_options *options, nb_refinement *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && picture && picture->pixels && options && out);
    double start = nb_monotonic_seconds();
    nb_fit fit = {.sim = sim, .o = options, .out = out};
    nb_status st;
    memset(out, 0, sizeof *out);
    st = nb_cminpack_need("nanobragg refine", err);
    if (!st)
        st = check_options(sim, options, err);
    if (!st)
        st = open_fit(&fit, picture, err);
    if (!st)
        st = nb_fit_run(&fit, err);
    if (!st)
        st = nb_fit_conclude(&fit, err);
    nb_fit_free(&fit);
    if (st)
        nb_refinement_free(out);
    out->seconds = nb_monotonic_seconds() - start;
    return st;
}

void nb_refinement_free(nb_refinement *r)
{
    if (!r)
        return;
    nb_free(r->parameters);
    nb_free(r->correlation);
    nb_free(r->correlated);
    nb_free(r->observed);
    nb_free(r->model);
    nb_free(r->residual);
    nb_free(r->stol);
    nb_free(r->used);
    nb_free(r->spots);
    nb_free(r->history);
    memset(r, 0, sizeof *r);
}

nb_status nb_refinement_residual(const nb_refinement *r, const char *path, nb_error *err)
{
    NB_REFUSE_NULL(r && r->residual && path);
    return nb_outfile_put(path, r->residual,
                          (size_t)r->fast * (size_t)r->slow * sizeof *r->residual, err);
}
