/* SPDX-License-Identifier: MIT */
/* Derivatives of the expected photons: the public calls. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../derive/variables.h"
#include "../model/units.h"
#include "../render/request.h"
#include "derive.h"
#include "footprint.h"
#include "light.h"

double nb_sim_mean_wavelength(const nb_sim *sim)
{
    const nb_beam *beam = &sim->model.scene.beam;
    double weight = 0, sum = 0;
    if (!sim->in.lines)
        return sim->model.wavelength_A;
    for (int i = 0; i < beam->n_sources; i++) {
        weight += beam->sources[i].weight;
        sum += beam->sources[i].weight * beam->sources[i].lambda;
    }
    return sum / weight / NB_ANGSTROM;
}

nb_subject nb_sim_subject(const nb_sim *sim)
{
    return (nb_subject){.cfg = &sim->model.settings,
                        .model = &sim->model,
                        .moved = &sim->moved,
                        .F = &sim->in.tables.box,
                        .wavelength_A = nb_sim_mean_wavelength(sim),
                        .has_matrix = sim->in.matrix.given,
                        .has_sources = sim->in.lines != NULL};
}

nb_status nb_sim_variables(const nb_sim *sim, const char *list,
                           char (**names)[NB_VARIABLE_NAME], int *count, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && list && names && count);
    const nb_subject of = nb_sim_subject(sim);
    return nb_variables_open(&of, list, names, count, err);
}

nb_status nb_sim_parameter(const nb_sim *sim, const char *name, nb_variable *out,
                           nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && name && out);
    const nb_subject of = nb_sim_subject(sim);
    nb_variable_name v;
    nb_status st = nb_variable_parse(&of, name, &v, err);
    memset(out, 0, sizeof *out);
    NB_TRY(nb_variable_check(&of, &v, err));
    if (st)
        return st;
    memcpy(out->name, v.name, sizeof out->name);
    out->value = nb_variable_value(&of, &v);
    out->unit = v.unit;
    out->flag = v.flag;
    out->moves = v.moves;
    out->can_move = nb_variable_moves(&of, &v, out->why_not);
    return NB_OK;
}

nb_status nb_sim_names(const nb_sim *sim, const char *const *names, int count,
                       nb_variable_name **out, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_variable_name *v;
    nb_status st = NB_OK;
    *out = NULL;
    if (count < 0 || count > NB_VARIABLES_MAX || (count > 0 && !names))
        return nb_fail(err, NB_ERR_INPUT, "%d parameters: must be 0 to %d", count,
                       NB_VARIABLES_MAX);
    if (!(v = nb_alloc((size_t)count, sizeof *v, "parameters", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < count && !st; i++) {
        st = names[i] ? nb_variable_parse(&of, names[i], &v[i], err)
                      : nb_fail(err, NB_ERR_INPUT, "the name of parameter %d is NULL", i);
        for (int j = 0; j < i && !st; j++)
            if (!strcmp(v[j].name, v[i].name))
                st = nb_fail(err, NB_ERR_INPUT, "parameter %s is named twice", v[i].name);
    }
    if (st)
        nb_free(v);
    else
        *out = v;
    return st;
}

static void say_still(const nb_hooks *hooks, const nb_subject *of,
                      const nb_variable_name *v)
{
    char why[160];
    if (!nb_variable_moves(of, v, why))
        nb_notice(hooks, "the derivative by %s is 0: %s", v->name, why);
}

/** The most that the cell of a spindle step differs from that of the frame's middle. */
static double scan_change(const nb_model *m)
{
    double most = 0;
    for (int k = 0; m->steps && k < m->scene.lattice.n_phi; k++)
        for (int i = 0; i < 9; i++)
            most = fmax(most, fabs(m->steps[k].mix[i] - (i % 4 == 0)));
    return most;
}

/** Derivatives hold what a crystal changes by along its frame, so they are right but for this part. */
static nb_status check_change(const nb_model *m, const nb_variable_name *v, nb_error *err)
{
    const double most = 1e-3, change = scan_change(m);
    if (change <= most || (v->kind != NB_VAR_MISSET && v->kind != NB_VAR_ROT &&
                           v->kind != NB_VAR_CELL && v->kind != NB_VAR_PHI))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "the derivative by %s: the crystal changes by %.2g of it along the "
                   "frame, which derivatives hold (at most %g); type a smaller -osc",
                   v->name, change, most);
}

