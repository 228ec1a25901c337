/* SPDX-License-Identifier: MIT */
/* Planes of slopes, and their sums with a loss. */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/stream.h"
#include "../physics/panels.h"
#include "../render/audit.h"
#include "../render/request.h"
#include "dot.h"
#include "products.h"

typedef struct plane_sink {
    const nb_slope_job *job;
    const nb_slope_planes_out *out;
    int streamed;      /* float planes that no cache holds */
    nb_real_type type; /* of dloss */
    const void *dloss;
    double *partial; /* [stripes][count] */
} plane_sink;

/** n numbers of plane p from pixel `at` on. */
static void put(const plane_sink *k, size_t p, size_t at, const double *values, int n)
{
    const size_t from = p * k->job->scene->raster.pixels + at;
    if (k->out->type == NB_REAL_FLOAT64)
        memcpy((double *)k->out->planes + from, values, (size_t)n * sizeof *values);
    else if (k->streamed)
        nb_floats_streamed(values, (float *)k->out->planes + from, n);
    else
        nb_floats(values, (float *)k->out->planes + from, n);
}

/** Planes of floats. */
static void take_floats(const plane_sink *k, const nb_slope_values *row)
{
    const size_t pixels = k->job->scene->raster.pixels;
    const float *from = row->floats;
    for (size_t i = 0; i < row->n; from += row->spans[i++].n) {
        const size_t at = row->spans[i].at;
        const int n = row->spans[i].n;
        float *to = (float *)k->out->planes + at;
        if (k->out->image)
            memcpy(k->out->image + at, from, (size_t)n * sizeof *from);
        for (size_t p = 0; p < (size_t)k->job->count; p++)
            if (k->streamed)
                nb_copy_streamed(from + (p + 1) * row->stride, to + p * pixels, n);
            else
                memcpy(to + p * pixels, from + (p + 1) * row->stride,
                       (size_t)n * sizeof *from);
    }
    if (k->streamed)
        nb_stream_end();
}

static void take_planes(void *sink, const nb_slope_values *row)
{
    const plane_sink *k = sink;
    const double *values = row->values;
    if (row->floats) {
        take_floats(k, row);
        return;
    }
    for (size_t i = 0; i < row->n; values += row->spans[i++].n) {
        const size_t at = row->spans[i].at;
        const int n = row->spans[i].n;
        if (k->out->image)
            nb_floats(values, k->out->image + at, n);
        if (k->out->expected)
            memcpy(k->out->expected + at, values, (size_t)n * sizeof *values);
        for (size_t p = 0; p < (size_t)k->job->count; p++)
            put(k, p, at, values + (p + 1) * row->stride, n);
    }
    if (k->streamed)
        nb_stream_end();
}

/** Does a pass write every pixel of the stack? */
static int writes_all(const nb_scene *sc)
{
    return !sc->raster.mask && (size_t)nb_rendered_pixels(sc) == sc->raster.pixels;
}

/** Zeros where no pass writes. */
static void clear_planes(const nb_slope_job *job, const nb_slope_planes_out *out)
{
    const size_t pixels = job->scene->raster.pixels;
    if (writes_all(job->scene))
        return;
    if (job->count > 0)
        memset(out->planes, 0,
               (size_t)job->count * pixels *
                   (out->type == NB_REAL_FLOAT32 ? sizeof(float) : sizeof(double)));
    if (out->image)
        memset(out->image, 0, pixels * sizeof *out->image);
    if (out->expected)
        memset(out->expected, 0, pixels * sizeof *out->expected);
}

/** All pixels of the scene. */
static nb_status render(const nb_slope_run *run, const nb_slope_sink *sink, nb_error *err)
{
    const nb_sums sums = {run->job, sink};
    const nb_request as = {.sums = &sums, .precision = run->precision};
    return nb_render_scene_as(run->backend, run->state, run->job->scene, &as, NULL, err);
}

