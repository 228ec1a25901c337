/* SPDX-License-Identifier: MIT */
/* One render from start to end. */
#include <math.h>
#include <string.h>

#include "../src/physics/panels.h"
#include "spots.h"

/** Rows of pixels, and parts of the steps, that one launch takes. */
typedef struct band_cut {
    int rows, bands, parts;
} band_cut;

/** Launches of a third of a second at most: display watchdogs, progress and SIGINT. */
static band_cut cut_bands(const nb_plan *plan, const nb_panel *panel, nb_cuda_path path,
                          int max_parts)
{
    const double seconds = 0.3;
    const int quantum = 4;
    const nb_region r = nb_panel_region(plan->scene, panel);
    double width = r.fmax - r.fmin + 1, height = r.smax - r.smin + 1;
    double rows = seconds * nb_cuda_step_rate(path, plan) / (width * plan->terms);
    band_cut cut = {quantum, 0, 1};
    if (nb_region_pixels(r) == 0)
        return cut;
    if (rows >= height)
        cut.rows = (int)height;
    else if (rows > quantum)
        cut.rows = (int)(rows / quantum) * quantum;
    else
        cut.parts = (int)fmin(ceil(quantum / rows), (double)max_parts);
    cut.bands = (int)ceil(height / cut.rows);
    return cut;
}

typedef struct render_job {
    nb_backend_state *state;
    const nb_scene *scene; /* host */
    nb_plan plan;
    nb_cuda_launch launch;
    nb_cuda_terms terms;
    const uint8_t *lit; /* device, of the stack; NULL: the region of interest */
    int max_parts;      /* of a pixel's steps */
    nb_region region;   /* of the panel of the launch, and its bands */
    band_cut cut;
    int stays;  /* the image is left on the device */
    int filled; /* the spans fill the region of interest of `scene` */
} render_job;

static void submit_double(render_job *job, int part)
{
    int n = job->scene->lattice.n_orientations, parts = job->cut.parts;
    nb_cuda_part p = {(int)((int64_t)n * part / parts), 0, NULL, part == 0,
                      part == parts - 1};
    p.count = (int)((int64_t)n * (part + 1) / parts) - p.first;
    if (parts > 1)
        p.sums = (double *)job->state->sums.at + job->launch.panel.first_pixel;
    nb_cuda_launch_double(&job->launch, &p);
}

static void submit_tensor(render_job *job, int part)
{
    int64_t n = job->terms.octets, parts = job->cut.parts;
    int degree = job->state->options.precision == NB_PRECISION_SINGLE ? 3 : 4;
    nb_cuda_octets octets = {(int)(n * part / parts), (int)(n * (part + 1) / parts),
                             part > 0, degree};
    nb_cuda_launch_tensor(&job->launch, &job->terms, &octets);
    if (part == parts - 1)
        nb_cuda_launch_repair(&job->launch);
}

static void submit_residual(render_job *job)
{
    const nb_scene *sc = job->scene;
    /* a float fraction shifts flanks by 6e-8 N, the same for every orientation of a
     * source */
    int exact = job->plan.cells > 7 * sqrt((double)sc->beam.n_sources) ||
                sc->lattice.n_orientations < 50;
    nb_cuda_launch_residual(&job->launch, &job->terms, exact);
    nb_cuda_launch_repair(&job->launch);
}

/** Is the image repaired on the device?  It is where it stays, and before materials are added. */
static int repairs_there(const render_job *job)
{
    return job->stays || job->launch.scene.amorphous;
}

/** With few steps a repair is rare, so it is the host that looks, after a download. */
static void submit_direct(render_job *job)
{
    if (!repairs_there(job))
        job->launch.repair = job->state->repair;
    nb_cuda_launch_direct(&job->launch, &job->terms);
    if (repairs_there(job))
        nb_cuda_launch_repair(&job->launch);
}

static void submit(render_job *job, int band, int part)
{
    const nb_region *r = &job->region;
    nb_cuda_window *w = &job->launch.window;
    w->f0 = r->fmin;
    w->f1 = r->fmax + 1;
    w->s0 = r->smin + band * job->cut.rows;
    w->s1 = w->s0 + job->cut.rows;
    if (w->s1 > r->smax + 1)
        w->s1 = r->smax + 1;
    switch (job->state->path) {
    case NB_PATH_TENSOR:
        submit_tensor(job, part);
        break;
    case NB_PATH_RESIDUAL:
        submit_residual(job);
        break;
    case NB_PATH_DIRECT:
        submit_direct(job);
        break;
    default:
        submit_double(job, part);
    }
    if (job->launch.scene.amorphous && part == job->cut.parts - 1)
        nb_cuda_launch_background(&job->launch);
}

