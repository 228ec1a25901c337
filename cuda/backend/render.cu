/* SPDX-License-Identifier: MIT */
/* One render from start to end. */
#include <math.h>
#include <string.h>

#include "render_job.h"
#include "../spots/spots.h"

/** Whether the materials have a kernel of their own: they need cells, flat panels with layers at the same depths, and one
 * factor of polarization. */
static int has_cells(const nb_cuda_job *job)
{
    const nb_scene *sc = job->scene;
    if (!job->launch.cells.n || job->state->path == NB_PATH_DOUBLE)
        return 0;
    for (int i = 1; i < sc->beam.n_sources && sc->oversample_polar && !sc->beam.nopolar;
         i++)
        if (memcmp(&sc->beam.sources[i].incident, &sc->beam.sources[0].incident,
                   sizeof(nb_vec3)) != 0)
            return 0;
    const int deep = sc->sensors[sc->panels[0].sensor].mean_depth;
    for (int k = 0; k < sc->n_panels; k++)
        if (sc->panels[k].curved || sc->sensors[sc->panels[k].sensor].mean_depth != deep)
            return 0;
    return 1;
}

/** Does the crystal's kernel take the materials along? */
static int is_wet(const nb_cuda_job *job)
{
    return job->state->path == NB_PATH_DIRECT && job->launch.scene.amorphous &&
           has_cells(job) && nb_cuda_direct_is_wet(&job->launch, &job->terms);
}

/** The materials of a panel, or of many. */
static void submit_materials(nb_cuda_job *job)
{
    if (has_cells(job))
        nb_cuda_launch_materials(&job->launch, job->many[NB_JOBS_MATERIALS]);
    else
        nb_cuda_launch_background(&job->launch, job->state->path == NB_PATH_DOUBLE,
                                  job->many[NB_JOBS_PLAIN]);
}

static void submit_double(nb_cuda_job *job, int part)
{
    int n = job->scene->lattice.n_orientations, parts = job->cut.parts;
    nb_cuda_part p = {(int)((int64_t)n * part / parts), 0, NULL, part == 0,
                      part == parts - 1};
    p.count = (int)((int64_t)n * (part + 1) / parts) - p.first;
    if (parts > 1)
        p.sums = (double *)job->state->sums.at + job->launch.panel.first_pixel;
    nb_cuda_launch_double(&job->launch, &p, job->many[NB_JOBS_PLAIN]);
}

static void submit_tensor(nb_cuda_job *job, int part)
{
    const nb_cuda_octets octets = nb_cuda_octets_of(job, part);
    nb_cuda_launch_tensor(&job->launch, &job->terms, &octets, job->many[NB_JOBS_FAST]);
    if (part == job->cut.parts - 1)
        nb_cuda_launch_repair(&job->launch, 0, job->many[NB_JOBS_PLAIN]);
}

static void submit_tricubic(nb_cuda_job *job)
{
    nb_cuda_launch_tricubic(&job->launch, &job->terms, job->many[NB_JOBS_FAST]);
    nb_cuda_launch_repair(&job->launch, 0, job->many[NB_JOBS_PLAIN]);
}

/** Is the image repaired on the device?  It is where it stays, and before materials are added. */
static int repairs_there(const nb_cuda_job *job)
{
    return job->stays || job->launch.scene.amorphous;
}

/** With few steps a repair is rare, so it is the host that looks, after a download. */
static void choose_repair(nb_cuda_job *job)
{
    if (job->state->path == NB_PATH_DIRECT && !repairs_there(job))
        job->launch.repair = job->state->repair;
}

/** The materials, too, if it is by the kernel of the crystal. */
static void submit_direct(nb_cuda_job *job)
{
    const int wet = is_wet(job);
    nb_cuda_launch_direct(&job->launch, &job->terms, wet, job->many[NB_JOBS_FAST]);
    if (repairs_there(job))
        nb_cuda_launch_repair(&job->launch, wet, job->many[NB_JOBS_PLAIN]);
}

/** What the window asks for: one part of its steps. */
static void submit(nb_cuda_job *job, int part)
{
    switch (job->state->path) {
    case NB_PATH_TENSOR:
        submit_tensor(job, part);
        break;
    case NB_PATH_TRICUBIC:
        submit_tricubic(job);
        break;
    case NB_PATH_DIRECT:
        submit_direct(job);
        break;
    default:
        submit_double(job, part);
    }
    if (job->launch.scene.amorphous && part == job->cut.parts - 1 && !is_wet(job))
        submit_materials(job);
}

