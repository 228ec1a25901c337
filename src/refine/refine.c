/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "../base/c_locale.h"
#include "../base/clock.h"
#include "../base/cminpack_lib.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../sim/report.h"
#include "../sim/sim.h"
#include "fit.h"

/* A fit as JSON. */

static void add_parameters(nb_json root, const nb_refinement *r)
{
    nb_json all = nb_json_object(root, "parameters");
    for (int i = 0; i < r->n_parameters; i++) {
        const nb_refined *p = &r->parameters[i];
        nb_json one = nb_json_object(all, p->name);
        nb_json_number(one, "start", p->start);
        nb_json_number(one, "value", p->value);
        nb_json_number(one, "sigma", p->sigma);
        nb_json_number(one, "sigma_counting", p->sigma_counting);
        nb_json_text(one, "unit", p->unit);
        nb_json_flag(one, "at_bound", p->at_bound);
    }
}

static void add_matrix(nb_json to, const char *key, const double *m, int n)
{
    nb_json rows = nb_json_array(to, key);
    for (int i = 0; i < n; i++)
        nb_json_add_numbers(rows, m + i * n, n);
}

static void add_masks(nb_json root, const nb_refine_masked *m)
{
    static const char *const names[NB_MASKED_KINDS] = {
        [NB_MASKED_FILE] = "file", [NB_MASKED_SATURATED] = "saturated",
        [NB_MASKED_HOT] = "hot",   [NB_MASKED_SHADOW] = "shadow",
        [NB_MASKED_RING] = "ring", [NB_MASKED_FOREIGN] = "foreign"};
    nb_json masked = nb_json_object(root, "masked"), list;
    for (int k = NB_MASKED_FILE; k < NB_MASKED_KINDS; k++)
        nb_json_number(masked, names[k], (double)m->count[k]);
    list = nb_json_array(masked, "hot_pixels");
    for (int i = 0; i < m->n_hot; i++)
        nb_json_add_numbers(list, (const double[2]){m->hot[i][0], m->hot[i][1]}, 2);
    if (m->count[NB_MASKED_SHADOW])
        nb_json_numbers(
            masked, "shadow_box",
            (const double[4]){m->shadow[0], m->shadow[1], m->shadow[2], m->shadow[3]}, 4);
    list = nb_json_array(masked, "rings_A");
    for (int i = 0; i < m->n_rings; i++)
        nb_json_add_numbers(list, m->ring_d[i], 2);
    list = nb_json_array(masked, "foreign_spots");
    for (int i = 0; i < m->n_foreign; i++)
        nb_json_add_numbers(list, (const double[2]){m->foreign[i][0], m->foreign[i][1]},
                            2);
}

static void add_stages(nb_json root, const nb_refinement *r)
{
    nb_json list = nb_json_array(root, "stages");
    for (int i = 0; i < r->n_stages; i++) {
        const nb_refine_stage *s = &r->stages[i];
        nb_json one = nb_json_add_object(list);
        nb_json_text(one, "name", s->name);
        nb_json_number(one, "pixels", (double)s->pixels);
        nb_json_number(one, "evaluations", s->evaluations);
        nb_json_number(one, "loss", s->loss);
        nb_json_flag(one, "converged", s->converged);
        nb_json_number(one, "seconds", s->seconds);
        if (s->dropped)
            nb_json_flag(one, "dropped", 1);
    }
}

static void add_trial(nb_json root, const char *name, const nb_refine_trial *t)
{
    nb_json one = nb_json_object(root, name);
    nb_json_flag(one, "tried", t->tried);
    nb_json_flag(one, "kept", t->kept);
    if (!t->tried)
        return;
    nb_json_number(one, "gain", t->gain);
    nb_json_number(one, "cost", t->cost);
    if (t->kept)
        nb_json_text(one, "value", t->value);
}

static void add_spots(nb_json root, const nb_refinement *r)
{
    nb_json list = nb_json_array(root, "spots");
    for (int i = 0; i < r->n_spots; i++) {
        const nb_refined_spot *s = &r->spots[i];
        const double pixel[2] = {s->pixel[0], s->pixel[1]};
        const double hkl[3] = {s->hkl[0], s->hkl[1], s->hkl[2]};
        nb_json one = nb_json_add_object(list);
        nb_json_numbers(one, "hkl", hkl, 3);
        nb_json_numbers(one, "pixel", pixel, 2);
        nb_json_number(one, "model", s->model);
        nb_json_number(one, "observed", s->observed);
        nb_json_number(one, "chi2", s->chi2);
    }
}