/** Wait for launch i; ask the caller whether to go on. */
static nb_status finish_launch(render_job *job, int i, int total, nb_error *err)
{
    const nb_hooks *hooks = &job->state->options.hooks;
    nb_status st =
        nb_cuda_check(err, gpuEventSynchronize(job->state->bands[i % 2]), "rendering");
    if (!st && hooks->progress && hooks->progress(hooks->user, (i + 1.0) / total))
        st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    return st;
}

static band_cut cut_panel(const render_job *job, int k)
{
    return cut_bands(&job->plan, &job->scene->panels[k], job->state->path, job->max_parts);
}

static int count_launches(const render_job *job)
{
    int n = 0;
    for (int k = 0; k < job->scene->n_panels; k++) {
        band_cut cut = cut_panel(job, k);
        n += cut.bands * cut.parts;
    }
    return n;
}

/** Turn the job to a panel. */
static void set_panel(render_job *job, int k)
{
    nb_cuda_set_panel(job->state, job->scene, k, job->lit, &job->launch);
    job->region = nb_panel_region(job->scene, &job->scene->panels[k]);
    job->cut = cut_panel(job, k);
}

/** The launches of a panel, one ahead of the one that is waited for; *i: launches before it. */
static nb_status run_panel(render_job *job, int *i, int total, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_status st = NB_OK;
    for (int n = 0; n < job->cut.bands * job->cut.parts && !st; n++, ++*i) {
        submit(job, n / job->cut.parts, n % job->cut.parts);
        st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
        if (!st && (total > 1 || state->options.hooks.progress))
            st = nb_cuda_check(err, gpuEventRecord(state->bands[*i % 2], state->stream),
                               "rendering");
        if (!st && *i > 0)
            st = finish_launch(job, *i - 1, total, err);
    }
    return st;
}

/** All launches.  Steps are aimed at the first panel already. */
static nb_status run_panels(render_job *job, nb_error *err)
{
    int total = count_launches(job), i = 0;
    nb_backend_state *state = job->state;
    nb_status st =
        nb_cuda_check(err, gpuEventRecord(state->began, state->stream), "rendering");
    for (int k = 0; k < job->scene->n_panels && !st; k++) {
        set_panel(job, k);
        if (job->scene->n_panels > 1)
            nb_cuda_aim_terms(&job->launch, &job->terms);
        st = run_panel(job, &i, total, err);
    }
    if (!st)
        st = nb_cuda_check(err, gpuEventRecord(state->ended, state->stream), "rendering");
    if (!st && total > 0 && (total > 1 || state->options.hooks.progress))
        st = finish_launch(job, total - 1, total, err);
    return st;
}

static int covers_image(const nb_raster *raster)
{
    return raster->roi.fmin == 0 && raster->roi.smin == 0 &&
           raster->roi.fmax == raster->columns - 1 && raster->roi.smax == raster->rows - 1;
}

/** Nothing to repair yet, and pixels that no kernel writes are 0. */
static nb_status clear(render_job *job, nb_error *err)
{
    const nb_raster *raster = &job->scene->raster;
    gpuError_t code = gpuSuccess;
    *job->state->repair = 0;
    if (repairs_there(job) || job->state->path == NB_PATH_TENSOR ||
        job->state->path == NB_PATH_RESIDUAL)
        code = gpuMemsetAsync(job->launch.repair, 0, sizeof(int), job->state->stream);
    if (code == gpuSuccess && !(job->filled && covers_image(raster)))
        code = gpuMemsetAsync(job->state->image.at, 0, raster->pixels * sizeof(float),
                              job->state->stream);
    return nb_cuda_check(err, code, "clearing the image");
}

/** The tables of the fast kernels, or the ones of the last render if nothing has changed.
 * *fits as in nb_cuda_prepare_terms. */
static nb_status prepare(render_job *job, int *fits, nb_error *err)
{
    nb_backend_state *state = job->state;
    const nb_scene *sc = &job->launch.scene;
    nb_status st;
    if (state->is_prepared && state->prepared_path == state->path &&
        memcmp(&state->prepared_scene, sc, sizeof *sc) == 0) {
        job->terms = state->prepared;
        return NB_OK;
    }
    state->is_prepared = 0;
    st = nb_cuda_prepare_terms(state, &job->plan, &job->launch, state->path, &job->terms,
                               fits, err);
    if (st || !*fits)
        return st;
    state->prepared = job->terms;
    state->prepared_path = state->path;
    memcpy(&state->prepared_scene, sc, sizeof *sc);
    state->is_prepared = 1;
    return NB_OK;
}