/** Wait for launch i; ask the caller whether to go on. */
static nb_status finish_launch(nb_cuda_job *job, int i, int total, nb_error *err)
{
    const nb_hooks *hooks = &job->state->options.hooks;
    nb_status st =
        nb_cuda_check(err, gpuEventSynchronize(job->state->bands[i % 2]), "rendering");
    if (!st && hooks->progress && hooks->progress(hooks->user, (i + 1.0) / total))
        st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    return st;
}

/* ------------------------------------------------------------------ several panels */

/** Do any kernels in double precision follow, or render? */
static int needs_plain(const nb_cuda_job *job)
{
    return job->state->path != NB_PATH_DIRECT || repairs_there(job);
}

static int needs_jobs(const nb_cuda_job *job, int which)
{
    if (which == NB_JOBS_MATERIALS)
        return job->launch.scene.amorphous && has_cells(job);
    return which == NB_JOBS_FAST ? job->state->path != NB_PATH_DOUBLE : needs_plain(job);
}

/** Make it possible that panels share launches. */
static nb_status keep_jobs(nb_cuda_job *job, nb_error *err)
{
    const int n = job->scene->n_panels;
    nb_status st = NB_OK;
    if (n == 1 || (job->state->path != NB_PATH_DOUBLE && job->terms.direct &&
                   job->terms.panels != n))
        return NB_OK;
    for (int which = 0; which < NB_CUDA_JOBS && !st; which++)
        if (needs_jobs(job, which))
            st = nb_cuda_upload_jobs(job, which, err);
    job->kept = !st;
    return st;
}

/** One launch for panels k to end - 1. */
static void submit_panels(nb_cuda_job *job, int k, int end)
{
    nb_cuda_many many[NB_CUDA_JOBS] = {};
    while (k < end - 1 &&
           nb_region_pixels(nb_panel_region(job->scene, &job->scene->panels[k])) == 0)
        k++;
    nb_cuda_turn(job, k);
    if (nb_region_pixels(job->region) == 0)
        return;
    job->cut.parts = 1;
    for (int i = 0; i < NB_CUDA_JOBS; i++)
        if (needs_jobs(job, i)) {
            many[i] = nb_cuda_many_of(job, i, k, end);
            job->many[i] = &many[i];
        }
    submit(job, 0);
    for (int i = 0; i < NB_CUDA_JOBS; i++)
        job->many[i] = NULL;
}

/* ------------------------------------------------------------------ all panels */

/** After launch i of `total`, one ahead of the one that is waited for. */
static nb_status launched(nb_cuda_job *job, int i, int total, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_status st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
    if (!st && (total > 1 || state->options.hooks.progress))
        st = nb_cuda_check(err, gpuEventRecord(state->bands[i % 2], state->stream),
                           "rendering");
    if (!st && i > 0)
        st = finish_launch(job, i - 1, total, err);
    return st;
}

/** The launches of panel k; *i: launches before it. */
static nb_status run_panel(nb_cuda_job *job, int k, int *i, int total, nb_error *err)
{
    const nb_cuda_terms all = job->terms;
    nb_status st = NB_OK;
    nb_cuda_turn(job, k);
    job->terms = nb_cuda_terms_of(job, k);
    if (job->scene->n_panels > 1 && !job->kept) {
        nb_cuda_aim_terms(&job->launch, &job->terms);
        job->state->aimed = 0;
    }
    for (int n = 0; n < job->cut.bands * job->cut.parts && !st; n++, ++*i) {
        nb_cuda_set_window(job, n / job->cut.parts * job->cut.rows, job->cut.rows);
        submit(job, n % job->cut.parts);
        st = launched(job, *i, total, err);
    }
    job->terms = all;
    return st;
}

