/* SPDX-License-Identifier: MIT */
/* Tables of many panels' jobs, for launches that several panels share. */
#include "render_job.h"

static size_t bytes_of_job(const nb_cuda_job *job, int which)
{
    const nb_cuda_path path = job->state->path;
    if (which == NB_JOBS_PLAIN)
        return nb_cuda_plain_job_bytes;
    return path == NB_PATH_TENSOR || path == NB_PATH_TRICUBIC ? nb_cuda_tensor_job_bytes
                                                              : nb_cuda_direct_job_bytes;
}

nb_cuda_terms nb_cuda_terms_of(const nb_cuda_job *job, int k)
{
    nb_cuda_terms terms = job->terms;
    const int each = terms.mean ? job->scene->beam.n_sources : terms.count;
    if (terms.direct && terms.panels > 1)
        terms.direct += (size_t)k * (size_t)each;
    return terms;
}

/** The job of panel k, to which `job` is turned; its blocks. */
static int write_job(const nb_cuda_job *job, int which, int k, int before, void *to)
{
    const nb_cuda_terms terms = nb_cuda_terms_of(job, k);
    const nb_cuda_octets octets = nb_cuda_octets_of(job, 0);
    if (which == NB_JOBS_PLAIN)
        return nb_cuda_plain_job_of(&job->launch, before, to);
    if (job->state->path == NB_PATH_TENSOR)
        return nb_cuda_tensor_job(&job->launch, &terms, &octets, before, to);
    if (job->state->path == NB_PATH_TRICUBIC)
        return nb_cuda_tricubic_job(&job->launch, &terms, before, to);
    if (job->state->path == NB_PATH_RESIDUAL)
        return nb_cuda_residual_job(&job->launch, &terms, before, to);
    return nb_cuda_direct_job(&job->launch, &terms, before, to);
}

nb_status nb_cuda_upload_jobs(nb_cuda_job *job, int which, nb_error *err)
{
    nb_backend_state *state = job->state;
    const int n = job->scene->n_panels, prepared = state->is_prepared;
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
    state->is_prepared = prepared; /* nothing that was prepared depends on them */
    nb_free(at);
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
