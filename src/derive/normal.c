/* SPDX-License-Identifier: MIT */
/* The loss of an observation, its gradient and its Fisher matrix (docs/derivatives.md). */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../render/request.h"
#include "dot.h"
#include "products.h"

typedef struct fit_sink {
    const nb_slope_job *job;
    const nb_slope_fit *fit;
    double *expected; /* [pixels], or NULL */
    int n;            /* named parameters and knots */
    double *partial;  /* [stripes][1 + n + n^2]: loss, gradient, Fisher matrix */
} fit_sink;

/** What the pixels that are taken at once have of the loss. */
typedef struct fit_batch {
    int n, knot[NB_PASS_PIECE];
    double slope[NB_PASS_PIECE], weight[NB_PASS_PIECE], hat[NB_PASS_PIECE][2];
    double product[NB_PASS_PIECE]; /* work: weight times the slope of a plane */
} fit_batch;

static void weigh(const double *weight, const double *plane, int n, double *product)
{
    for (int i = 0; i < n; i++)
        product[i] = weight[i] * plane[i];
}

/** The knots' rows; a pixel has two hats at most. */
static void add_knots(const fit_sink *k, const fit_batch *batch,
                      const nb_slope_values *row, double *sums)
{
    const size_t count = (size_t)k->job->count, n = (size_t)k->n;
    double *gradient = sums + 1, *fisher = gradient + n;
    for (int i = 0; i < batch->n; i++)
        for (size_t at = 0; at < 2 && batch->knot[i] >= 0; at++) {
            const size_t own = count + (size_t)batch->knot[i] + at;
            const double hat = batch->hat[i][at], w = batch->weight[i] * hat;
            if (own >= n)
                continue;
            gradient[own] += batch->slope[i] * hat;
            for (size_t j = 0; j < count; j++)
                fisher[own * n + j] += w * row->values[(j + 1) * row->stride + (size_t)i];
            fisher[own * n + own] += w * hat;
            if (at == 1)
                fisher[own * n + own - 1] += w * batch->hat[i][0];
        }
}

static void add_batch(const fit_sink *k, fit_batch *batch, const nb_slope_values *row,
                      double *sums)
{
    const size_t count = (size_t)k->job->count, n = (size_t)k->n, stride = row->stride;
    const double *planes = row->values + stride;
    double *gradient = sums + 1, *fisher = gradient + n;
    for (size_t i = 0; i < count; i++) {
        gradient[i] += nb_dot_of(batch->slope, planes + i * stride, batch->n);
        weigh(batch->weight, planes + i * stride, batch->n, batch->product);
        for (size_t j = 0; j <= i; j++)
            fisher[i * n + j] += nb_dot_of(batch->product, planes + j * stride, batch->n);
    }
    if (n > count)
        add_knots(k, batch, row, sums);
}

static void take_fit(void *sink, const nb_slope_values *row)
{
    const fit_sink *k = sink;
    const size_t n = (size_t)k->n;
    double *sums = k->partial + (size_t)row->stripe * (1 + n + n * n);
    fit_batch batch;
    int j = 0;
    for (size_t i = 0; i < row->n; i++)
        for (int f = 0; f < row->spans[i].n; f++, j++) {
            const nb_fit_pixel p =
                nb_fit_compare(k->fit, &row->spans[i], f, row->values[j]);
            sums[0] += p.loss;
            batch.slope[j] = p.slope;
            batch.weight[j] = p.weight;
            batch.knot[j] = p.knot;
            batch.hat[j][0] = p.hat[0];
            batch.hat[j][1] = p.hat[1];
        }
    batch.n = j;
    add_batch(k, &batch, row, sums);
}

static void clear_fit(void *sink)
{
    const fit_sink *k = sink;
    const size_t n = (size_t)k->n;
    if (k->partial)
        memset(k->partial, 0, NB_PASS_STRIPES * (1 + n + n * n) * sizeof *k->partial);
}

static void take_expected(void *sink, const nb_slope_values *row)
{
    const fit_sink *k = sink;
    size_t j = 0;
    for (size_t i = 0; i < row->n; i++)
        for (int f = 0; f < row->spans[i].n; f++, j++)
            k->expected[row->spans[i].at + (size_t)f] = row->values[j];
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

/** As nb_slope_row: rows that are there already. */
static void given_row(const void *of, const nb_span *spans, size_t n, double *out,
                      size_t stride)
{
    const nb_slope_run *run = of;
    const size_t pixels = run->job->scene->raster.pixels;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < spans[i].n; k++, out++)
            for (size_t p = 0; p <= (size_t)run->job->count; p++)
                out[p * stride] = run->given[p * pixels + spans[i].at + (size_t)k];
}