/** All launches.  Steps are aimed at the first panel already. */
static nb_status run_panels(nb_cuda_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    choose_repair(job);
    job->launch.few_round = nb_cuda_is_few_round(&job->plan);
    nb_status st = keep_jobs(job, err);
    int total = nb_cuda_count_launches(job), i = 0;
    if (!st)
        st = nb_cuda_check(err, gpuEventRecord(state->began, state->stream), "rendering");
    if (!st && job->kept && job->terms.direct && !state->aimed) {
        nb_cuda_aim_panels(&job->launch, &job->terms, state->jobs[NB_JOBS_FAST].device.at,
                           nb_cuda_direct_job_bytes);
        state->aimed = 1;
    }
    for (int k = 0, end; k < job->scene->n_panels && !st; k = end) {
        end = nb_cuda_end_of_launch(job, k);
        if (end - k == 1) {
            st = run_panel(job, k, &i, total, err);
            continue;
        }
        submit_panels(job, k, end);
        st = launched(job, i++, total, err);
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
static nb_status clear(nb_cuda_job *job, nb_error *err)
{
    const nb_raster *raster = &job->scene->raster;
    gpuError_t code = gpuSuccess;
    *job->state->repair = 0;
    if (needs_plain(job))
        code = gpuMemsetAsync(job->launch.repair, 0, sizeof(int), job->state->stream);
    if (code == gpuSuccess && !(job->filled && covers_image(raster)))
        code = gpuMemsetAsync(job->state->image.at, 0, raster->pixels * sizeof(float),
                              job->state->stream);
    return nb_cuda_check(err, code, "clearing the image");
}

/** The tables of the fast kernels, or the ones of the last render if nothing has changed.
 * *fits as in nb_cuda_prepare_terms. */
static nb_status prepare(nb_cuda_job *job, int *fits, nb_error *err)
{
    nb_backend_state *state = job->state;
    const nb_scene *sc = &job->launch.scene;
    nb_status st;
    if (state->is_prepared && state->prepared_path == state->path &&
        memcmp(&state->prepared_scene, sc, sizeof *sc) == 0) {
        job->terms = state->prepared;
        return NB_OK;
    }
    state->is_prepared = state->aimed = 0;
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
static nb_status plan_render(nb_cuda_job *job, nb_error *err)
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
    job->max_parts = 1; /* the others cannot take a part of a pixel's steps */
    if (state->path == NB_PATH_TENSOR)
        job->max_parts = job->terms.octets;
    if (state->path == NB_PATH_DOUBLE)
        job->max_parts = sc->lattice.n_orientations;
    for (int k = 0; k < sc->n_panels && job->max_parts > 1; k++) {
        const int of_panel = nb_cuda_cut_panel(job, k).parts;
        parts = of_panel > parts ? of_panel : parts;
    }
    if (!st && state->path == NB_PATH_DOUBLE && parts > 1)
        st = nb_cuda_reserve(&state->sums, sc->raster.pixels * sizeof(double),
                             "partial sums", err);
    return st;
}

/** What submit_direct left undone. */
static nb_status repair(nb_cuda_job *job, float *image, nb_error *err)
{
    nb_status st;
    for (int k = 0; k < job->scene->n_panels; k++) {
        nb_cuda_turn(job, k);
        nb_cuda_launch_repair(&job->launch, 0, NULL);
    }
    st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
    if (st)
        return st;
    return nb_cuda_download(job->state->ring, image, job->state->image.at,
                            job->scene->raster.pixels * sizeof *image, job->state->stream,
                            err);
}

/** The materials alone, of all panels. */
static nb_status add_background(nb_cuda_job *job, nb_error *err)
{
    const int n = job->scene->n_panels,
              which = has_cells(job) ? NB_JOBS_MATERIALS : NB_JOBS_PLAIN;
    nb_cuda_many many = {};
    if (n > 1) {
        nb_status st = nb_cuda_upload_jobs(job, which, err);
        if (st)
            return st;
        many = nb_cuda_many_of(job, which, 0, n);
        job->many[which] = &many;
    }
    nb_cuda_turn(job, 0);
    if (n > 1 ? many.blocks > 0 : nb_region_pixels(job->region) > 0)
        submit_materials(job);
    job->many[which] = NULL;
    return nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
}

/** Does the plan leave out steps?  Else it is to take every one, which is then chosen without another look. */
static int leaves_out(nb_cuda_job *job)
{
    nb_backend_state *state = job->state;
    const char *why;
    state->left.refused = nb_cuda_refuses_tolerance(&job->plan);
    if (!state->left.refused) {
        state->path = nb_cuda_choose_path(&job->plan, &why);
        if (state->path == NB_PATH_SPOTS || state->path == NB_PATH_TILES)
            return 1;
    }
    job->plan.tolerance = {};
    return 0;
}

/** By reflections or in blocks of rays; *done: else every step is to be rendered. */
static nb_status render_part(nb_cuda_job *job, int *done, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_status st = NB_OK;
    *done = 0;
    if (!leaves_out(job))
        return NB_OK;
    *state->repair = 0;
    st = (state->path == NB_PATH_SPOTS ? nb_cuda_render_spots : nb_cuda_render_tiles)(
        state, &job->plan, &job->launch, &state->left, err);
    if (st && nb_cuda_spots_lack_room(state)) {
        state->left = {};
        state->left.refused = "the device has no room for it";
        st = NB_OK;
    }
    *done = !st && !state->left.refused;
    if (!*done)
        job->plan.tolerance = {};
    if (*done && job->launch.scene.amorphous)
        st = add_background(job, err);
    return st;
}

/** Into the image there; what little is left to repair, the caller does. */
static nb_status render_on_device(nb_cuda_job *job, const nb_request *request,
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
    nb_cuda_job job = {};
    job.state = state;
    job.scene = &part;
    job.plan = plan;
    job.max_parts = 1;
    job.stays = image == NULL;
    job.filled = filled;
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