nb_slope_task nb_slope_task_of(const nb_slope_run *run, const nb_slope_pixels *pixels)
{
    return (nb_slope_task){.job = run->job,
                           .precision = run->precision,
                           .spans = pixels->spans,
                           .n = pixels->n,
                           .number = pixels->number,
                           .hooks = run->hooks};
}

/** The audit of planes with their image: values[1 + count][NB_PASS_PIECE] is for its work. */
static void audit_planes(const nb_slope_task *task, const nb_slope_planes_out *out,
                         double *values, nb_slope_audit *audit)
{
    const size_t pixels = task->job->scene->raster.pixels;
    for (size_t i = 0; i < task->n; i++)
        for (int from = 0; from < task->spans[i].n; from += NB_PASS_PIECE) {
            const int stripe = (int)(i * NB_PASS_STRIPES / task->n);
            nb_slope_values piece = {NULL, 1, values, NULL, NB_PASS_PIECE, stripe};
            nb_span span = task->spans[i];
            const int left = span.n - from;
            span.fast += from;
            span.at += (size_t)from;
            span.n = left < NB_PASS_PIECE ? left : NB_PASS_PIECE;
            piece.spans = &span;
            nb_reals(NB_REAL_FLOAT32, out->image, span.at, span.n, values);
            for (size_t p = 0; p < (size_t)task->job->count; p++)
                nb_reals(out->type, out->planes, p * pixels + span.at, span.n,
                         values + (p + 1) * NB_PASS_PIECE);
            nb_slope_audit_take(audit, &piece);
        }
}

/** The device's planes; in double if single precision does not do (audit.h). */
static nb_status audited_planes(const nb_slope_run *run, nb_slope_task *task,
                                const nb_slope_planes_out *out, nb_error *err)
{
    const nb_slope_job *job = run->job;
    nb_slope_planes_out all = *out;
    nb_slope_audit audit;
    nb_status st = nb_slope_audit_open(job, NB_PASS_STRIPES, &audit, err);
    double *values = nb_alloc_raw((size_t)job->count + 1, NB_PASS_PIECE * sizeof *values,
                                  "slopes of rows", err);
    float *image = nb_alloc_raw(job->scene->raster.pixels, sizeof *image, "image", err);
    if (!all.image)
        all.image = image;
    if (!st && !(values && image))
        st = NB_ERR_NOMEM;
    if (!st && !(st = run->device->planes(run->state, task, &all, err))) {
        audit_planes(task, &all, values, &audit);
        if (isfinite(nb_slope_audit_limit(&audit))) {
            task->precision = NB_PRECISION_DOUBLE;
            st = run->device->planes(run->state, task, out, err);
        }
    }
    nb_slope_audit_close(&audit);
    nb_free(values);
    nb_free(image);
    return st;
}

static nb_status device_planes(const nb_slope_run *run, const nb_slope_planes_out *out,
                               nb_error *err)
{
    nb_slope_pixels pixels = {0};
    nb_status st = nb_spans_build(run->job->scene, &pixels.spans, &pixels.n, err);
    nb_slope_task task = nb_slope_task_of(run, &pixels);
    const int audited = out->planes && task.precision != NB_PRECISION_DOUBLE &&
                        nb_slope_audit_wanted(run->job);
    if (!st && task.n > 0)
        st = audited ? audited_planes(run, &task, out, err)
                     : run->device->planes(run->state, &task, out, err);
    nb_free(pixels.spans);
    return st;
}

static nb_status device_pullback(const nb_slope_run *run, nb_real_type type,
                                 const void *dloss, double *gradient, nb_error *err)
{
    nb_slope_pixels pixels = {0};
    nb_status st = nb_spans_build(run->job->scene, &pixels.spans, &pixels.n, err);
    const nb_slope_task task = nb_slope_task_of(run, &pixels);
    memset(gradient, 0, (size_t)run->job->count * sizeof *gradient);
    if (!st && task.n > 0)
        st = run->device->pullback(run->state, &task, type, dloss, gradient, err);
    nb_free(pixels.spans);
    return st;
}