/** Tables and launches for the path that the scene allows. */
static nb_status plan_render(render_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    const nb_scene *sc = job->scene;
    const char *why;
    int fits = 1, parts = 1;
    nb_status st = NB_OK;
    state->path = nb_cuda_choose_path(&job->plan, &why);
    if (state->path != NB_PATH_DOUBLE)
        st = prepare(job, &fits, err);
    if (!fits)
        state->path = NB_PATH_DOUBLE;
    job->max_parts = 1; /* the other two cannot take a part of a pixel's steps */
    if (state->path == NB_PATH_TENSOR)
        job->max_parts = job->terms.octets;
    if (state->path == NB_PATH_DOUBLE)
        job->max_parts = sc->lattice.n_orientations;
    for (int k = 0; k < sc->n_panels; k++) {
        const int of_panel = cut_panel(job, k).parts;
        parts = of_panel > parts ? of_panel : parts;
    }
    if (!st && state->path == NB_PATH_DOUBLE && parts > 1)
        st = nb_cuda_reserve(&state->sums, sc->raster.pixels * sizeof(double),
                             "partial sums", err);
    return st;
}

/** What submit_direct left undone. */
static nb_status repair(render_job *job, float *image, nb_error *err)
{
    const nb_region *r = &job->region;
    nb_status st;
    for (int k = 0; k < job->scene->n_panels; k++) {
        set_panel(job, k);
        job->launch.window = {r->fmin, r->fmax + 1, r->smin, r->smax + 1};
        nb_cuda_launch_repair(&job->launch);
    }
    st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
    if (st)
        return st;
    return nb_cuda_download(job->state->ring, image, job->state->image.at,
                            job->scene->raster.pixels * sizeof *image, job->state->stream,
                            err);
}

/** By reflections; *done: else every step is to be rendered. */
static nb_status render_part(render_job *job, int *done, nb_error *err)
{
    nb_backend_state *state = job->state;
    const char *why;
    nb_status st = NB_OK;
    *done = 0;
    state->left.refused = nb_cuda_refuses_tolerance(&job->plan);
    if (state->left.refused || nb_cuda_choose_path(&job->plan, &why) != NB_PATH_SPOTS)
        return NB_OK;
    state->path = NB_PATH_SPOTS;
    *state->repair = 0;
    st = nb_cuda_render_spots(state, &job->plan, &job->launch, &state->left, err);
    *done = !st && !state->left.refused;
    if (!*done)
        job->plan.tolerance = {};
    for (int k = 0; *done && job->launch.scene.amorphous && k < job->scene->n_panels; k++) {
        set_panel(job, k);
        const nb_region *r = &job->region;
        job->launch.window = {r->fmin, r->fmax + 1, r->smin, r->smax + 1};
        if (nb_region_pixels(*r) > 0)
            nb_cuda_launch_background(&job->launch);
    }
    return st ? st : nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
}

/** Into the image there; what little is left to repair, the caller does. */
static nb_status render_on_device(render_job *job, const nb_request *request,
                                  nb_error *err)
{
    nb_raster *raster = &job->launch.scene.raster;
    nb_status st = NB_OK;
    int done;
    *raster = job->scene->raster;
    job->lit = NULL;
    if (request->n == 0)
        return clear(job, err);
    if (!job->filled)
        st = nb_cuda_light(job->state, request, raster->pixels, &job->lit, err);
    raster->mask = job->lit;
    if (!st)
        st = render_part(job, &done, err);
    if (st || done)
        return st;
    st = plan_render(job, err);
    if (!st)
        st = clear(job, err);
    return st ? st : run_panels(job, err);
}

nb_status nb_cuda_render_request(nb_backend_state *state, const nb_scene *sc,
                                 const nb_request *request, float *image, nb_error *err)
{
    int filled;
    const nb_scene part = nb_request_scene(request, sc, &filled);
    const nb_engine engine = nb_cuda_engine(&state->device);
    nb_plan plan = nb_plan_of(&part, request->precision, &engine);
    plan.tolerance = request->tolerance;
    state->asked = request->tolerance.asked;
    state->left = {};
    render_job job = {state, &part, plan, {}, {}, NULL, 1, {}, {}, image == NULL, filled};
    size_t bytes = sc->raster.pixels * sizeof *image;
    nb_status st = nb_cuda_upload(state, sc, &job.launch, err);
    if (!st)
        st = render_on_device(&job, request, err);
    if (!st && image)
        st = nb_cuda_download(state->ring, image, state->image.at, bytes, state->stream,
                              err);
    if (!st && image && *state->repair)
        st = repair(&job, image, err);
    if (st)
        gpuStreamSynchronize(state->stream);
    return st;
}
