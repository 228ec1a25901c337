/* SPDX-License-Identifier: MIT */
/* What is made of derivatives on the device: planes for the host, pullbacks, the normal equations of a fit. */
#include "slope_pass.h"

#include <string.h>

static int applies(const nb_slope_job *job, int numbers, const char **why)
{
    if (job->n_entries > NB_DEVICE_ENTRIES)
        *why = "more than 8 entries of F are named";
    else if (numbers > NB_CUDA_FIT_MOST)
        *why = "there are more than 170 parameters and knots";
    else
        return 1;
    return 0;
}

/** Where planes go on the host. */
typedef struct planes_job {
    const nb_slope_planes_out *out;
    size_t pixels; /* of the stack */
    size_t bytes;  /* of a number of the device */
    char *staging; /* owned; NULL: planes lie as the device has them */
} planes_job;

/** A plane of the caller's, from numbers as the device has them. */
static void put_plane(const planes_job *job, const nb_slope_task *task, int64_t origin,
                      int64_t end, const char *from, int plane)
{
    const nb_slope_planes_out *out = job->out;
    int64_t number = 0;
    for (size_t k = 0; k < task->n; number += task->spans[k++].n) {
        const nb_span *span = &task->spans[k];
        int64_t first = number > origin ? number : origin,
                last = number + span->n < end ? number + span->n : end;
        for (int64_t i = first; i < last; i++) {
            const size_t at = span->at + (size_t)(i - number), j = (size_t)(i - origin);
            const double x = job->bytes == sizeof(float) ? ((const float *)from)[j]
                                                         : ((const double *)from)[j];
            if (plane > 0 && out->type == NB_REAL_FLOAT32)
                ((float *)out->planes)[(size_t)(plane - 1) * job->pixels + at] = (float)x;
            else if (plane > 0)
                ((double *)out->planes)[(size_t)(plane - 1) * job->pixels + at] = x;
            if (plane == 0 && out->image)
                out->image[at] = (float)x;
            if (plane == 0 && out->expected)
                out->expected[at] = x;
        }
    }
}

/** The caller's memory that takes a plane of the chunk as it is, or NULL. */
static char *place_for(const planes_job *job, const nb_cuda_slope_pass *pass, int plane)
{
    const nb_slope_planes_out *out = job->out;
    const nb_slope_task *task = pass->task;
    const nb_span *last = &task->spans[task->n - 1];
    const size_t first = task->spans[0].at;
    if (last->at + (size_t)last->n - first != (size_t)pass->pixels)
        return NULL; /* pixels are left out */
    if (plane > 0)
        return (char *)out->planes +
               ((size_t)(plane - 1) * job->pixels + first + (size_t)pass->job.origin) *
                   job->bytes;
    if (job->bytes == sizeof(float) && !out->expected)
        return (char *)(out->image + first + pass->job.origin);
    return NULL;
}

static nb_status fetch_plane(const planes_job *job, nb_cuda_slope_pass *pass, int plane,
                             nb_error *err)
{
    const size_t n = (size_t)(pass->job.end - pass->job.origin);
    const char *from = (const char *)pass->own->planes.at +
                       (size_t)plane * (size_t)pass->job.stride * job->bytes;
    char *to;
    nb_status st;
    if (plane == 0 && !job->out->image && !job->out->expected)
        return NB_OK;
    to = place_for(job, pass, plane);
    st = nb_cuda_download(pass->state->ring, to ? to : job->staging, from, n * job->bytes,
                          pass->state->stream, err);
    if (!st && !to)
        put_plane(job, pass->task, pass->job.origin, pass->job.end, job->staging, plane);
    return st;
}

static nb_status planes(nb_backend_state *state, const nb_slope_task *task,
                        const nb_slope_planes_out *out, nb_error *err)
{
    const int exact = out->expected || out->type == NB_REAL_FLOAT64;
    planes_job job = {out, task->job->scene->raster.pixels,
                      exact ? sizeof(double) : sizeof(float), NULL};
    nb_cuda_slope_pass pass;
    nb_status st = nb_cuda_pass_open(state, task, NULL, job.bytes, &pass, err);
    if (!st && !(job.staging = (char *)nb_alloc_raw((size_t)pass.chunk, job.bytes,
                                                    "derivatives", err)))
        st = NB_ERR_NOMEM;
    pass.job.out = exact ? (double *)pass.own->planes.at : NULL;
    pass.job.single = exact ? NULL : (float *)pass.own->planes.at;
    for (int64_t at = 0; at < pass.pixels && !st; at += pass.chunk) {
        st = nb_cuda_pass_chunk(&pass, at, err);
        for (int p = 0; p < pass.job.planes && !st; p++)
            st = fetch_plane(&job, &pass, p, err);
    }
    if (st)
        gpuStreamSynchronize(state->stream);
    nb_free(job.staging);
    nb_cuda_pass_close(&pass);
    return st;
}