nb_status nb_refinement_json(const nb_refinement *r, char **json, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(r && json);
    int failed = 0;
    nb_json root = {cJSON_CreateObject(), &failed}, correlation, names;
    char *text = NULL, *line;
    nb_status st;
    *json = NULL;
    if (r->picture)
        nb_json_text(root, "picture", r->picture);
    if (r->pictures) {
        nb_json_number(root, "pictures", r->pictures);
        nb_json_number(root, "left_out", r->left_out);
    }
    nb_json_text(root, "status", r->status);
    nb_json_flag(root, "converged", r->converged);
    nb_json_number(root, "loss", r->loss);
    nb_json_number(root, "deviance_per_pixel", r->deviance_per_pixel);
    nb_json_number(root, "pixels", (double)r->pixels);
    nb_json_number(root, "evaluations", r->evaluations);
    nb_json_number(root, "images", r->images);
    nb_json_number(root, "seconds", r->seconds);
    add_parameters(root, r);
    if (r->rotated) {
        nb_json_numbers(root, "misset_deg", r->misset_deg, 3);
        nb_json_numbers(root, "rotation_sigma_deg", r->rotation_sigma_deg, 3);
        nb_json_numbers(root, "rotation_sigma_counting_deg",
                        r->rotation_sigma_counting_deg, 3);
        add_matrix(root, "rotation_covariance_deg2", &r->rotation_covariance[0][0], 3);
    }
    correlation = nb_json_object(root, "parameter_correlation");
    names = nb_json_array(correlation, "names");
    for (int i = 0; i < r->n_correlated; i++)
        nb_json_add_text(names, r->correlated[i]);
    add_matrix(correlation, "matrix", r->correlation, r->n_correlated);
    nb_json_number(root, "picture_correlation", r->picture_correlation);
    nb_json_number(root, "given_F_correlation", r->given_F_correlation);
    nb_json_number(root, "given_F_deviance_per_pixel", r->given_F_deviance);
    nb_json_number(root, "F_sigma", r->F_sigma);
    nb_json_number(root, "peaks", r->peaks);
    nb_json_number(root, "start_agreement", r->start_agreement);
    nb_json_number(root, "agreement", r->agreement);
    add_masks(root, &r->masks);
    add_trial(root, "footprint", &r->footprint);
    add_trial(root, "divergence", &r->divergence);
    add_stages(root, r);
    add_spots(root, r);
    if ((st = nb_json_print(root, "the refinement", &text, err)))
        return st;
    line = nb_strdup(text, err);
    cJSON_Minify(line ? line : text); /* one line */
    nb_free(text);
    *json = line;
    return line ? NB_OK : NB_ERR_NOMEM;
}

void nb_refine_defaults(nb_refine_options *o)
{
    memset(o, 0, sizeof *o);
    o->knots = 12;
    o->spot_half = 3;
    o->spot_sigma = 6;
    o->evaluations = 40;
    o->F_sigma = -1;
}

nb_status nb_fit_check_options(const nb_sim *sim, const nb_refine_options *o,
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

nb_fit_background nb_fit_background_of(const nb_sim *sim, const nb_refine_options *o)
{
    if (o->background != NB_BACKGROUND_AUTO)
        return o->background;
    return nb_sim_config(sim)->water_um > 0 ? NB_BACKGROUND_WATER : NB_BACKGROUND_RADIAL;
}

nb_status nb_fit_open(nb_fit *fit, const nb_image *picture, nb_error *err)
{
    const nb_crystal *x = &fit->sim->model.crystal;
    const nb_vec3 edges[3] = {x->a, x->b, x->c};
    int mosaic;
    nb_status st = nb_fit_name(fit, err);
    if (!st)
        st = nb_fit_observe(fit, picture, err);
    fit->kind = nb_fit_background_of(fit->sim, fit->o);
    if (!st)
        st = nb_fit_mask(fit, err);
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
        st = nb_fit_check_options(sim, options, err);
    if (!st)
        st = nb_fit_open(&fit, picture, err);
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
    nb_free(r->before);
    nb_free(r->residual);
    nb_free(r->stol);
    nb_free(r->used);
    nb_free(r->masked);
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
