/* SPDX-License-Identifier: MIT */
/* Derivatives of the expected photons: the public calls. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../derive/variables.h"
#include "../render/request.h"
#include "crystals.h"
#include "derive.h"
#include "footprint.h"
#include "light.h"

/** Largest element of M - 1 at any spindle step; M: matrix of the crystal's change. */
static double scan_change(const nb_model *m)
{
    double max = 0;
    for (int k = 0; m->steps && k < m->scene.lattice.n_phi; k++)
        for (int i = 0; i < 9; i++)
            max = fmax(max, fabs(m->steps[k].mix[i] - (i % 4 == 0)));
    return max;
}

/** Refuse v if the crystal changes much in a frame: derivatives hold the change fixed. */
static nb_status check_change(const nb_model *m, const nb_variable_name *v, nb_error *err)
{
    const double max = 1e-3, change = scan_change(m);
    if (change <= max || (v->kind != NB_VAR_MISSET && v->kind != NB_VAR_ROT &&
                          v->kind != NB_VAR_CELL && v->kind != NB_VAR_PHI))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "the derivative by %s: the crystal changes by %.2g of it along the "
                   "frame, which derivatives hold (at most %g); type a smaller -osc",
                   v->name, change, max);
}

/** Jobs of slopes, a renderer, and `values` if slopes need steps after rendering. Each
 * lattice of the image has a job. The background has a separate job if its factors differ
 * from those of the lattices. */
typedef struct slopes {
    int n;              /* lattices: the first crystal, further crystals and twin parts */
    int has_rest;       /* 1: jobs[n] has the background; 0: jobs[0] has it */
    int opened;         /* number of jobs to free */
    nb_slope_job *jobs; /* owned; [n + 1] */
    /* owned; [n + 1]: scenes of the jobs that are not the scene of a model */
    nb_scene *scenes;
    nb_slope_run run;    /* the run of jobs[0] */
    nb_slope_pixels own; /* owned; list of pixels, or empty if the caller has a list */
    nb_slope_list list;  /* the pixels of `values` */
    double *values;      /* owned; [1 + count][list.n], or NULL */
} slopes;

static void free_jobs(slopes *s)
{
    for (int i = 0; i < s->opened; i++)
        nb_slope_job_free(&s->jobs[i]);
    nb_free(s->jobs);
    nb_free(s->scenes);
}

/** Refuse F as a parameter if an image has several lattices: the table of F belongs to
 * the first alone. */
static nb_status check_table(const nb_sim *sim, const nb_variable_name *v, nb_error *err)
{
    const int table = v->kind == NB_VAR_F || v->kind == NB_VAR_ALL_F ||
                      (v->kind == NB_VAR_DEFAULT_F && sim->in.tables.box.nh > 0);
    return sim->further && table
               ? nb_fail(err, NB_ERR_INPUT,
                         "the derivative by %s: not with several lattices "
                         "(-crystals, -twin), which may have tables of F of their own",
                         v->name)
               : NB_OK;
}

/** Build job i, with the parameters that move this lattice. The parts of a twin have
 * separate slopes, because a change of the cell can break the symmetry of the law. So a
 * mixed scene gets the F of the first part alone. */
static nb_status build_job(const nb_sim *sim, int i, const nb_variable_name *names,
                           int count, slopes *s, nb_error *err)
{
    nb_slope_job *job = &s->jobs[i];
    const nb_further *x = i > 0 ? sim->further->all[i - 1] : NULL;
    nb_displacement moved;
    const nb_subject of =
        x ? nb_sim_further_subject(sim, i - 1, &moved) : nb_sim_subject(sim);
    nb_variable_name *v = nb_alloc((size_t)count, sizeof *v, "parameters", err);
    nb_status st = v ? NB_OK : NB_ERR_NOMEM;
    for (int k = 0; k < count && !st; k++) {
        v[k] = names[k];
        if (x && !nb_sim_moves_crystal(sim, x, &v[k])) {
            v[k].kind = NB_VAR_OTHER;
            v[k].sums = 0;
        }
    }
    NB_TRY(nb_slope_job_build(&of, v, count, job, err));
    for (int k = 0; k < count && !st; k++)
        st = nb_sim_check_factors(sim, of.model, &v[k], &job->tangents[k], err);
    s->scenes[i] = of.model->scene;
    if (of.model->is_mixed)
        s->scenes[i].factors.table = of.model->alone;
    if (of.model->is_mixed || s->has_rest)
        job->scene = &s->scenes[i];
    nb_free(v);
    return st;
}