/** Memory for sums over pixels, which begin at 0. */
static nb_status open_sums(nb_cuda_slope_pass *pass, nb_cuda_fit_job *job, nb_error *err)
{
    nb_cuda_slopes *own = pass->own;
    const size_t slices = (size_t)(pass->chunk / NB_CUDA_SLICE),
                 items = (size_t)job->items;
    nb_status st;
    if ((st = nb_cuda_reserve(&own->partial, slices * items * sizeof(double),
                              "sums over pixels", err)) ||
        (st = nb_cuda_reserve(&own->sums, items * sizeof(double), "sums over pixels", err)))
        return st;
    pass->job.out = (double *)own->planes.at;
    job->pixels = pass->job.pixels;
    job->planes = pass->job.out;
    job->stride = pass->job.stride;
    job->partial = (double *)own->partial.at;
    return nb_cuda_check(
        err, gpuMemsetAsync(own->sums.at, 0, items * sizeof(double), pass->state->stream),
        "clearing sums");
}

/** Add up a chunk. */
static nb_status sum_chunk(nb_cuda_slope_pass *pass, nb_cuda_fit_job *job, nb_error *err)
{
    nb_status st;
    job->origin = pass->job.origin;
    job->end = pass->job.end;
    job->slices = (int)((job->end - job->origin + NB_CUDA_SLICE - 1) / NB_CUDA_SLICE);
    nb_cuda_launch_fit(job, (double *)pass->own->sums.at, pass->state->stream);
    st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
    return st ? st : nb_cuda_pass_mark(pass, err);
}

static nb_status fetch_sums(nb_cuda_slope_pass *pass, const nb_cuda_fit_job *job,
                            double *to, nb_error *err)
{
    return nb_cuda_download(pass->state->ring, to, pass->own->sums.at,
                            (size_t)job->items * sizeof *to, pass->state->stream, err);
}

static nb_status pullback(nb_backend_state *state, const nb_slope_task *task,
                          nb_real_type type, const void *dloss, double *gradient,
                          nb_error *err)
{
    const size_t bytes = task->job->scene->raster.pixels *
                         (type == NB_REAL_FLOAT32 ? sizeof(float) : sizeof(double));
    nb_cuda_fit_job job = {};
    nb_cuda_slope_pass pass;
    nb_cuda_slopes *own;
    nb_status st = nb_cuda_pass_open(state, task, NULL, sizeof(double), &pass, err);
    own = pass.own;
    job.count = job.n = job.items = task->job->count;
    if (!st)
        st = open_sums(&pass, &job, err);
    if (!st)
        st = nb_cuda_reserve(&own->dloss, bytes, "the slope of the loss", err);
    if (!st)
        st = nb_cuda_reserve(&own->weights, (size_t)pass.chunk * sizeof(double),
                             "the slope of the loss", err);
    if (!st)
        st = nb_cuda_check(
            err,
            gpuMemcpyAsync(own->dloss.at, dloss, bytes, gpuMemcpyDefault, state->stream),
            "sending the slope of the loss");
    for (int64_t at = 0; at < pass.pixels && !st; at += pass.chunk) {
        if ((st = nb_cuda_pass_chunk(&pass, at, err)))
            break;
        nb_cuda_launch_gather(&pass.job.pixels, type, own->dloss.at, at,
                              pass.job.end - at, (double *)own->weights.at, state->stream);
        job.dloss = (const double *)own->weights.at;
        st = sum_chunk(&pass, &job, err);
    }
    if (!st)
        st = fetch_sums(&pass, &job, gradient, err);
    if (st)
        gpuStreamSynchronize(state->stream);
    nb_cuda_pass_close(&pass);
    return st;
}

/** Items of the device to the matrix' place. */
static void unpack(const nb_cuda_fit_job *job, const double *items, double *sums)
{
    const int n = job->n;
    memcpy(sums, items, (size_t)(1 + n) * sizeof *sums);
    for (int i = 0, k = 1 + n; i < n; i++)
        for (int j = 0; j <= i; j++, k++)
            sums[1 + n + i * n + j] = items[k];
}

static nb_status normal(nb_backend_state *state, const nb_slope_task *task,
                        const nb_slope_fit_out *out, nb_error *err)
{
    nb_cuda_fit_job job = {};
    nb_cuda_slope_pass pass;
    double *items = NULL;
    nb_status st = nb_cuda_pass_open(state, task, out->fit, sizeof(double), &pass, err);
    job.count = task->job->count;
    job.n = job.count + out->fit->seen->n_knots;
    job.items = 1 + job.n + job.n * (job.n + 1) / 2;
    job.fit = pass.fit;
    if (!st)
        st = open_sums(&pass, &job, err);
    if (!st &&
        !(items = (double *)nb_alloc((size_t)job.items, sizeof *items, "equations", err)))
        st = NB_ERR_NOMEM;
    for (int64_t at = 0; at < pass.pixels && !st; at += pass.chunk)
        if (!(st = nb_cuda_pass_chunk(&pass, at, err)))
            st = sum_chunk(&pass, &job, err);
    if (!st)
        st = fetch_sums(&pass, &job, items, err);
    if (!st)
        unpack(&job, items, out->sums);
    else
        gpuStreamSynchronize(state->stream);
    nb_free(items);
    nb_cuda_pass_close(&pass);
    return st;
}

extern const nb_slope_device nb_cuda_slope_device = {applies, planes, pullback, normal};