static nb_status run_fit(const nb_slope_run *run, const nb_slope_pixels *pixels,
                         fit_sink *fit, void (*take)(void *, const nb_slope_values *),
                         nb_error *err)
{
    const nb_slope_sink sink = {.user = fit, .take = take, .again = clear_fit};
    const nb_sums sums = {run->job, &sink};
    const nb_request request = {
        .spans = pixels->spans, .n = pixels->n, .sums = &sums, .precision = run->precision};
    const nb_scene *scene = run->job->scene;
    const nb_planes none = {NULL, scene->raster.pixels};
    if (run->given)
        return nb_slopes_walk(&request, &(nb_slope_rows){.of = run, .row = given_row},
                              run->threads, run->hooks, err);
    return run->backend->render(run->state, scene, &request, &none, err);
}

/** The same on a device: the sums of a fit, or the image to sink->expected. */
static nb_status run_device_fit(const nb_slope_run *run, const nb_slope_pixels *pixels,
                                const fit_sink *sink, nb_error *err)
{
    const nb_slope_planes_out image = {.expected = sink->expected};
    const nb_slope_fit_out sums = {sink->fit, sink->partial};
    const nb_slope_task task = nb_slope_task_of(run, pixels);
    if (task.n == 0)
        return NB_OK;
    return sink->expected ? run->device->planes(run->state, &task, &image, err)
                          : run->device->normal(run->state, &task, &sums, err);
}

/** pixels: those of the observation, or NULL. */
static nb_status run_sink(const nb_slope_run *run, const nb_slope_pixels *pixels,
                          fit_sink *sink, void (*take)(void *, const nb_slope_values *),
                          nb_error *err)
{
    nb_slope_pixels own = {0};
    nb_status st = NB_OK;
    if (!pixels) {
        st = nb_slope_observed(run->job, sink->fit->seen, &own, err);
        pixels = &own;
    }
    if (!st)
        st = run->device && !run->given ? run_device_fit(run, pixels, sink, err)
                                        : run_fit(run, pixels, sink, take, err);
    nb_slope_pixels_free(&own);
    return st;
}

/** Stripes are added in order; the matrix gets its upper half. */
static void collect(const fit_sink *k, double *loss, double *gradient, double *fisher)
{
    const size_t n = (size_t)k->n, size = 1 + n + n * n;
    double *sums = k->partial;
    for (size_t s = 1; s < NB_PASS_STRIPES; s++)
        for (size_t i = 0; i < size; i++)
            sums[i] += k->partial[s * size + i];
    if (loss)
        *loss = sums[0];
    if (gradient)
        memcpy(gradient, sums + 1, n * sizeof *gradient);
    for (size_t i = 0; i < n && fisher; i++)
        for (size_t j = 0; j <= i; j++)
            fisher[i * n + j] = fisher[j * n + i] = sums[1 + n + i * n + j];
}

nb_status nb_slope_normal(const nb_slope_run *run, const nb_slope_fit *fit,
                          const nb_slope_pixels *pixels, double *loss, double *gradient,
                          double *fisher, nb_error *err)
{
    fit_sink sink = {
        .job = run->job, .fit = fit, .n = run->job->count + fit->seen->n_knots};
    const size_t n = (size_t)sink.n;
    nb_status st;
    sink.partial =
        nb_alloc(NB_PASS_STRIPES, (1 + n + n * n) * sizeof(double), "equations", err);
    if (!sink.partial)
        return NB_ERR_NOMEM;
    st = run_sink(run, pixels, &sink, take_fit, err);
    if (!st)
        collect(&sink, loss, gradient, fisher);
    nb_free(sink.partial);
    return st;
}

nb_status nb_slope_expected(const nb_slope_run *run, const nb_slope_fit *fit,
                            double *expected, nb_error *err)
{
    fit_sink sink = {.job = run->job, .fit = fit, .expected = expected};
    memset(expected, 0, run->job->scene->raster.pixels * sizeof *expected);
    return run_sink(run, NULL, &sink, take_expected, err);
}
