/* SPDX-License-Identifier: MIT */
/* Products of slopes on the device: planes for the host, pullbacks (gradients of a loss),
 * normal equations of a fit. */
#include "slopes.h"

extern "C" {
#include "../../src/render/sums.h"
#include "../../src/render/request.h"
}

#include <math.h>
#include <string.h>

int nb_cuda_makes_slopes(const nb_slope_job *job, int numbers, const char **why)
{
    if (job->n_entries > NB_DEVICE_ENTRIES)
        *why = "more than 8 entries of F are named";
    else if (job->sums & NB_SLOPE_BEAM)
        *why = "the device cannot calculate derivatives by the directions of the beam";
    else if (numbers > NB_CUDA_FIT_MAX)
        *why = "there are more than 170 parameters and knots";
    else
        return 1;
    return 0;
}

/** Destination of planes on the host. */
typedef struct planes_job {
    const nb_slope_planes_out *out;
    size_t pixels; /* pixels of the stack */
    size_t bytes;  /* size of a number on the device */
    char *staging; /* owned: memory for a plane before its conversion */
} planes_job;

/** Copy pixels origin .. end - 1 of a plane to the caller's memory. `from` has these pixels
 * without gaps. */
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

/** Address in the caller's memory for a chunk of a plane if no conversion is needed;
 * otherwise NULL. */
