/* SPDX-License-Identifier: MIT */
/* Tables of the jobs of panels, for launches of several panels. */
#include <string.h>

#include "../backend/render_job.h"

static size_t bytes_of_job(const nb_cuda_job *job, int which)
{
    if (which == NB_JOBS_PLAIN)
        return nb_cuda_plain_job_bytes;
    return nb_cuda_kernel_of(job->state)->job_bytes;
}

nb_cuda_terms nb_cuda_terms_of(const nb_cuda_job *job, int k)
{
    nb_cuda_terms terms = job->terms;
    const int each = terms.count;
    if (terms.direct && terms.panels > 1)
        terms.direct += (size_t)k * (size_t)each;
    return terms;
}

/** Write the job of panel k, the panel of job->launch; returns its number of blocks. */
static int write_job(const nb_cuda_job *job, int which, int k, int before, void *to)
{
    const nb_cuda_terms terms = nb_cuda_terms_of(job, k);
    if (which == NB_JOBS_PLAIN)
        return nb_cuda_plain_job_of(&job->launch, before, to);
    return nb_cuda_kernel_of(job->state)->job(job, &terms, before, to);
}

static void describe_jobs(const nb_cuda_job *job, nb_cuda_jobs_of *is)
{
    const nb_backend_state *state = job->state;
    memset(is, 0, sizeof *is);
    memcpy(&is->scene, &job->launch.scene, sizeof is->scene);
    is->scene.raster.mask = job->lit;
    memcpy(&is->terms, &job->terms, sizeof is->terms);
    is->path = state->path;
    is->precision = state->options.precision;
    is->image = state->image.at;
    is->change = state->change;
}

/** Write and upload the jobs of all panels, and the number of blocks before each panel. */
static nb_status write_jobs(nb_cuda_job *job, int which, nb_error *err)
{
    nb_backend_state *state = job->state;
    const int n = job->scene->n_panels, prepared = state->is_prepared;
    const uint64_t change = state->change;
    const size_t bytes = bytes_of_job(job, which),
                 size = (size_t)n * bytes + ((size_t)n + 1) * sizeof(int);
    char *at = (char *)nb_alloc(1, size, "the panels", err);
    if (!at)
        return NB_ERR_NOMEM;
    int *first = (int *)(at + (size_t)n * bytes);
    for (int k = 0; k < n; k++) {
        nb_cuda_turn(job, k);
        job->cut.parts = 1;
        first[k + 1] = first[k];
        if (nb_region_pixels(job->region) > 0)
            first[k + 1] += write_job(job, which, k, first[k], at + (size_t)k * bytes);
    }
    nb_status st =
        nb_cuda_upload_mirror(state, &state->jobs[which], at, size, "the panels", err);
    state->is_prepared = prepared; /* prepared data do not depend on the jobs */
    state->change = change;
    nb_free(at);
    return st;
}

nb_status nb_cuda_upload_jobs(nb_cuda_job *job, int which, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_cuda_mirror *mirror = &state->jobs[which];
    nb_cuda_jobs_of is;
    describe_jobs(job, &is);
    if (mirror->bytes && memcmp(&is, &state->jobs_of[which], sizeof is) == 0)
        return NB_OK;
    mirror->bytes = 0;
    if (which == NB_JOBS_FAST)
        state->aimed = 0;
    nb_status st = write_jobs(job, which, err);
    memcpy(&state->jobs_of[which], &is, sizeof is);
    return st;
}

nb_cuda_many nb_cuda_many_of(const nb_cuda_job *job, int which, int k, int end)
{
    const nb_cuda_mirror *jobs = &job->state->jobs[which];
    const size_t bytes = bytes_of_job(job, which),
                 all = (size_t)job->scene->n_panels * bytes;
    const int *first = (const int *)((const char *)jobs->sent + all);
    nb_cuda_many many = {};
    many.jobs = (const char *)jobs->device.at + (size_t)k * bytes;
    many.first = (const int *)((const char *)jobs->device.at + all) + k;
    many.n = end - k;
    many.before = first[k];
    many.blocks = first[end] - first[k];
    for (int i = k; i < end && many.even == 0; i++)
        many.even = first[i + 1] - first[i];
    return many;
}
