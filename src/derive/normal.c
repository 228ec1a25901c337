/* SPDX-License-Identifier: MIT */
/* The loss of an observation, its gradient and its Fisher matrix (docs/derivatives.md). */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "products.h"

#define LEAST_PHOTONS 1e-9 /* of the model, in a logarithm or below a fraction */

typedef struct fit_sink {
    const nb_slope_job *job;
    const nb_fit *fit;
    double *expected; /* [pixels], or NULL */
    int n;            /* named parameters and knots */
    double *partial;  /* [stripes][1 + n + n^2]: loss, gradient, Fisher matrix */
} fit_sink;

/** One pixel: its model, and which numbers follow from it. */
typedef struct fit_pixel {
    double loss, slope, weight; /* dloss/dm; Fisher information of m */
    int knot;                   /* the first of two; -1 without a radial background */
    double hat[2];
} fit_pixel;

static fit_pixel poisson(double n, double m)
{
    fit_pixel p = {.knot = -1};
    n = n > 0 ? n : 0;
    m = m > LEAST_PHOTONS ? m : LEAST_PHOTONS;
    p.loss = m - n + (n > 0 ? n * log(n / m) : 0);
    p.slope = 1 - n / m;
    p.weight = 1 / m;
    return p;
}

static fit_pixel gauss(double n, double m, double sigma)
{
    double V = (m > LEAST_PHOTONS ? m : LEAST_PHOTONS) + sigma * sigma, d = n - m;
    fit_pixel p = {.knot = -1};
    p.loss = 0.5 * (d * d / V + log(V));
    p.slope = -d / V + (1 - d * d / V) / (2 * V);
    p.weight = 1 / V + 1 / (2 * V * V);
    return p;
}

/** The two hats at a pixel's sin(theta)/lambda; beyond the knots the end's value holds. */
static double radial(const nb_fit *fit, const nb_span *span, int f, fit_pixel *p)
{
    const nb_panel *panel = &fit->scene->panels[span->panel];
    const nb_observation *seen = fit->seen;
    nb_vec3 d = nb_unit(nb_panel_point(panel, (span->fast + f + 0.5) * panel->pixel_fast,
                                       (span->slow + 0.5) * panel->pixel_slow, 0));
    double x = nb_norm(nb_sub(d, panel->beam)) / (2 * fit->wavelength_A), t;
    int k = 0, last = seen->n_knots - 1;
    if (seen->n_knots == 1) {
        p->knot = 0;
        p->hat[0] = 1;
        p->hat[1] = 0;
        return seen->values[0];
    }
    while (k < last - 1 && x >= seen->knots[k + 1])
        k++;
    t = (x - seen->knots[k]) / (seen->knots[k + 1] - seen->knots[k]);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    p->knot = k;
    p->hat[0] = 1 - t;
    p->hat[1] = t;
    return p->hat[0] * seen->values[k] + p->hat[1] * seen->values[k + 1];
}

static fit_pixel compare(const nb_fit *fit, const nb_span *span, int f, double image)
{
    const nb_observation *seen = fit->seen;
    const size_t at = span->at + (size_t)f;
    fit_pixel hats = {.knot = -1}, p;
    double m = image;
    if (seen->background)
        m += seen->background[at];
    if (seen->n_knots > 0)
        m += radial(fit, span, f, &hats);
    p = seen->likelihood == NB_LIKELIHOOD_GAUSS ? gauss(seen->photons[at], m, seen->sigma)
                                                : poisson(seen->photons[at], m);
    p.knot = hats.knot;
    p.hat[0] = hats.hat[0];
    p.hat[1] = hats.hat[1];
    return p;
}

/** Slopes of the model by all that is fitted. */
static void slopes_of(const fit_sink *k, const fit_pixel *p, const double *values,
                      size_t stride, double *dm)
{
    const int count = k->job->count;
    for (int i = 0; i < count; i++)
        dm[i] = values[(size_t)(i + 1) * stride];
    for (int i = count; i < k->n; i++)
        dm[i] = 0;
    if (p->knot < 0)
        return;
    dm[count + p->knot] = p->hat[0];
    if (p->knot + 1 < k->n - count)
        dm[count + p->knot + 1] = p->hat[1];
}

static void add_pixel(const fit_sink *k, const fit_pixel *p, const double *dm,
                      double *sums)
{
    const int n = k->n;
    double *gradient = sums + 1, *fisher = gradient + n;
    sums[0] += p->loss;
    for (int i = 0; i < n; i++) {
        double w = p->weight * dm[i];
        gradient[i] += p->slope * dm[i];
        for (int j = 0; j <= i && w != 0; j++)
            fisher[(size_t)i * (size_t)n + (size_t)j] += w * dm[j];
    }
}

static void take_fit(void *sink, const nb_slope_values *row)
{
    const fit_sink *k = sink;
    const size_t n = (size_t)k->n;
    double *sums = k->partial + (size_t)row->stripe * (1 + n + n * n);
    double dm[2 * NB_VARIABLES_MAX];
    size_t j = 0;
    for (size_t i = 0; i < row->n; i++)
        for (int f = 0; f < row->spans[i].n; f++, j++) {
            fit_pixel p = compare(k->fit, &row->spans[i], f, row->values[j]);
            slopes_of(k, &p, row->values + j, row->stride, dm);
            add_pixel(k, &p, dm, sums);
        }
}

static void take_expected(void *sink, const nb_slope_values *row)
{
    const fit_sink *k = sink;
    size_t j = 0;
    for (size_t i = 0; i < row->n; i++)
        for (int f = 0; f < row->spans[i].n; f++, j++)
            k->expected[row->spans[i].at + (size_t)f] = row->values[j];
}

/** The pixels that are observed. */
static nb_status run_fit(const nb_slope_run *run, fit_sink *sink,
                         void (*take)(void *, const nb_slope_values *), nb_error *err)
{
    const size_t pixels = run->job->scene->raster.pixels;
    nb_slope_pass pass = {.job = run->job,
                          .way = run->way,
                          .threads = run->threads,
                          .hooks = run->hooks,
                          .sink = sink,
                          .take = take};
    uint8_t *wanted = nb_alloc_raw(pixels, 1, "observed pixels", err);
    nb_status st = wanted ? NB_OK : NB_ERR_NOMEM;
    for (size_t i = 0; i < pixels && !st; i++)
        wanted[i] = !isnan(sink->fit->seen->photons[i]);
    pass.wanted = wanted;
    if (!st)
        st = nb_slope_pass_run(&pass, err);
    nb_free(wanted);
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

nb_status nb_slope_normal(const nb_slope_run *run, const nb_fit *fit, double *loss,
                          double *gradient, double *fisher, nb_error *err)
{
    fit_sink sink = {
        .job = run->job, .fit = fit, .n = run->job->count + fit->seen->n_knots};
    const size_t n = (size_t)sink.n;
    nb_status st;
    sink.partial =
        nb_alloc(NB_PASS_STRIPES, (1 + n + n * n) * sizeof(double), "equations", err);
    if (!sink.partial)
        return NB_ERR_NOMEM;
    if (!(st = run_fit(run, &sink, take_fit, err)))
        collect(&sink, loss, gradient, fisher);
    nb_free(sink.partial);
    return st;
}

nb_status nb_slope_expected(const nb_slope_run *run, const nb_fit *fit, double *expected,
                            nb_error *err)
{
    fit_sink sink = {.job = run->job, .fit = fit, .expected = expected};
    memset(expected, 0, run->job->scene->raster.pixels * sizeof *expected);
    return run_fit(run, &sink, take_expected, err);
}