static char *place_for(const planes_job *job, const nb_cuda_slope_pass *pass, int plane)
{
    const nb_slope_planes_out *out = job->out;
    const nb_slope_task *task = pass->task;
    const nb_span *last = &task->spans[task->n - 1];
    const size_t first = task->spans[0].at;
    if (last->at + (size_t)last->n - first != (size_t)pass->pixels)
        return NULL; /* there are gaps between the pixels */
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
    const char *from = (const char *)pass->memory->planes.at +
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

static nb_status fetch_planes(nb_backend_state *state, const nb_slope_task *task,
                              const nb_slope_planes_out *out, nb_error *err)
{
    const nb_cuda_pass_want want = {NULL, out->expected || out->type == NB_REAL_FLOAT64,
                                    0};
    planes_job job = {out, task->job->scene->raster.pixels, 0, NULL};
    nb_cuda_slope_pass pass;
    nb_status st = nb_cuda_pass_open(state, task, &want, &pass, err);
    job.bytes = pass.bytes;
    if (!st && !(job.staging = (char *)nb_alloc_raw((size_t)pass.chunk, job.bytes,
                                                    "derivatives", err)))
        st = NB_ERR_NOMEM;
    for (int64_t at = 0; at < pass.pixels && !st; at += pass.chunk) {
        st = nb_cuda_pass_chunk(&pass, at, err);
        for (int p = 0; p < pass.job.planes && !st; p++)
            st = fetch_plane(&job, &pass, p, err);
    }
    if (st)
        cudaStreamSynchronize(state->stream);
    nb_free(job.staging);
    nb_cuda_pass_close(&pass);
    return st;
}

/** Make planes; make them again in double if the audit finds single precision too coarse. */
static nb_status planes(nb_backend_state *state, nb_slope_task *task,
                        const nb_slope_planes_out *out, nb_error *err)
{
    nb_slope_planes_out all = *out;
    float *image = NULL;
    int weak = 0;
    nb_status st;
    if (!out->planes || task->precision == NB_PRECISION_DOUBLE ||
        !nb_slope_audit_wanted(task->job))
        return fetch_planes(state, task, out, err);
    if (!all.image)
        all.image = image = (float *)nb_alloc_raw(task->job->scene->raster.pixels,
                                                  sizeof *image, "image", err);
    st = all.image ? fetch_planes(state, task, &all, err) : NB_ERR_NOMEM;
    NB_TRY(nb_slope_audit_planes(task->job, task->spans, task->n, &all, &weak, err));
    nb_free(image);
    if (st || !weak)
        return st;
    task->precision = NB_PRECISION_DOUBLE;
    return fetch_planes(state, task, out, err);
}

/** Reserve memory for `items` sums over pixels, and for their parts from `slices` slices. */
static nb_status open_sums(nb_cuda_slope_pass *pass, size_t slices, int items,
                           nb_error *err)
{
    nb_cuda_slopes *memory = pass->memory;
    nb_status st =
        nb_cuda_reserve(&memory->partial, slices * (size_t)items * sizeof(double),
                        "sums over pixels", err);
    return st ? st
              : nb_cuda_reserve(&memory->sums, (size_t)items * sizeof(double),
                                "sums over pixels", err);
}

/** Call open_sums for a job, and set the planes of the job. */
static nb_status open_job(nb_cuda_slope_pass *pass, nb_cuda_fit_job *job, nb_error *err)
{
    const size_t slices = (size_t)((pass->chunk + job->slice - 1) / job->slice);
    nb_status st = open_sums(pass, slices, job->items, err);
    job->pixels = pass->job.pixels;
    job->planes = pass->job.out;
    job->single = pass->job.single;
    job->stride = pass->job.stride;
    job->partial = (double *)pass->memory->partial.at;
    return st;
}

/** Add the pixels of the current chunk to the sums. */
static nb_status sum_chunk(nb_cuda_slope_pass *pass, nb_cuda_fit_job *job, nb_error *err)
{
    double *sums = (double *)pass->memory->sums.at;
    nb_status st;
    job->origin = pass->job.origin;
    job->end = pass->job.end;
    job->slices = (int)((job->end - job->origin + job->slice - 1) / job->slice);
    job->begins = job->origin == 0;
    if (job->dloss)
        nb_cuda_launch_pullback(job, sums, pass->state->stream);
    else
        nb_cuda_launch_fit(job, sums, pass->state->stream);
    st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    return st ? st : nb_cuda_pass_mark(pass, err);
}

static nb_status fetch_sums(nb_cuda_slope_pass *pass, int items, double *to, nb_error *err)
{
    return nb_cuda_download(pass->state->ring, to, pass->memory->sums.at,
                            (size_t)items * sizeof *to, pass->state->stream, err);
}

/** Send the slope of the loss to the device, if it is not already there. *on_device: its
 * address. */
static nb_status send_loss(nb_cuda_slope_pass *pass, nb_real_type type, const void *dloss,
                           const void **on_device, nb_error *err)
{
    const size_t bytes = pass->task->job->scene->raster.pixels *
                         (type == NB_REAL_FLOAT32 ? sizeof(float) : sizeof(double));
    nb_cuda_slopes *memory = pass->memory;
    nb_status st;
    *on_device = dloss;
    if (nb_cuda_is_on(dloss, pass->state->device.index))
        return NB_OK;
    st = nb_cuda_reserve(&memory->dloss, bytes, "the slope of the loss", err);
    *on_device = memory->dloss.at;
    return st ? st
              : nb_cuda_send(pass->state->ring, memory->dloss.at, dloss, bytes,
                             pass->state->stream, err);
}

/** Set the gradients to NaN if dloss is not finite in a pixel that is not wanted. (The sums
 * have not read these pixels.) */
static nb_status check_unused(nb_cuda_slope_pass *pass, nb_real_type type,
                              const void *dloss, double *gradient, nb_error *err)
{
    const size_t all = pass->task->job->scene->raster.pixels;
    double *flag = (double *)pass->memory->sums.at, bad = 0;
    nb_status st;
    if ((size_t)pass->pixels == all)
        return NB_OK;
    NB_FORWARD(nb_cuda_check(
        err, cudaMemsetAsync(flag, 0, sizeof bad, pass->state->stream), "clearing sums"));
    nb_cuda_launch_finite(type, dloss, all, flag, pass->state->stream);
    if ((st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel")) ||
        (st = fetch_sums(pass, 1, &bad, err)))
        return st;
    for (int i = 0; i < pass->task->job->count && bad != 0; i++)
        gradient[i] = NAN;
    return NB_OK;
}

/** A pullback without planes. */
static nb_status pull_plain(nb_cuda_slope_pass *pass, nb_real_type type,
                            const void *dloss, double *gradient, nb_error *err)
{
    double *sums, found[NB_PULL_ALL];
    nb_cuda_pull_job job = {};
    nb_status st;
    nb_cuda_pull_plan(&pass->how, pass->pixels, &job);
    NB_FORWARD(open_sums(pass, (size_t)job.blocks, job.items, err));
    sums = (double *)pass->memory->sums.at;
    job.all = pass->job;
    job.all.end = pass->pixels;
    job.plain = pass->plain_on_device;
    job.partial = (double *)pass->memory->partial.at;
    if (type == NB_REAL_FLOAT32)
        job.single = (const float *)dloss;
    else
        job.precise = (const double *)dloss;
    NB_FORWARD(nb_cuda_pass_begin(pass, err));
    nb_cuda_launch_pull_plain(&job, &pass->how, sums, pass->state->stream);
    if ((st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel")) ||
        (st = nb_cuda_pass_mark(pass, err)) ||
        (st = fetch_sums(pass, job.items, found, err)))
        return st;
    nb_plain_contract(&pass->plain, found, pass->how.level, gradient);
    return NB_OK;
}

static nb_status pull_planes(nb_cuda_slope_pass *pass, nb_real_type type,
                             const void *dloss, double *gradient, nb_error *err)
{
    nb_cuda_fit_job job = {};
    nb_cuda_slopes *memory = pass->memory;
    cudaStream_t stream = pass->state->stream;
    nb_status st;
    job.count = job.n = job.items = pass->task->job->count;
    job.slice = NB_CUDA_SLICE;
    st = open_job(pass, &job, err);
    NB_TRY(nb_cuda_reserve(&memory->weights, (size_t)pass->chunk * sizeof(double),
                           "the slope of the loss", err));
    job.dloss = (const double *)memory->weights.at;
    for (int64_t at = 0; at < pass->pixels && !st; at += pass->chunk) {
        if ((st = nb_cuda_pass_chunk(pass, at, err)))
            break;
        nb_cuda_launch_gather(&pass->job.pixels, type, dloss, at, pass->job.end - at,
                              (double *)memory->weights.at, stream);
        st = sum_chunk(pass, &job, err);
    }
    return st ? st : fetch_sums(pass, job.items, gradient, err);
}

static nb_status pullback(nb_backend_state *state, const nb_slope_task *task,
                          const nb_slope_loss *loss, nb_error *err)
{
    const nb_real_type type = loss->type;
    double *gradient = loss->gradient;
    const nb_cuda_pass_want want = {NULL, 0, 1};
    nb_cuda_slope_pass pass;
    const void *on_device;
    nb_status st = nb_cuda_pass_open(state, task, &want, &pass, err);
    NB_TRY(send_loss(&pass, type, loss->dloss, &on_device, err));
    NB_TRY(pass.pulls ? pull_plain(&pass, type, on_device, gradient, err)
                      : pull_planes(&pass, type, on_device, gradient, err));
    NB_TRY(check_unused(&pass, type, on_device, gradient, err));
    if (st)
        cudaStreamSynchronize(state->stream);
    nb_cuda_pass_close(&pass);
    return st;
}

/** Copy the device's items to sums: loss, gradient, lower half of the matrix. */
static void unpack(const nb_cuda_fit_job *job, const double *items, double *sums)
{
    const int n = job->n;
    memcpy(sums, items, (size_t)(1 + n) * sizeof *sums);
    for (int i = 0, k = 1 + n; i < n; i++)
        for (int j = 0; j <= i; j++, k++)
            sums[1 + n + i * n + j] = items[k];
}

/** Normal equations without planes. */
static nb_status normal_plain(nb_cuda_slope_pass *pass, const nb_slope_fit_out *out,
                              nb_error *err)
{
    const nb_observation *seen = out->fit->seen;
    cudaStream_t stream = pass->state->stream;
    nb_cuda_gram_job job = {};
    double *sums, *items;
    nb_status st;
    nb_cuda_gram_plan(&pass->how, pass->state->device.multiprocessors, pass->pixels, &job);
    NB_FORWARD(open_sums(pass, (size_t)job.blocks, job.items, err));
    sums = (double *)pass->memory->sums.at;
    job.all = pass->job;
    job.all.end = pass->pixels;
    job.plain = pass->plain_on_device;
    job.photons = pass->photons;
    job.background = pass->background;
    job.likelihood = seen->likelihood;
    job.sigma = seen->sigma;
    job.partial = (double *)pass->memory->partial.at;
    nb_plain_image(&pass->plain, job.image);
    if (!(items = (double *)nb_alloc((size_t)job.items, sizeof *items, "equations", err)))
        return NB_ERR_NOMEM;
    if (!(st = nb_cuda_pass_begin(pass, err))) {
        nb_cuda_launch_gram(&job, &pass->how, sums, stream);
        st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    }
    if (!st && !(st = nb_cuda_pass_mark(pass, err)) &&
        !(st = fetch_sums(pass, job.items, items, err)))
        nb_plain_equations(&pass->plain, items, pass->how.level, out->sums);
    nb_free(items);
    return st;
}

static nb_status normal_planes(nb_cuda_slope_pass *pass, const nb_slope_fit_out *out,
                               nb_error *err)
{
    nb_cuda_fit_job job = {};
    double *items;
    nb_status st;
    job.count = pass->task->job->count;
    job.n = job.count + out->fit->seen->n_knots;
    job.items = 1 + job.n + job.n * (job.n + 1) / 2;
    job.fit = pass->fit;
    job.slice = nb_cuda_fit_slice(pass->chunk);
    NB_FORWARD(open_job(pass, &job, err));
    if (!(items = (double *)nb_alloc((size_t)job.items, sizeof *items, "equations", err)))
        return NB_ERR_NOMEM;
    for (int64_t at = 0; at < pass->pixels && !st; at += pass->chunk)
        if (!(st = nb_cuda_pass_chunk(pass, at, err)))
            st = sum_chunk(pass, &job, err);
    NB_TRY(fetch_sums(pass, job.items, items, err));
    if (!st)
        unpack(&job, items, out->sums);
    nb_free(items);
    return st;
}

static nb_status normal(nb_backend_state *state, const nb_slope_task *task,
                        const nb_slope_fit_out *out, nb_error *err)
{
    /* Fits with knots, and devices without FP64 tensor cores, need planes. */
    const int without_planes = out->fit->seen->n_knots == 0 && state->device.has_tensor;
    const nb_cuda_pass_want want = {out->fit, 0, without_planes};
    nb_cuda_slope_pass pass;
    nb_status st = nb_cuda_pass_open(state, task, &want, &pass, err);
    NB_TRY(pass.pulls ? normal_plain(&pass, out, err) : normal_planes(&pass, out, err));
    if (st)
        cudaStreamSynchronize(state->stream);
    nb_cuda_pass_close(&pass);
    return st;
}

nb_status nb_cuda_render_slopes(nb_backend_state *state, const nb_request *request,
                                nb_error *err)
{
    const nb_sums *sums = request->sums;
    const nb_slope_sink *sink = sums->sink;
    nb_slope_task task = {sums->job,  request->precision, request->spans,
                          request->n, sums->number,       &state->options.hooks};
    nb_span *spans = NULL;
    nb_status st = NB_OK;
    if (request->n == 0)
        return NB_OK;
    if (!task.spans) {
        st = nb_spans_build(sums->job->scene, &spans, &task.n, err);
        task.spans = spans;
    }
    NB_TRY(sink->planes ? planes(state, &task, sink->planes, err)
           : sink->loss ? pullback(state, &task, sink->loss, err)
                        : normal(state, &task, sink->fit, err));
    nb_free(spans);
    return st;
}