nb_status nb_sim_check_slopes(const nb_sim *sim, nb_error *err)
{
    const nb_mix mix = nb_sim_mix(sim);
    if (sim->crowd)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-%s %.60s: derivatives and refine are of one crystal; leave it out",
            sim->cfg.crystals[0] ? "crystals" : "twin",
            sim->cfg.crystals[0] ? sim->cfg.crystals : sim->cfg.twin);
    if (mix.absorb && mix.rest)
        return nb_fail(err, NB_ERR_INPUT,
                       "-absorb with a background: derivatives and refine do not have it "
                       "yet; leave out one of them");
    return NB_OK;
}

/** The job of these names.  F is of a pullback alone. */
static nb_status build_job(const nb_sim *sim, const char *const *names, int count,
                           int pullback, nb_slope_job *job, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_variable_name *v;
    nb_status st;
    memset(job, 0, sizeof *job);
    NB_FORWARD(nb_sim_check_slopes(sim, err));
    st = nb_sim_names(sim, names, count, &v, err);
    for (int i = 0; i < count && !st; i++) {
        if (v[i].kind == NB_VAR_ALL_F)
            st = nb_fail(err, NB_ERR_INPUT,
                         pullback ? "F has many gradients: ask for them by their own "
                                    "argument"
                                  : "F: all structure factors need a pullback; name one "
                                    "as F:1:-2:3");
        NB_TRY(check_change(&sim->model, &v[i], err));
        say_still(&sim->hooks, &of, &v[i]);
    }
    NB_TRY(nb_slope_job_build(&of, v, count, job, err));
    for (int i = 0; i < count && !st; i++)
        st = nb_sim_check_factors(sim, &v[i], &job->tangents[i], err);
    nb_free(v);
    return st;
}

nb_status nb_sim_check_held(const nb_sim *sim, const char *const *names, int count,
                            nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_slope_job job = {0};
    nb_variable_name *v;
    nb_status st = nb_sim_names(sim, names, count, &v, err);
    NB_TRY(nb_slope_job_build(&of, v, count, &job, err));
    for (int i = 0; i < count && !st; i++)
        st = nb_sim_check_factors(sim, &v[i], &job.tangents[i], err);
    nb_slope_job_free(&job);
    nb_free(v);
    return st;
}

/** Say why the device does not make the derivatives; only the first time. */
static void say_cpu(nb_sim_engine *engine, const nb_hooks *hooks, const char *why)
{
    if (!engine->said_cpu)
        nb_notice(hooks, "derivatives are calculated on the CPU: %s", why);
    engine->said_cpu = 1;
}

/** Does the simulation's backend make derivatives of this job?  numbers: of sums over pixels. */
static int makes_slopes(nb_sim *sim, const nb_slope_job *job, int numbers)
{
    const nb_backend_device *device = sim->engine.backend->device;
    const char *why = "the device has no kernels for them";
    if (!device || (device->makes_slopes && device->makes_slopes(job, numbers, &why)))
        return 1;
    say_cpu(&sim->engine, &sim->hooks, why);
    return 0;
}

/** The simulation's backend, opened; of a device that nobody asked for by name and that fails, NB_OK without a state. */
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

/** knots: of a fit's background.  close_run, after an error too. */
static nb_status open_run(nb_sim *sim, const nb_slope_job *job, int knots,
                          nb_slope_run *run, nb_error *err)
{
    nb_status st = NB_OK;
    *run = (nb_slope_run){.job = job,
                          .precision = sim->cfg.precision,
                          .threads = sim->engine.options.threads,
                          .hooks = &sim->hooks};
    if (sim->model.diffuse.n_forms > 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "derivatives, and fits by them: not with -diffuse_sigma above 0, "
                       "whose light has none");
    if (makes_slopes(sim, job, job->count + knots))
        st = open_own(sim, run, err);
    if (st || run->state)
        return st;
    run->backend = nb_backend_cpu(&sim->engine.options);
    return run->backend->open(&sim->engine.options, &run->state, err);
}