nb_status nb_slope_fill(const nb_slope_run *run, const nb_slope_planes_out *out,
                        nb_error *err)
{
    plane_sink planes = {.job = run->job, .out = out};
    const nb_slope_sink sink = {.user = &planes,
                                .take = take_planes,
                                .floats = out->type == NB_REAL_FLOAT32 && !out->expected};
    planes.streamed =
        out->type == NB_REAL_FLOAT32 &&
        4.0 * (double)run->job->scene->raster.pixels * run->job->count > NB_STREAM_BYTES;
    clear_planes(run->job, out);
    return run->device ? device_planes(run, out, err) : render(run, &sink, err);
}

nb_status nb_slope_planes(const nb_slope_run *run, nb_real_type type, void *planes,
                          float *image, nb_error *err)
{
    return nb_slope_fill(run, &(nb_slope_planes_out){type, planes, image, NULL}, err);
}

static void take_image(void *sink, const nb_slope_values *row)
{
    double *image = sink;
    const double *values = row->values;
    for (size_t i = 0; i < row->n; values += row->spans[i++].n)
        memcpy(image + row->spans[i].at, values, (size_t)row->spans[i].n * sizeof *values);
}

nb_status nb_slope_image(const nb_slope_run *run, double *image, nb_error *err)
{
    const nb_slope_sink sink = {.user = image, .take = take_image};
    memset(image, 0, run->job->scene->raster.pixels * sizeof *image);
    if (run->device)
        return device_planes(run, &(nb_slope_planes_out){.expected = image}, err);
    return render(run, &sink, err);
}

static double *weigh(void *sink, const nb_slope_values *row, double *dloss)
{
    const plane_sink *k = sink;
    for (size_t i = 0; i < row->n; dloss += row->spans[i++].n)
        nb_reals(k->type, k->dloss, row->spans[i].at, row->spans[i].n, dloss);
    return k->partial + (size_t)row->stripe * (size_t)k->job->count;
}

static void take_dot(void *sink, const nb_slope_values *row)
{
    const plane_sink *k = sink;
    double dloss[NB_PASS_PIECE];
    double *sum = weigh(sink, row, dloss);
    int n = 0;
    for (size_t i = 0; i < row->n; i++)
        n += row->spans[i].n;
    for (size_t p = 0; p < (size_t)k->job->count; p++)
        sum[p] += nb_dot_of(dloss, row->values + (p + 1) * row->stride, n);
}

static void clear_dot(void *sink)
{
    const plane_sink *k = sink;
    memset(k->partial, 0, NB_PASS_STRIPES * (size_t)k->job->count * sizeof *k->partial);
}

nb_status nb_slope_pullback(const nb_slope_run *run, nb_real_type type, const void *dloss,
                            double *gradient, nb_error *err)
{
    const size_t n = (size_t)run->job->count;
    plane_sink loss = {.job = run->job, .type = type, .dloss = dloss};
    const nb_slope_sink sink = {
        .user = &loss, .take = take_dot, .again = clear_dot, .weigh = weigh};
    nb_status st;
    if (n == 0)
        return NB_OK;
    if (run->device)
        return device_pullback(run, type, dloss, gradient, err);
    loss.partial = nb_alloc(NB_PASS_STRIPES, n * sizeof(double), "gradient", err);
    if (!loss.partial)
        return NB_ERR_NOMEM;
    st = render(run, &sink, err);
    for (size_t p = 0; p < n && !st; p++) {
        gradient[p] = 0;
        for (size_t s = 0; s < NB_PASS_STRIPES; s++)
            gradient[p] += loss.partial[s * n + p];
    }
    nb_free(loss.partial);
    return st;
}