/** Move the background from jobs[0] to a separate job. */
static nb_status part_background(const nb_sim *sim, const nb_variable_name *names,
                                 int count, slopes *s, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_slope_job *rest = &s->jobs[s->n];
    nb_status st = nb_slope_job_build(&of, names, count, rest, err);
    s->scenes[s->n] = nb_scene_without_crystal(&sim->model.scene);
    rest->scene = &s->scenes[s->n];
    rest->sums &= NB_SLOPE_RAY | NB_SLOPE_WAVE | NB_SLOPE_POLAR | NB_SLOPE_BEAM;
    rest->n_entries = 0;
    for (int k = 0; k < count && !st; k++) {
        nb_tangent *t = &rest->tangents[k];
        *t = (nb_tangent){.wave = t->wave,
                          .spectrum = t->spectrum,
                          .beam = {t->beam[0], t->beam[1]},
                          .image = t->image,
                          .background = t->background,
                          .polarization = t->polarization,
                          .entry = -1,
                          .panels = t->panels};
        s->jobs->tangents[k].background = 0;
    }
    s->scenes->background = 0;
    s->scenes->amorphous = NULL;
    return st;
}

/** True if the factors of the background differ from those of the crystals. */
static int parts_background(const nb_sim *sim)
{
    const nb_scene *sc = &sim->model.scene;
    return (sc->background != 0 || sc->amorphous) &&
           (nb_sim_has_footprint(sim) || nb_sim_mix(sim).absorb);
}

/** Build the jobs of all lattices.  Close *s also after an error. */
static nb_status build_jobs(const nb_sim *sim, const nb_variable_name *names, int count,
                            slopes *s, nb_error *err)
{
    const int n = 1 + (sim->further ? sim->further->n : 0);
    nb_status st = NB_OK;
    for (int k = 0; k < count && !st; k++)
        st = check_table(sim, &names[k], err);
    if (st)
        return st;
    s->n = n;
    s->has_rest = parts_background(sim);
    s->jobs = nb_alloc((size_t)n + 1, sizeof *s->jobs, "parameters", err);
    s->scenes = nb_alloc((size_t)n + 1, sizeof *s->scenes, "parameters", err);
    if (!s->jobs || !s->scenes)
        return NB_ERR_NOMEM;
    while (s->opened < n && !st)
        st = build_job(sim, s->opened++, names, count, s, err);
    if (st || !s->has_rest)
        return st;
    s->opened = n + 1;
    return part_background(sim, names, count, s, err);
}

/** Open the jobs of the named parameters; refuse F, with another message for a
 * pullback. */
static nb_status open_jobs(const nb_sim *sim, const char *const *names, int count,
                           int pullback, slopes *s, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    const char *why;
    nb_variable_name *v;
    nb_status st;
    st = nb_sim_names(sim, names, count, &v, err);
    for (int i = 0; i < count && !st; i++) {
        if (v[i].kind == NB_VAR_ALL_F)
            st = nb_fail(err, NB_ERR_INPUT,
                         pullback ? "F has many gradients: ask for them by their own "
                                    "argument"
                                  : "F: all structure factors need a pullback; name one "
                                    "as F:1:-2:3");
        NB_TRY(check_change(&sim->model, &v[i], err));
        if ((why = nb_variable_stands_still(&of, &v[i])))
            nb_notice(&sim->hooks, "the derivative by %s is 0: %s", v[i].name, why);
    }
    NB_TRY(build_jobs(sim, v, count, s, err));
    nb_free(v);
    return st;
}