/** A state beside the simulation's. */
static void close_run(const nb_sim *sim, nb_slope_run *run)
{
    if (run->state && run->state != sim->engine.state)
        run->backend->close(run->state);
}

/** Behind the factors of pixels. */
static void take_planes(const nb_sim *sim, int count, const nb_slope_planes_out *out)
{
    const size_t size = out->type == NB_REAL_FLOAT32 ? sizeof(float) : sizeof(double);
    for (int i = 0; i < count; i++)
        nb_sim_factor_plane(sim, 0, out->type,
                            (char *)out->planes +
                                (size_t)i * sim->model.scene.raster.pixels * size);
    if (out->image)
        nb_sim_factor_plane(sim, 1, NB_REAL_FLOAT32, out->image);
}

nb_status nb_sim_derivatives(nb_sim *sim, const char *const *names, int count,
                             nb_real_type type, void *planes, float *image, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && (planes || count == 0));
    const nb_slope_planes_out out = {type, planes, image, NULL};
    nb_slope_job job;
    nb_slope_run run = {0};
    nb_status st = build_job(sim, names, count, 0, &job, err);
    NB_TRY(open_run(sim, &job, 0, &run, err));
    if (!st && nb_sim_has_footprint(sim))
        st = nb_sim_footprint_planes(sim, &run, type, planes, image, err);
    else if (!st)
        st = nb_slope_fill(&run, &out, err);
    if (!st && nb_sim_has_factors(sim))
        take_planes(sim, count, &out);
    close_run(sim, &run);
    nb_slope_job_free(&job);
    return st;
}

nb_status nb_sim_render_double(nb_sim *sim, double *image, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image);
    nb_slope_job job;
    nb_slope_run run = {0};
    nb_status st = build_job(sim, NULL, 0, 0, &job, err);
    NB_TRY(open_run(sim, &job, 0, &run, err));
    if (!st && nb_sim_has_footprint(sim))
        st = nb_sim_footprint_slopes(sim, &run, &sim->model.scene, image, err);
    else if (!st)
        st = nb_slope_image(&run, image, err);
    if (!st && nb_sim_has_factors(sim))
        nb_sim_factor_plane(sim, 1, NB_REAL_FLOAT64, image);
    close_run(sim, &run);
    nb_slope_job_free(&job);
    return st;
}

/** Is one of n numbers not finite?  By their exponents, since a loop without an exit is done by vectors. */
static int any_not_finite(nb_real_type type, const void *array, size_t at, size_t n)
{
    int bad = 0;
    for (size_t i = at; type == NB_REAL_FLOAT32 && i < at + n; i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)array + i, sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    for (size_t i = at; type != NB_REAL_FLOAT32 && i < at + n; i++) {
        uint64_t bits;
        memcpy(&bits, (const double *)array + i, sizeof bits);
        bad |= ((uint32_t)(bits >> 32) & 0x7ff00000u) == 0x7ff00000u;
    }
    return bad;
}

enum {
    LOSS_PIECE = 1024,
    LOSS_SHARED = 64 /* pieces, from which on threads share them */
};

/** The same of a whole array, by threads. */
static int any_at_all(nb_real_type type, const void *array, size_t n, int threads)
{
    const int pieces = (int)((n + LOSS_PIECE - 1) / LOSS_PIECE);
    int bad = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) reduction(| : bad) if (pieces > LOSS_SHARED)
    for (int i = 0; i < pieces; i++) {
        const size_t at = (size_t)i * LOSS_PIECE, left = n - at;
        bad |= any_not_finite(type, array, at, left < LOSS_PIECE ? left : LOSS_PIECE);
    }
    return bad;
}

static nb_status check_loss(const nb_sim *sim, nb_real_type type, const void *dloss,
                            nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    size_t i = 0;
    if (!any_at_all(type, dloss, pixels, nb_thread_count(sim->engine.options.threads)))
        return NB_OK;
    while (isfinite(nb_real(type, dloss, i)))
        i++;
    return nb_fail(err, NB_ERR_INPUT,
                   "the slope of the loss is not finite at pixel %zu of %zu", i, pixels);
}

