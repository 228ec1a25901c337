/* SPDX-License-Identifier: MIT */
/* Loss of an observation, gradient and Fisher matrix (docs/physics.md, section 26). */
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "products.h"

typedef struct fit_sink {
    const nb_slope_job *job;
    const nb_slope_fit *fit;
    int n;           /* number of named parameters and knots */
    double *partial; /* [NB_PASS_STRIPES][1 + n + n^2]: loss, gradient, Fisher matrix */
} fit_sink;

/** For each pixel: slope and weight of the loss, first knot, and the weights of two knots
 * (hat). */
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

/** Add the slopes by the values at the knots to gradient and matrix. A pixel depends on
 * at most two knots. */
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
    memset(k->partial, 0, NB_PASS_STRIPES * (1 + n + n * n) * sizeof *k->partial);
}

/** Add the stripes in order, and fill the upper half of the matrix. */
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
    fit_sink equations = {
        .job = run->job, .fit = fit, .n = run->job->count + fit->seen->n_knots};
    const size_t n = (size_t)equations.n, bytes = (1 + n + n * n) * sizeof(double);
    double *partial = nb_alloc(NB_PASS_STRIPES, bytes, "equations", err);
    const nb_slope_fit_out out = {fit, partial};
    const nb_slope_sink sink = {
        .fit = &out, .user = &equations, .take = take_fit, .again = clear_fit};
    nb_slope_pixels own = {0};
    nb_status st = partial ? NB_OK : NB_ERR_NOMEM;
    equations.partial = partial;
    if (!st && !pixels)
        st = nb_slope_observed(run->job, fit->seen, &own, err);
    NB_TRY(nb_slope_render(run, pixels ? pixels : &own, &sink, err));
    if (!st)
        collect(&equations, loss, gradient, fisher);
    nb_slope_pixels_free(&own);
    nb_free(partial);
    return st;
}