nb_status nb_sim_check_held(const nb_sim *sim, const char *const *names, int count,
                            nb_error *err)
{
    slopes s = {0};
    nb_variable_name *v;
    nb_status st = nb_sim_names(sim, names, count, &v, err);
    NB_TRY(build_jobs(sim, v, count, &s, err));
    free_jobs(&s);
    nb_free(v);
    return st;
}

static void say_cpu(nb_sim_engine *engine, const nb_hooks *hooks, const char *why)
{
    if (!engine->said_cpu)
        nb_notice(hooks, "derivatives are calculated on the CPU: %s", why);
    engine->said_cpu = 1;
}

/** True if the backend makes these slopes, otherwise note why. numbers: number of
 * parameters and knots. */
static int makes_slopes(nb_sim *sim, const nb_slope_job *job, int numbers)
{
    const nb_backend_device *device = sim->engine.backend->device;
    const char *why = "the device has no kernels for them";
    if (!device || (device->makes_slopes && device->makes_slopes(job, numbers, &why)))
        return 1;
    say_cpu(&sim->engine, &sim->hooks, why);
    return 0;
}

/** Open the backend of sim. If an automatic device fails, the status is NB_OK and
 * run->state is NULL. */
static nb_status open_own(nb_sim *sim, nb_slope_run *run, nb_error *err)
{
    nb_sim_engine *engine = &sim->engine;
    nb_error local = {0};
    nb_status st = nb_engine_open(engine, err ? err : &local);
    if (st == NB_ERR_DEVICE && nb_device_is_automatic(&sim->cfg)) {
        say_cpu(engine, &sim->hooks, (err ? err : &local)->message);
        return NB_OK;
    }
    run->backend = engine->backend;
    run->state = engine->state;
    if (!st && engine->backend->device)
        nb_tables_sign(&sim->in.tables, &sim->model.scene.factors.table);
    return st;
}

/** Open s->run. The caller calls close_slopes, after an error too. knots: number of knots
 * of a refined background. */
static nb_status open_run(nb_sim *sim, slopes *s, int knots, nb_error *err)
{
    const nb_slope_job *job = s->jobs;
    nb_slope_run *run = &s->run;
    nb_status st = NB_OK;
    *run = (nb_slope_run){.job = job,
                          .precision = sim->cfg.precision,
                          .threads = sim->engine.options.threads,
                          .hooks = &sim->hooks};
    if (sim->model.diffuse.n_forms > 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "derivatives, and fits by them: not with -diffuse_sigma above 0, "
                       "whose light has none");
    if (s->n == 1 && makes_slopes(sim, job, job->count + knots))
        st = open_own(sim, run, err);
    if (st || run->state)
        return st;
    run->backend = nb_backend_cpu(&sim->engine.options);
    return run->backend->open(&sim->engine.options, &run->state, err);
}

static void close_slopes(const nb_sim *sim, slopes *s)
{
    /* a state that is not that of the simulation */
    if (s->run.state && s->run.state != sim->engine.state)
        s->run.backend->close(s->run.state);
    free_jobs(s);
    nb_slope_list_free(&s->list);
    nb_slope_pixels_free(&s->own);
    nb_free(s->values);
}

/** Apply a point spread, which needs whole planes, to the planes of the list. */
static nb_status spread_planes(const nb_sim *sim, const nb_stage *psf, slopes *s,
                               nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    double *whole = nb_alloc_raw(pixels, sizeof *whole, "derivatives", err);
    nb_status st = whole ? NB_OK : NB_ERR_NOMEM;
    for (size_t k = 0; k <= (size_t)s->jobs->count && !st; k++) {
        double *plane = s->values + k * s->list.n;
        memset(whole, 0, pixels * sizeof *whole);
        nb_slope_list_scatter(&s->list, plane, whole);
        if (!(st = nb_sim_spread_values(sim, psf, whole, err)))
            nb_slope_list_gather(&s->list, whole, pixels, 1, s->list.n, plane);
    }
    nb_free(whole);
    return st;
}