/** The first number of a gradient that is not finite; count: all are. */
static int not_finite_at(const double *gradient, int count)
{
    int i = 0;
    while (i < count && isfinite(gradient[i]))
        i++;
    return i;
}

/** A device looks at the slopes of the loss while it adds them up; then only a gradient that is not finite needs a look. */
static nb_status pull_checked(const nb_sim *sim, const nb_slope_run *run,
                              nb_real_type type, const void *dloss, double *gradient,
                              nb_hkl_gradient *F, nb_error *err)
{
    const int count = run->job->count, spreads = nb_sim_has_footprint(sim);
    const int later = run->backend->device && count > 0 && !F && !spreads;
    nb_status st = later ? NB_OK : check_loss(sim, type, dloss, err);
    if (!st && spreads)
        return nb_sim_footprint_pullback(sim, run, type, dloss, gradient, F, err);
    NB_TRY(nb_slope_pullback(run, type, dloss, gradient, err));
    if (!st && later && not_finite_at(gradient, count) < count)
        st = check_loss(sim, type, dloss, err);
    if (!st && F)
        st = nb_slope_F(run, type, dloss, F, err);
    return st;
}

/** The same of a loss behind the factors of pixels. */
static nb_status pull_behind(const nb_sim *sim, const nb_slope_run *run,
                             nb_real_type type, const void *dloss, double *gradient,
                             nb_hkl_gradient *F, nb_error *err)
{
    const nb_variable_name all = {.kind = NB_VAR_ALL_F, .name = "F"};
    double *before;
    nb_status st = F ? nb_sim_check_factors(sim, &all, NULL, err) : NB_OK;
    if (st || !nb_sim_has_factors(sim))
        return st ? st : pull_checked(sim, run, type, dloss, gradient, F, err);
    if ((st = check_loss(sim, type, dloss, err)) ||
        (st = nb_sim_factor_loss(sim, type, dloss, &before, err)))
        return st;
    st = pull_checked(sim, run, NB_REAL_FLOAT64, before, gradient, F, err);
    nb_free(before);
    return st;
}

/** Errors: NB_ERR_INPUT, a number of the gradient that a double does not hold. */
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

nb_status nb_sim_pullback(nb_sim *sim, const char *const *names, int count,
                          nb_real_type type, const void *dloss, double *gradient,
                          nb_hkl_gradient *F, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && dloss && (gradient || count == 0));
    nb_slope_job job;
    nb_slope_run run = {0};
    nb_status st;
    if (F)
        memset(F, 0, sizeof *F);
    st = build_job(sim, names, count, 1, &job, err);
    NB_TRY(open_run(sim, &job, 0, &run, err));
    NB_TRY(pull_behind(sim, &run, type, dloss, gradient, F, err));
    NB_TRY(check_gradient(names, count, gradient, F, err));
    if (st && F)
        nb_hkl_gradient_free(F);
    close_run(sim, &run);
    nb_slope_job_free(&job);
    return st;
}

nb_status nb_sim_pullback_device(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && dloss && (gradient || count == 0));
    nb_slope_job job;
    nb_slope_run run = {0};
    nb_status st = build_job(sim, names, count, 1, &job, err);
    NB_TRY(open_run(sim, &job, 0, &run, err));
    if (!st &&
        (!run.backend->device || nb_sim_has_footprint(sim) || nb_sim_has_factors(sim)))
        st = nb_fail(err, NB_ERR_UNSUPPORTED,
                     "the derivatives of this simulation are not made on a device");
    NB_TRY(nb_slope_pullback(&run, type, dloss, gradient, err));
    if (!st && not_finite_at(gradient, count) < count)
        st = nb_fail(err, NB_ERR_INPUT,
                     "the slope of the loss is not finite, or the gradient by %s is "
                     "too large",
                     names[not_finite_at(gradient, count)]);
    close_run(sim, &run);
    nb_slope_job_free(&job);
    return st;
}

