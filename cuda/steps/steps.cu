/* SPDX-License-Identifier: MIT */
/* Render every step, by the kernel of the path. */
#include <string.h>

#include "../backend/render_job.h"

/** True if the host looks for pixels to repair after a download. */
static int host_repairs(const nb_cuda_job *job)
{
    const nb_path_kernel *kernel = nb_cuda_kernel_of(job->state);
    return kernel && kernel->repair == NB_REPAIR_RARE && !job->stays;
}

/** Start the kernels for one part of the steps of the window. */
static void submit(nb_cuda_job *job, int part)
{
    const nb_path_kernel *kernel = nb_cuda_kernel_of(job->state);
    const int is_last = part == job->cut.parts - 1;
    kernel->submit(job, part);
    if (is_last && kernel->repair != NB_REPAIR_NONE && !host_repairs(job))
        nb_cuda_launch_repair(&job->launch, job->many[NB_JOBS_PLAIN]);
}

/** Wait for launch i, report progress, and stop if the caller asks to. */
static nb_status finish_launch(nb_cuda_job *job, int i, int total, nb_error *err)
{
    const nb_hooks *hooks = &job->state->options.hooks;
    nb_status st =
        nb_cuda_check(err, cudaEventSynchronize(job->state->bands[i % 2]), "rendering");
    if (!st && hooks->progress && hooks->progress(hooks->user, (i + 1.0) / total))
        st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    return st;
}

/* ------------------------------------------------------------------ several panels */

/** True if a kernel in double precision runs, to render or to repair the image. */
static int needs_plain(const nb_cuda_job *job)
{
    return !host_repairs(job);
}

static int needs_jobs(const nb_cuda_job *job, int which)
{
    return which == NB_JOBS_FAST ? nb_cuda_kernel_of(job->state)->job != NULL
                                 : needs_plain(job);
}

/** Upload the jobs of all panels, so that a launch can render several panels. */
static nb_status keep_jobs(nb_cuda_job *job, nb_error *err)
{
    const int n = job->scene->n_panels;
    nb_status st = NB_OK;
    if (n == 1 || (job->terms.direct && job->terms.panels != n))
        return NB_OK;
    for (int which = 0; which < NB_CUDA_JOBS && !st; which++)
        if (needs_jobs(job, which))
            st = nb_cuda_upload_jobs(job, which, err);
    job->kept = !st;
    return st;
}

/** Start the kernels for panels k to end - 1. */
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

/** Check launch i of `total`, and wait for the previous launch. */
static nb_status launched(nb_cuda_job *job, int i, int total, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_status st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    if (!st && (total > 1 || state->options.hooks.progress))
        st = nb_cuda_check(err, cudaEventRecord(state->bands[i % 2], state->stream),
                           "rendering");
    if (!st && i > 0)
        st = finish_launch(job, i - 1, total, err);
    return st;
}

/** Run all launches of panel k. *i: number of earlier launches, which is increased. */
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

/** Run the launches of all panels. job->terms has the steps of the first panel. */
static nb_status run_panels(nb_cuda_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    if (host_repairs(job))
        job->launch.repair = job->state->repair;
    job->launch.few_round = nb_cuda_is_few_round(&job->plan);
    nb_status st = keep_jobs(job, err);
    int total = nb_cuda_count_launches(job), i = 0;
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->began, state->stream), "rendering"));
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
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->ended, state->stream), "rendering"));
    if (!st && total > 0 && (total > 1 || state->options.hooks.progress))
        st = finish_launch(job, total - 1, total, err);
    return st;
}

static int covers_image(const nb_raster *raster)
{
    return raster->roi.fmin == 0 && raster->roi.smin == 0 &&
           raster->roi.fmax == raster->columns - 1 && raster->roi.smax == raster->rows - 1;
}

/** Clear the flag of repairs, and the pixels that no kernel writes. */
nb_status nb_cuda_clear(nb_cuda_job *job, nb_error *err)
{
    const nb_raster *raster = &job->scene->raster;
    cudaError_t code = cudaSuccess;
    *job->state->repair = 0;
    if (needs_plain(job))
        code = cudaMemsetAsync(job->launch.repair, 0, sizeof(int), job->state->stream);
    if (code == cudaSuccess && !(job->filled && covers_image(raster)))
        code = cudaMemsetAsync(job->state->image.at, 0, raster->pixels * sizeof(float),
                               job->state->stream);
    return nb_cuda_check(err, code, "clearing the image");
}

/** Set job->terms to the tables of the last render if nothing has changed, or else to new
 * tables. *fits = 0: the tables do not fit in memory. */
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
    nb_cuda_begin_terms(&job->plan, &job->terms);
    st = nb_cuda_kernel_of(state)->prepare(job, fits, err);
    if (st || !*fits)
        return st;
    state->prepared = job->terms;
    state->prepared_path = state->path;
    memcpy(&state->prepared_scene, sc, sizeof *sc);
    state->is_prepared = 1;
    return NB_OK;
}

static int parts_max(const nb_cuda_job *job)
{
    int parts = 1;
    for (int k = 0; k < job->scene->n_panels && job->max_parts > 1; k++) {
        const int of_panel = nb_cuda_cut_panel(job, k).parts;
        parts = of_panel > parts ? of_panel : parts;
    }
    return parts;
}

nb_status nb_cuda_steps_prepare(nb_cuda_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    int fits = 1;
    nb_status st = NB_OK;
    if (nb_cuda_kernel_of(state)->prepare)
        st = prepare(job, &fits, err);
    job->no_room = !fits;
    return st;
}

nb_status nb_cuda_steps_run(nb_cuda_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    const nb_path_kernel *kernel = nb_cuda_kernel_of(state);
    nb_status st = NB_OK;
    job->max_parts = kernel->parts ? kernel->parts(job) : 1;
    if (kernel->adds_parts && parts_max(job) > 1)
        st = nb_cuda_reserve(&state->sums, job->scene->raster.pixels * sizeof(double),
                             "partial sums", err);
    NB_TRY(nb_cuda_clear(job, err));
    return st ? st : run_panels(job, err);
}