/** The run of job i. */
static nb_slope_run run_of(const slopes *s, int i)
{
    nb_slope_run run = s->run;
    run.job = &s->jobs[i];
    return run;
}

/** Fill s->values with image and slopes of the lattices, with footprint and absorption,
 * and of the background, at the pixels of the list. */
static nb_status add_parts(const nb_sim *sim, slopes *s, nb_error *err)
{
    const size_t planes = (size_t)s->jobs->count + 1, n = planes * s->list.n;
    double *one = NULL;
    nb_status st = NB_OK;
    if (s->opened > 1 && !(one = nb_alloc_raw(n + 1, sizeof *one, "derivatives", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < s->opened && !st; i++) {
        const nb_slope_run run = run_of(s, i);
        double *to = i > 0 ? one : s->values;
        st = i < s->n && nb_sim_has_footprint(sim)
                 ? nb_sim_footprint_at(sim, &run, &s->list, to, err)
                 : nb_slope_list_fill(&run, &s->list, s->list.n, to, err);
        if (i < s->n && !st)
            nb_sim_filter_list(sim, NB_FILTER_ABSORB, &s->list, planes, to);
        for (size_t k = 0; i > 0 && k < n && !st; k++)
            s->values[k] += one[k];
    }
    nb_free(one);
    return st;
}

/** Make image and slopes of the pixels (NULL: all) with footprint, factors and psf. */
static nb_status fill_values(const nb_sim *sim, const nb_slope_pixels *pixels,
                             const nb_stage *psf, slopes *s, nb_error *err)
{
    const nb_scene *scene = &sim->model.scene;
    const size_t planes = (size_t)s->jobs->count + 1;
    nb_status st = NB_OK;
    if (!pixels) {
        st = nb_slope_scene_pixels(scene, &s->own, err);
        pixels = &s->own;
    }
    NB_TRY(nb_slope_list_open(scene, pixels, &s->list, err));
    if (!st && !(s->values = nb_alloc_raw(planes * s->list.n + 1, sizeof *s->values,
                                          "derivatives", err)))
        st = NB_ERR_NOMEM;
    NB_TRY(add_parts(sim, s, err));
    if (!st && nb_sim_has_factors(sim))
        nb_sim_filter_list(sim, NB_FILTER_SHADOW, &s->list, planes, s->values);
    if (!st && psf)
        st = spread_planes(sim, psf, s, err);
    s->run.given = s->values;
    s->run.given_of = &s->list;
    return st;
}

/** Open slopes by the named parameters, for an observation `of` after the point spread,
 * or if `of` is NULL for the image before the point spread. *s must be zero; close it
 * after an error, too. */
static nb_status open_slopes(nb_sim *sim, const char *const *names, int count,
                             const nb_pixels_seen *of, slopes *s, nb_error *err)
{
    nb_stage psf;
    const int spreads = of && nb_sim_has_spread(sim, &psf);
    const int rendered = !spreads && !sim->further && !nb_sim_has_footprint(sim) &&
                         !nb_sim_has_factors(sim);
    const nb_slope_pixels *pixels = of && !spreads ? of->pixels : NULL;
    nb_status st = open_jobs(sim, names, count, 0, s, err);
    NB_TRY(open_run(sim, s, of && rendered ? of->seen->n_knots : 0, err));
    if (st || rendered)
        return st;
    if (of && !spreads && !pixels) {
        st = nb_slope_observed(s->jobs, of->seen, &s->own, err);
        pixels = &s->own;
    }
    return st ? st : fill_values(sim, pixels, spreads ? &psf : NULL, s, err);
}

nb_status nb_sim_derivatives(nb_sim *sim, const char *const *names, int count,
                             nb_real_type type, void *planes, float *image, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && (planes || count == 0));
    const nb_slope_planes_out out = {type, planes, image, NULL};
    slopes s = {0};
    nb_status st = open_slopes(sim, names, count, NULL, &s, err);
    NB_TRY(nb_slope_fill(&s.run, &out, err));
    close_slopes(sim, &s);
    return st;
}

nb_status nb_sim_render_double(nb_sim *sim, double *image, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image);
    slopes s = {0};
    nb_status st = open_slopes(sim, NULL, 0, NULL, &s, err);
    NB_TRY(nb_slope_image(&s.run, image, err));
    close_slopes(sim, &s);
    return st;
}