nb_status nb_sim_pullback_spread(nb_sim *sim, const char *const *names, int count,
                                 nb_real_type type, const void *dloss, double *gradient,
                                 nb_hkl_gradient *F, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && dloss);
    nb_stage psf;
    double *before;
    nb_status st;
    if (F)
        memset(F, 0, sizeof *F);
    if (!nb_sim_has_spread(sim, &psf))
        return nb_sim_pullback(sim, names, count, type, dloss, gradient, F, err);
    if ((st = check_loss(sim, type, dloss, err)) ||
        (st = nb_sim_spread_loss(sim, &psf, type, dloss, &before, err)))
        return st;
    st = nb_sim_pullback(sim, names, count, NB_REAL_FLOAT64, before, gradient, F, err);
    nb_free(before);
    return st;
}

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

/** The scene whose pixels a fit needs before its point spread: those that are seen, where there is none.  *mask: nb_free. */
static nb_status scene_of_fit(const nb_sim *sim, const nb_observation *seen, int psf,
                              nb_scene *scene, uint8_t **mask, nb_error *err)
{
    const nb_raster *raster = &sim->model.scene.raster;
    *scene = sim->model.scene;
    *mask = NULL;
    if (psf)
        return NB_OK;
    if (!(*mask = nb_alloc_raw(raster->pixels, 1, "mask", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < raster->pixels; i++)
        (*mask)[i] = !isnan(seen->photons[i]) && (!raster->mask || raster->mask[i]);
    scene->raster.mask = *mask;
    return NB_OK;
}

/** Image and slopes behind the footprint. */
static nb_status fill_footprint(const nb_sim *sim, const nb_slope_run *run,
                                const nb_observation *seen, int psf, double *given,
                                nb_error *err)
{
    nb_scene scene;
    uint8_t *mask;
    nb_status st = scene_of_fit(sim, seen, psf, &scene, &mask, err);
    NB_TRY(nb_sim_footprint_slopes(sim, run, &scene, given, err));
    nb_free(mask);
    return st;
}

/** Image and slopes of a fit behind a footprint, factors of pixels or a point spread. */
typedef struct fit_given {
    double *values;      /* owned; NULL: there is neither */
    nb_slope_list list;  /* of whose pixels they are; n 0: of the stack */
    nb_slope_pixels own; /* owned */
} fit_given;

static void free_given(fit_given *given)
{
    nb_free(given->values);
    nb_slope_list_free(&given->list);
    nb_slope_pixels_free(&given->own);
}

/** Of the pixels that are seen, where no point spread and no device needs whole planes; NULL: list them. */
static nb_status fill_list(const nb_sim *sim, const nb_slope_run *run,
                           const nb_observation *seen, const nb_slope_pixels *pixels,
                           fit_given *given, nb_error *err)
{
    const size_t planes = (size_t)run->job->count + 1;
    nb_status st = NB_OK;
    if (!pixels) {
        st = nb_slope_observed(run->job, seen, &given->own, err);
        pixels = &given->own;
    }
    NB_TRY(nb_slope_list_open(&sim->model.scene, pixels, &given->list, err));
    if (!st && !(given->values = nb_alloc_raw(planes * given->list.n + 1, sizeof(double),
                                              "derivatives", err)))
        st = NB_ERR_NOMEM;
    NB_TRY(nb_sim_has_footprint(sim)
               ? nb_sim_footprint_at(sim, run, &given->list, given->values, err)
               : nb_slope_list_fill(run, &given->list, given->list.n, given->values, err));
    if (!st && nb_sim_has_factors(sim))
        nb_sim_factor_list(sim, &given->list, planes, given->values);
    return st;
}

/** Whole planes. */
static nb_status fill_stack(nb_sim *sim, const nb_slope_run *run,
                            const nb_observation *seen, const nb_stage *psf,
                            double **given, nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels, n = (size_t)run->job->count + 1;
    nb_slope_planes_out out = {.type = NB_REAL_FLOAT64};
    nb_status st = NB_ERR_NOMEM;
    if (!(*given = nb_alloc_raw(pixels * n, sizeof **given, "derivatives", err)))
        return st;
    out.expected = *given;
    out.planes = *given + pixels;
    st = nb_sim_has_footprint(sim)
             ? fill_footprint(sim, run, seen, psf != NULL, *given, err)
             : nb_slope_fill(run, &out, err);
    for (size_t i = 0; i < n && !st && nb_sim_has_factors(sim); i++)
        nb_sim_factor_plane(sim, i == 0, NB_REAL_FLOAT64, *given + i * pixels);
    for (size_t i = 0; i < n && psf && !st; i++)
        st = nb_sim_spread_values(sim, psf, *given + i * pixels, err);
    return st;
}

/** The job of a fit, and image and slopes that are given to it.  Both are freed after an error, too. */
static nb_status fit_job(nb_sim *sim, const char *const *names, int count,
                         const nb_pixels_seen *of, nb_slope_job *job, fit_given *given,
                         nb_error *err)
{
    nb_slope_run run = {0};
    nb_stage psf;
    const int spreads = nb_sim_has_spread(sim, &psf),
              behind = nb_sim_has_footprint(sim) || nb_sim_has_factors(sim);
    nb_status st = build_job(sim, names, count, 0, job, err);
    if (st || (!spreads && !behind))
        return st;
    st = open_run(sim, job, 0, &run, err);
    if (!st && !spreads && !run.backend->device)
        st = fill_list(sim, &run, of->seen, of->pixels, given, err);
    else if (!st)
        st = fill_stack(sim, &run, of->seen, spreads ? &psf : NULL, &given->values, err);
    close_run(sim, &run);
    return st;
}

static void use_given(const fit_given *given, nb_slope_run *run)
{
    run->given = given->values;
    run->given_of = given->list.n ? &given->list : NULL;
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
    nb_slope_job job = {0};
    fit_given given = {0};
    nb_slope_fit fit = {seen, &sim->model.scene, nb_sim_mean_wavelength(sim)};
    nb_slope_run run = {0};
    nb_status st = check_observation(seen, err);
    NB_TRY(fit_job(sim, names, count, &(nb_pixels_seen){seen, pixels, NULL}, &job, &given,
                   err));
    NB_TRY(open_run(sim, &job, seen->n_knots, &run, err));
    use_given(&given, &run);
    NB_TRY(nb_slope_normal(&run, &fit, pixels, loss, gradient, fisher, err));
    close_run(sim, &run);
    nb_slope_job_free(&job);
    free_given(&given);
    return st;
}

nb_status nb_sim_expected(nb_sim *sim, const nb_observation *seen, double *expected,
                          nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && seen && expected);
    nb_slope_job job = {0};
    fit_given given = {0};
    nb_slope_run run = {0};
    nb_status st = check_observation(seen, err);
    NB_TRY(fit_job(sim, NULL, 0, &(nb_pixels_seen){seen, NULL, NULL}, &job, &given, err));
    NB_TRY(open_run(sim, &job, 0, &run, err));
    use_given(&given, &run);
    NB_TRY(nb_slope_expected(&run, seen, expected, err));
    close_run(sim, &run);
    nb_slope_job_free(&job);
    free_given(&given);
    return st;
}

/** From planes that were given. */
static void copy_given(const fit_given *given, size_t planes, size_t stack,
                       const nb_slope_list *list, double *values)
{
    if (given->list.n)
        memcpy(values, given->values, planes * list->n * sizeof *values);
    else
        nb_slope_list_gather(list, given->values, stack, planes, list->n, values);
}

nb_status nb_sim_slopes_at(nb_sim *sim, const char *const *names, int count,
                           const nb_pixels_seen *of, double *values, nb_error *err)
{
    const size_t planes = (size_t)count + 1;
    const nb_slope_list *list = of->list;
    nb_slope_job job = {0};
    fit_given given = {0};
    nb_slope_run run = {0};
    nb_status st = fit_job(sim, names, count, of, &job, &given, err);
    NB_TRY(open_run(sim, &job, 0, &run, err));
    if (!st && given.values)
        copy_given(&given, planes, sim->model.scene.raster.pixels, list, values);
    else if (!st)
        st = nb_slope_list_fill(&run, list, list->n, values, err);
    close_run(sim, &run);
    nb_slope_job_free(&job);
    free_given(&given);
    return st;
}
