/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/clock.h"
#include "../base/cminpack_lib.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../series/orientations.h"
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
    }
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
        add_matrix(root, "rotation_covariance_deg2", &r->rotation_covariance[0][0], 3);
    }
    correlation = nb_json_object(root, "parameter_correlation");
    names = nb_json_array(correlation, "names");
    for (int i = 0; i < r->n_correlated; i++)
        nb_json_add_text(names, r->correlated[i]);
    add_matrix(correlation, "matrix", r->correlation, r->n_correlated);
    nb_json_number(root, "picture_correlation", r->picture_correlation);
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

/* Many images: each thread refines whole ones. */

enum { DEVICE_WORKERS = 8 };

/** What all threads share. */
typedef struct shared {
    const nb_refine_frames *frames;
    nb_refine_options options;
    nb_sim *base;
    double (*missets)[3]; /* owned; NULL: the start's */
    nb_outfile report;
    int lines;           /* in the report */
    nb_status lost;      /* why the report cannot be written, */
    nb_error lost_error; /* and what is said of it */
    atomic_int stop;
} shared;

/** The start of a frame. */
static nb_status begin(const shared *all, nb_sim *sim, int frame, nb_error *err)
{
    nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "configuration", err);
    nb_status st;
    if (!cfg)
        return NB_ERR_NOMEM;
    *cfg = *nb_sim_config(all->base);
    if (all->missets) {
        cfg->misset_mode = NB_MISSET_FIXED;
        memcpy(cfg->misset_deg, all->missets[frame], sizeof cfg->misset_deg);
    }
    st = nb_sim_rebuild(sim, cfg, err);
    nb_free(cfg);
    return st;
}

/** A line of the report; one call at a time. */
static void report_frame(shared *all, const nb_refinement *result)
{
    char *json = NULL;
    nb_status st;
    if (!all->frames->report || all->lost)
        return;
    st = nb_refinement_json(result, &json, &all->lost_error);
    if (!st)
        st = nb_outfile_write(&all->report, json, strlen(json), &all->lost_error);
    if (!st)
        st = nb_outfile_write(&all->report, "\n", 1, &all->lost_error);
    nb_free(json);
    all->lines += !st;
    all->lost = st;
}

/** What was refined is kept after a stop or an error, too. */
static nb_status end_report(shared *all, nb_status st, nb_error *err)
{
    if (all->lost && !st)
        st = nb_fail(err, all->lost, "%s", all->lost_error.message);
    if (all->frames->report && !all->lost && (all->lines || !st)) {
        nb_error *said = st ? NULL : err; /* the first error counts */
        nb_status end = nb_outfile_commit(&all->report, said);
        st = st ? st : end;
    }
    nb_outfile_abort(&all->report);
    return st;
}

static void refine_frame(shared *all, nb_sim *sim, int frame)
{
    const char *name = all->frames->images[frame];
    nb_refinement result = {0};
    nb_image picture = {0};
    nb_config typed;
    nb_error err = {0};
    char why[sizeof err.message + 200];
    int fast, slow, stop;
    nb_status st = begin(all, sim, frame, &err);
    nb_config_defaults(&typed);
    typed.max_read_MB = nb_sim_config(all->base)->max_read_MB;
    nb_sim_size(sim, &fast, &slow);
    if (!st)
        st = nb_image_read(name, fast, slow, &typed, &picture, &err);
    if (!st)
        st = nb_refine(sim, &picture, &all->options, &result, &err);
    snprintf(why, sizeof why, "%.150s: %s", name, err.message);
#ifdef _OPENMP
#pragma omp critical(nb_refine_done)
#endif
    {
        stop = all->frames->done(all->frames->user, frame, st ? NULL : &result, why);
        if (!st)
            report_frame(all, &result);
        if (stop || all->lost)
            atomic_store(&all->stop, 1);
    }
    nb_refinement_free(&result);
    nb_image_free(&picture);
}

/** Of so many images at a time.  On a device all of them share it: what one calculates there hides what others do on the
 * host. */
static int workers_of(const shared *all)
{
    int threads = nb_threads_of(nb_sim_config(all->base)), count = all->frames->count;
    if (all->base->engine.backend->device && threads > DEVICE_WORKERS)
        threads = DEVICE_WORKERS;
    return threads < count ? threads : count;
}

/** One thread: the images that no other has taken. */
static nb_status refine_frames(shared *all, int threads, const nb_hooks *hooks,
                               atomic_int *next, nb_error *err)
{
    NB_IN_C_LOCALE;
    nb_sim *sim = NULL;
    nb_status st = nb_sim_clone(all->base, hooks, threads, &sim, err);
    int k;
    while (!st && !atomic_load(&all->stop) &&
           (k = atomic_fetch_add(next, 1)) < all->frames->count)
        refine_frame(all, sim, k);
    nb_sim_free(sim);
    return st;
}

static nb_status share_out(shared *all, const nb_hooks *hooks, nb_error *err)
{
    const int workers = workers_of(all);
    nb_status status = NB_OK;
    atomic_int next = 0;
    if (workers ==
        1) /* not in a parallel region: threads of nested ones start again each time */
        return refine_frames(all, nb_threads_of(nb_sim_config(all->base)), hooks, &next,
                             err);
#ifdef _OPENMP
#pragma omp parallel num_threads(workers)
#endif
    {
        nb_error why = {0};
        nb_status st = refine_frames(all, 1, hooks, &next, &why);
        if (st) {
#ifdef _OPENMP
#pragma omp critical(nb_refine_done)
#endif
            status = nb_fail(err, st, "%s", why.message);
        }
    }
    return status;
}

nb_status nb_refine_series(const nb_config *cfg, const nb_refine_frames *frames,
                           const nb_refine_options *options, const nb_hooks *hooks,
                           nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && frames && frames->images && frames->done && options);
    shared all = {.frames = frames, .options = *options, .report = {.fd = -1}};
    nb_status st = nb_sim_create_for(cfg, frames->count, hooks, &all.base, err);
    int count = 0;
    all.options.stage = NULL;
    if (!st && frames->orientations)
        st = nb_orientations_load(frames->orientations, frames->count, &all.missets,
                                  &count, err);
    if (!st && frames->report)
        st = nb_outfile_open(&all.report, frames->report, err);
    if (!st)
        st = share_out(&all, hooks, err);
    st = end_report(&all, st, err);
    nb_free(all.missets);
    nb_sim_free(all.base);
    return st;
}

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