/* --- pullback --- */

/** Slopes of a loss by the pixels, slopes[pixels]. */
typedef struct loss_slopes {
    nb_real_type type;
    const void *slopes;
    const nb_stage *psf; /* the point spread before the loss, or NULL */
} loss_slopes;

static nb_status check_loss(const nb_sim *sim, const loss_slopes *loss, nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    const int team = nb_image_threads(sim->engine.options.threads, (int64_t)pixels);
    size_t first = pixels;
    (void)team;
#pragma omp parallel for num_threads(team) reduction(min : first)
    for (size_t i = 0; i < pixels; i++)
        if (!isfinite(nb_real(loss->type, loss->slopes, i)) && i < first)
            first = i;
    return first == pixels
               ? NB_OK
               : nb_fail(err, NB_ERR_INPUT,
                         "the slope of the loss is not finite at pixel %zu of %zu", first,
                         pixels);
}

/** Index of the first number of a gradient that is not finite, or count. */
static int not_finite_at(const double *gradient, int count)
{
    int i = 0;
    while (i < count && isfinite(gradient[i]))
        i++;
    return i;
}

/** Make *out[pixels] (nb_free), slopes of the loss by the pixels before factors and point
 * spread; 0 outside of region and mask. */
static nb_status loss_before(const nb_sim *sim, const loss_slopes *loss, double **out,
                             nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    nb_status st = NB_OK;
    if (!(*out = nb_alloc_raw(sc->raster.pixels, sizeof **out, "slopes of a loss", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < sc->raster.pixels; i++)
        (*out)[i] = nb_real(loss->type, loss->slopes, i);
    nb_keep_rendered(sc, *out);
    if (loss->psf && !(st = nb_sim_spread_values(sim, loss->psf, *out, err)))
        nb_keep_rendered(sc, *out);
    if (!st)
        nb_sim_filter_loss(sim, NB_FILTER_SHADOW, *out);
    return st;
}

/** Pull back a loss.  On a device, and without F, the slopes of the loss are checked only
 * if the gradient is not finite. */
static nb_status pull_rendered(const nb_sim *sim, const nb_slope_run *run,
                               const loss_slopes *loss, double *gradient,
                               nb_hkl_gradient *F, nb_error *err)
{
    const int count = run->job->count, later = run->backend->device && count > 0 && !F;
    nb_status st = later ? NB_OK : check_loss(sim, loss, err);
    NB_TRY(nb_slope_pullback(run, loss->type, loss->slopes, gradient, err));
    if (!st && later && not_finite_at(gradient, count) < count)
        st = check_loss(sim, loss, err);
    if (!st && F)
        st = nb_slope_F(run, loss->type, loss->slopes, F, err);
    return st;
}

/** Pull back `before`, the slopes of a loss by the pixels before shadows, through
 * background and lattices. Afterwards `before` has the slopes by the pixels before
 * absorption. */
static nb_status pull_parts(const nb_sim *sim, const slopes *s, double *before,
                            double *gradient, nb_hkl_gradient *F, nb_error *err)
{
    const loss_slopes loss = {NB_REAL_FLOAT64, before, NULL};
    const int count = s->jobs->count;
    double one[NB_VARIABLES_MAX] = {0};
    nb_status st = NB_OK;
    for (int k = 0; k < count; k++)
        gradient[k] = 0;
    for (int i = s->opened - 1; i >= 0 && !st; i--) {
        const nb_slope_run run = run_of(s, i);
        if (i == s->n - 1)
            nb_sim_filter_loss(sim, NB_FILTER_ABSORB, before);
        st = i < s->n && nb_sim_has_footprint(sim)
                 ? nb_sim_footprint_pullback(sim, &run, before, one, F, err)
                 : pull_rendered(sim, &run, &loss, one, i < s->n ? F : NULL, err);
        for (int k = 0; k < count && !st; k++)
            gradient[k] += one[k];
    }
    return st;
}

/** Pull back a loss through point spread, factors and footprint. */
static nb_status pull(const nb_sim *sim, const slopes *s, const loss_slopes *loss,
                      double *gradient, nb_hkl_gradient *F, nb_error *err)
{
    const nb_variable_name all = {.kind = NB_VAR_ALL_F, .name = "F"};
    double *before = NULL;
    nb_status st = F ? nb_sim_check_factors(sim, &sim->model, &all, NULL, err) : NB_OK;
    if (!st && F)
        st = check_table(sim, &all, err);
    if (st || (s->n == 1 && !loss->psf && !nb_sim_has_footprint(sim) &&
               !nb_sim_has_factors(sim)))
        return st ? st : pull_rendered(sim, &s->run, loss, gradient, F, err);
    st = check_loss(sim, loss, err);
    NB_TRY(loss_before(sim, loss, &before, err));
    NB_TRY(pull_parts(sim, s, before, gradient, F, err));
    nb_free(before);
    return st;
}

/** Refuse a gradient with a number that is not finite.  Errors: NB_ERR_INPUT. */
static nb_status check_gradient(const char *const *names, int count,
                                const double *gradient, const nb_hkl_gradient *F,
                                nb_error *err)
{
    const int i = not_finite_at(gradient, count);
    size_t j = 0;
    if (i < count)
        return nb_fail(
            err, NB_ERR_INPUT,
            "the gradient by %s is not finite: the slope of the loss is too large, "
            "or a value of the scene too close to 0",
            names[i]);
    while (F && j < F->count && isfinite(F->gradient[j]))
        j++;
    return F && j < F->count
               ? nb_fail(
                     err, NB_ERR_INPUT,
                     "the gradient by F:%d:%d:%d is not finite: the slope of the loss is "
                     "too large",
                     (int)F->hkl[j][0], (int)F->hkl[j][1], (int)F->hkl[j][2])
               : NB_OK;
}

static nb_status pullback(nb_sim *sim, const char *const *names, int count,
                          const loss_slopes *loss, double *gradient, nb_hkl_gradient *F,
                          nb_error *err)
{
    slopes s = {0};
    nb_status st;
    if (F)
        memset(F, 0, sizeof *F);
    st = open_jobs(sim, names, count, 1, &s, err);
    NB_TRY(open_run(sim, &s, 0, err));
    NB_TRY(pull(sim, &s, loss, gradient, F, err));
    NB_TRY(check_gradient(names, count, gradient, F, err));
    if (st && F)
        nb_hkl_gradient_free(F);
    close_slopes(sim, &s);
    return st;
}

nb_status nb_sim_pullback(nb_sim *sim, const char *const *names, int count,
                          nb_real_type type, const void *dloss, double *gradient,
                          nb_hkl_gradient *F, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && dloss && (gradient || count == 0));
    return pullback(sim, names, count, &(loss_slopes){type, dloss, NULL}, gradient, F,
                    err);
}

nb_status nb_sim_pullback_device(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && dloss && (gradient || count == 0));
    slopes s = {0};
    nb_status st = open_jobs(sim, names, count, 1, &s, err);
    NB_TRY(open_run(sim, &s, 0, err));
    if (!st &&
        (!s.run.backend->device || nb_sim_has_footprint(sim) || nb_sim_has_factors(sim)))
        st = nb_fail(err, NB_ERR_UNSUPPORTED,
                     "the derivatives of this simulation are not made on a device");
    NB_TRY(nb_slope_pullback(&s.run, type, dloss, gradient, err));
    if (!st && not_finite_at(gradient, count) < count)
        st = nb_fail(err, NB_ERR_INPUT,
                     "the slope of the loss is not finite, or the gradient by %s is "
                     "too large",
                     names[not_finite_at(gradient, count)]);
    close_slopes(sim, &s);
    return st;
}

