/* SPDX-License-Identifier: MIT */
/* Planes of slopes, and sums of slopes times the gradient of a loss. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stream.h"
#include "../physics/panels.h"
#include "../render/request.h"
#include "products.h"

typedef struct plane_sink {
    const nb_slope_job *job;
    const nb_slope_planes_out *out;
    int streamed; /* 1: write past the cache, as float planes are too large for it */
} plane_sink;

/** Write n numbers of plane p from pixel `at` on. */
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

/** Copy rows of floats to planes of floats. */
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

/** True if a pass writes every pixel of the stack. */
static int writes_all(const nb_scene *sc)
{
    return !sc->raster.mask && (size_t)nb_rendered_pixels(sc) == sc->raster.pixels;
}

/** Clear the planes if a pass does not write every pixel. */
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

/** Copy slopes that the caller gave (a function nb_slope_row). */
static void given_row(const void *of, const nb_span *spans, size_t n, double *out,
                      size_t stride)
{
    const nb_slope_run *run = of;
    const nb_slope_list *list = run->given_of;
    for (size_t i = 0; i < n; out += spans[i++].n) {
        const size_t at = list->place[spans[i].at];
        for (size_t p = 0; p <= (size_t)run->job->count; p++)
            memcpy(out + p * stride, run->given + p * list->n + at,
                   (size_t)spans[i].n * sizeof *out);
    }
}

nb_status nb_slope_render(const nb_slope_run *run, const nb_slope_pixels *pixels,
                          const nb_slope_sink *sink, nb_error *err)
{
    const nb_slope_rows given = {.of = run, .row = given_row};
    const nb_scene *scene = run->job->scene;
    const nb_planes none = {NULL, scene->raster.pixels};
    const nb_sums sums = {run->job, sink, pixels ? pixels->number : 0};
    nb_request request = {.sums = &sums, .precision = run->precision};
    if (!pixels)
        return nb_render_scene_as(run->backend, run->state, scene, &request, NULL, err);
    request.spans = pixels->spans;
    request.n = pixels->n;
    return run->given ? nb_slopes_walk(&request, &given, run->threads, run->hooks, err)
                      : run->backend->render(run->state, scene, &request, &none, err);
}

/** Fill planes and images at `pixels`, or at all pixels if NULL. */
static nb_status fill(const nb_slope_run *run, const nb_slope_pixels *pixels,
                      const nb_slope_planes_out *out, nb_error *err)
{
    plane_sink planes = {.job = run->job, .out = out};
    const nb_slope_sink sink = {.planes = out,
                                .user = &planes,
                                .take = take_planes,
                                .floats = out->type == NB_REAL_FLOAT32 && !out->expected};
    planes.streamed =
        out->type == NB_REAL_FLOAT32 &&
        4.0 * (double)run->job->scene->raster.pixels * run->job->count > NB_STREAM_BYTES;
    return nb_slope_render(run, pixels, &sink, err);
}

nb_status nb_slope_fill(const nb_slope_run *run, const nb_slope_planes_out *out,
                        nb_error *err)
{
    clear_planes(run->job, out);
    return fill(run, run->given ? run->given_of->pixels : NULL, out, err);
}

nb_status nb_slope_image(const nb_slope_run *run, double *image, nb_error *err)
{
    return nb_slope_fill(run, &(nb_slope_planes_out){.expected = image}, err);
}

nb_status nb_slope_scene_pixels(const nb_scene *scene, nb_slope_pixels *out, nb_error *err)
{
    memset(out, 0, sizeof *out);
    return nb_spans_build(scene, &out->spans, &out->n, err);
}

nb_status nb_slope_observed(const nb_slope_job *job, const nb_observation *seen,
                            nb_slope_pixels *out, nb_error *err)
{
    nb_scene part = *job->scene;
    const uint8_t *mask = part.raster.mask;
    uint8_t *wanted = nb_alloc_raw(part.raster.pixels, 1, "observed pixels", err);
    nb_status st;
    memset(out, 0, sizeof *out);
    if (!wanted)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < part.raster.pixels; i++)
        wanted[i] = !isnan(seen->photons[i]) && (!mask || mask[i]);
    part.raster.mask = wanted;
    st = nb_spans_build(&part, &out->spans, &out->n, err);
    nb_free(wanted);
    return st;
}

void nb_slope_pixels_free(nb_slope_pixels *pixels)
{
    nb_free(pixels->spans);
    memset(pixels, 0, sizeof *pixels);
}

nb_status nb_slope_expected(const nb_slope_run *run, const nb_observation *seen,
                            double *expected, nb_error *err)
{
    const nb_slope_planes_out out = {.expected = expected};
    nb_slope_pixels pixels;
    nb_status st = nb_slope_observed(run->job, seen, &pixels, err);
    memset(expected, 0, run->job->scene->raster.pixels * sizeof *expected);
    NB_TRY(fill(run, &pixels, &out, err));
    nb_slope_pixels_free(&pixels);
    return st;
}

/** Sums of slopes times the gradient of a loss. */
typedef struct loss_sink {
    nb_slope_loss loss; /* loss.gradient: [NB_PASS_STRIPES][count] */
    int count;
} loss_sink;

static double *weigh(void *sink, const nb_slope_values *row, double *dloss)
{
    const loss_sink *k = sink;
    for (size_t i = 0; i < row->n; dloss += row->spans[i++].n)
        nb_reals(k->loss.type, k->loss.dloss, row->spans[i].at, row->spans[i].n, dloss);
    return k->loss.gradient + (size_t)row->stripe * (size_t)k->count;
}

static void take_dot(void *sink, const nb_slope_values *row)
{
    const loss_sink *k = sink;
    double dloss[NB_PASS_PIECE];
    double *sum = weigh(sink, row, dloss);
    int n = 0;
    for (size_t i = 0; i < row->n; i++)
        n += row->spans[i].n;
    for (size_t p = 0; p < (size_t)k->count; p++)
        sum[p] += nb_dot_of(dloss, row->values + (p + 1) * row->stride, n);
}

static void clear_dot(void *sink)
{
    const loss_sink *k = sink;
    memset(k->loss.gradient, 0, NB_PASS_STRIPES * (size_t)k->count * sizeof(double));
}

nb_status nb_slope_pullback(const nb_slope_run *run, nb_real_type type, const void *dloss,
                            double *gradient, nb_error *err)
{
    const size_t n = (size_t)run->job->count;
    double *partial = nb_alloc(NB_PASS_STRIPES, n * sizeof *partial, "gradient", err);
    loss_sink loss = {{type, dloss, partial}, run->job->count};
    const nb_slope_sink sink = {.loss = &loss.loss,
                                .user = &loss,
                                .take = take_dot,
                                .again = clear_dot,
                                .weigh = weigh};
    nb_status st = partial ? NB_OK : NB_ERR_NOMEM;
    if (!st && n > 0)
        st = nb_slope_render(run, NULL, &sink, err);
    for (size_t p = 0; p < n && !st; p++) {
        gradient[p] = 0;
        for (size_t s = 0; s < NB_PASS_STRIPES; s++)
            gradient[p] += partial[s * n + p];
    }
    nb_free(partial);
    return st;
}