nb_status nb_sim_pullback_spread(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_hkl_gradient *F, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && dloss && (gradient || count == 0));
    nb_stage psf;
    const loss_slopes loss = {type, dloss, nb_sim_has_spread(sim, &psf) ? &psf : NULL};
    return pullback(sim, names, count, &loss, gradient, F, err);
}

/* --- fits --- */

static nb_status check_observation(const nb_observation *seen, nb_error *err)
{
    NB_REFUSE_NULL(seen->photons && (seen->n_knots == 0 || (seen->knots && seen->values)));
    if (seen->n_knots < 0 || seen->n_knots > NB_VARIABLES_MAX)
        return nb_fail(err, NB_ERR_INPUT, "%d knots of a background: must be 0 to %d",
                       seen->n_knots, NB_VARIABLES_MAX);
    for (int i = 0; i < seen->n_knots; i++)
        if (!isfinite(seen->knots[i]) || (i > 0 && !(seen->knots[i] > seen->knots[i - 1])))
            return nb_fail(err, NB_ERR_INPUT,
                           "knot %d of the background, %g 1/A: knots must grow", i,
                           seen->knots[i]);
    if (seen->likelihood == NB_LIKELIHOOD_GAUSS && !(seen->sigma > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "the Gaussian likelihood needs a read-out noise above 0 photons");
    return NB_OK;
}

nb_status nb_sim_normal(nb_sim *sim, const char *const *names, int count,
                        const nb_observation *seen, double *loss, double *gradient,
                        double *fisher, nb_error *err)
{
    return nb_sim_normal_at(sim, names, count, seen, NULL, loss, gradient, fisher, err);
}

nb_status nb_sim_normal_at(nb_sim *sim, const char *const *names, int count,
                           const nb_observation *seen, const nb_slope_pixels *pixels,
                           double *loss, double *gradient, double *fisher, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && seen);
    slopes s = {0};
    nb_slope_fit fit = {seen, &sim->model.scene, nb_sim_mean_wavelength(sim)};
    nb_status st = check_observation(seen, err);
    NB_TRY(open_slopes(sim, names, count, &(nb_pixels_seen){seen, pixels, NULL}, &s, err));
    NB_TRY(nb_slope_normal(&s.run, &fit, pixels, loss, gradient, fisher, err));
    close_slopes(sim, &s);
    return st;
}

nb_status nb_sim_expected(nb_sim *sim, const nb_observation *seen, double *expected,
                          nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && seen && expected);
    slopes s = {0};
    nb_status st = check_observation(seen, err);
    NB_TRY(open_slopes(sim, NULL, 0, &(nb_pixels_seen){seen, NULL, NULL}, &s, err));
    NB_TRY(nb_slope_expected(&s.run, seen, expected, err));
    close_slopes(sim, &s);
    return st;
}

nb_status nb_sim_slopes_at(nb_sim *sim, const char *const *names, int count,
                           const nb_pixels_seen *of, double *values, nb_error *err)
{
    /* an observation without knots */
    const nb_observation seen = {.photons = of->seen->photons};
    const nb_pixels_seen plain = {&seen, of->pixels, of->list};
    slopes s = {0};
    nb_status st = open_slopes(sim, names, count, &plain, &s, err);
    NB_TRY(nb_slope_list_fill(&s.run, of->list, of->list->n, values, err));
    close_slopes(sim, &s);
    return st;
}
