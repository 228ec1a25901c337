/* SPDX-License-Identifier: MIT */
/* The gate: references from the scalar renderer, and the error of an image. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../progress.h"
#include "bench.h"

/* The bounds of the golden suite (docs/physics.md, section 21). */
nb_bench_bounds nb_bench_bounds_of(nb_precision precision)
{
    return precision == NB_PRECISION_DOUBLE ? (nb_bench_bounds){1e-12, 2e-7}
                                            : (nb_bench_bounds){1e-11, 1e-6};
}

/* Other programs may round differently, but must make the same image. One in float32
 * differs by 0.08 of the brightest pixel at a peak's edge. */
static nb_bench_bounds bench_bounds_of_peer(void)
{
    return (nb_bench_bounds){1e-4, 0.1};
}

nb_bench_figures nb_bench_compare(const float *a, const float *b, size_t n)
{
    nb_bench_figures f = {NAN, NAN, NAN};
    double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    double most = 0, worst = 0, relative = 0, bright = 0;
    for (size_t i = 0; i < n; i++) {
        mean_a += a[i] / (double)n;
        mean_b += b[i] / (double)n;
        most = fmax(most, b[i]);
    }
    if (!n || !isfinite(mean_a) || !isfinite(mean_b))
        return f;
    for (size_t i = 0; i < n; i++) {
        double da = a[i] - mean_a, db = b[i] - mean_b, d = fabs((double)a[i] - b[i]);
        aa += da * da;
        bb += db * db;
        ab += da * db;
        worst = fmax(worst, d);
        if (b[i] > 1e-6 * most) {
            relative += d / b[i];
            bright += 1;
        }
    }
    f.correlation = worst == 0 ? 1 : ab / sqrt(aa * bb);
    f.correlation = f.correlation > 1 ? 1 : f.correlation; /* rounding */
    f.max_error = worst == 0 ? 0 : worst / most;
    f.mean_relative = bright > 0 ? relative / bright : 0;
    return f;
}

int nb_bench_is_right(const nb_bench_figures *f, const nb_bench_bounds *bounds)
{
    return 1 - f->correlation <= bounds->correlation && f->max_error <= bounds->max_error;
}

/** The worse value; NaN is the worst. */
static double worst_of(double a, double b, int larger_is_worse)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return (a > b) == larger_is_worse ? a : b;
}

nb_bench_figures nb_bench_worse(nb_bench_figures a, nb_bench_figures b)
{
    return (nb_bench_figures){worst_of(a.correlation, b.correlation, 0),
                              worst_of(a.max_error, b.max_error, 1),
                              worst_of(a.mean_relative, b.mean_relative, 1)};
}

void nb_bench_bands(nb_bench_reference *r, double budget)
{
    const int fewest = 4;
    double rows = budget / ((double)r->fast * (double)r->steps);
    int n = rows < fewest ? fewest : rows > r->slow ? r->slow : (int)rows;
    r->bands = n >= r->slow ? 1 : n < NB_BENCH_BANDS_MAX ? n : NB_BENCH_BANDS_MAX;
    r->band_rows = n >= r->slow ? r->slow : n / r->bands;
    for (int i = 0; i < r->bands; i++)
        r->first[i] = (int)((int64_t)i * (r->slow - r->band_rows) /
                            (r->bands > 1 ? r->bands - 1 : 1));
}

int64_t nb_bench_steps(const nb_sim *sim)
{
    char *json = NULL;
    nb_error err;
    double steps = 1;
    if (!nb_sim_config_json(sim, &json, &err)) {
        cJSON *root = cJSON_Parse(json);
        const cJSON *n =
            cJSON_GetObjectItem(cJSON_GetObjectItem(root, "sampling"), "steps_per_pixel");
        steps = cJSON_IsNumber(n) ? n->valuedouble : 1;
        cJSON_Delete(root);
    }
    nb_free(json);
    return (int64_t)steps;
}

/** The detector is large and a band is small, but a renderer fills a whole image. */
static nb_status render_band(const nb_bench_reference *r, int band, float *whole,
                             nb_error *err)
{
    const size_t row = (size_t)r->fast, rows = (size_t)r->band_rows;
    nb_bench_job job = r->job;
    nb_sim *sim;
    nb_status st;
    job.row = r->first[band];
    job.rows = r->band_rows;
    st = nb_bench_sim(&job, &sim, err);
    if (!st)
        st = nb_sim_render(sim, whole, NULL, err);
    if (!st)
        memcpy(r->pixels + (size_t)band * rows * row, whole + (size_t)job.row * row,
               rows * row * sizeof *whole);
    nb_sim_free(sim);
    return st;
}

static nb_status render_bands(nb_bench_reference *r, double budget, nb_error *err)
{
    const double start = nb_clock();
    nb_sim *sim;
    float *whole;
    nb_status st = nb_bench_sim(&r->job, &sim, err);
    if (st)
        return st;
    nb_sim_size(sim, &r->fast, &r->slow);
    r->steps = nb_bench_steps(sim);
    nb_sim_free(sim);
    nb_bench_bands(r, budget);
    whole = malloc((size_t)r->fast * (size_t)r->slow * sizeof *whole);
    r->pixels = malloc((size_t)r->bands * (size_t)r->band_rows * (size_t)r->fast *
                       sizeof *r->pixels);
    if (!whole || !r->pixels)
        st = nb_bench_no_memory(err);
    for (int i = 0; !st && i < r->bands; i++)
        st = render_band(r, i, whole, err);
    free(whole);
    r->seconds = nb_clock() - start;
    return st;
}

static int same_image(const nb_bench_job *a, const nb_bench_job *b)
{
    return a->which == b->which && a->size == b->size && a->oversample == b->oversample &&
           a->domains == b->domains && a->hkl == b->hkl && a->phi == b->phi &&
           a->osc == b->osc;
}

nb_status nb_bench_refer(nb_bench_reference *r, const nb_bench_job *job, double budget,
                         nb_error *err)
{
    nb_status st;
    if (r->pixels && same_image(&r->job, job))
        return NB_OK;
    nb_bench_reference_free(r);
    r->job = *job;
    snprintf(r->job.device, sizeof r->job.device, "cpu");
    r->job.isa = NB_ISA_SCALAR;
    r->job.precision = NB_PRECISION_DOUBLE;
    r->job.threads = r->job.reports = 0;
    st = render_bands(r, budget, err);
    if (st)
        nb_bench_reference_free(r);
    return st;
}

void nb_bench_reference_free(nb_bench_reference *r)
{
    free(r->pixels);
    memset(r, 0, sizeof *r);
}

static double brightest(const float *image, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, image[i]);
    return most;
}

/** A pixel that was not written is NaN, because the images are filled with NaN before. */
static nb_bench_figures bench_check(const nb_bench_reference *r, const float *image)
{
    const size_t row = (size_t)r->fast, band = (size_t)r->band_rows * row;
    const size_t n = (size_t)r->bands * band;
    nb_bench_figures f = {NAN, NAN, NAN};
    int finite = 1;
    float *same;
    for (size_t i = 0; i < row * (size_t)r->slow; i++)
        finite &= isfinite(image[i]) != 0;
    same = finite ? malloc(n * sizeof *same) : NULL;
    if (!same)
        return f;
    for (int i = 0; i < r->bands; i++)
        memcpy(same + (size_t)i * band, image + (size_t)r->first[i] * row,
               band * sizeof *same);
    f = nb_bench_compare(same, r->pixels, n);
    free(same);
    /* errors are relative to the image's brightest pixel, which may be between the bands */
    if (r->bands > 1)
        f.max_error *=
            fmin(1, brightest(r->pixels, n) / brightest(image, row * (size_t)r->slow));
    return f;
}

nb_status nb_bench_take_reference(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    nb_status st = nb_bench_refer(&b->reference, &p->job, b->reference_steps, err);
    p->rows = b->reference.bands * b->reference.band_rows;
    p->of_rows = b->reference.slow;
    return st;
}

nb_status nb_bench_judge(nb_bench *b, nb_bench_point *p, const char *how,
                         const nb_bench_reference *r, const float *image, nb_error *err)
{
    const nb_bench_bounds bounds =
        p->peer < 0 ? nb_bench_bounds_of(p->job.precision) : bench_bounds_of_peer();
    const nb_bench_figures f = bench_check(r, image);
    char text[240];
    p->worst = nb_bench_worse(p->worst, f);
    if (nb_bench_is_right(&f, &bounds))
        return NB_OK;
    b->wrong = 1;
    nb_bench_job_text(&p->job, text, sizeof text);
    return nb_bench_fail(
        err, NB_ERR_INTERNAL,
        "wrong image, no time is reported: %s, %s: %s: correlation %.12g with the scalar "
        "renderer (at least 1 - %g), largest difference %.3g of the brightest pixel (at "
        "most %g)",
        nb_bench_program(b, p), how, text, f.correlation, bounds.correlation, f.max_error,
        bounds.max_error);
}

nb_status nb_bench_judge_file(nb_bench *b, nb_bench_point *p, const char *how,
                              const nb_bench_reference *r, const char *path, nb_error *err)
{
    nb_image image;
    nb_status st = nb_image_read(path, p->job.size, p->job.size, NULL, &image, err);
    if (!st)
        st = nb_bench_judge(b, p, how, r, image.pixels, err);
    nb_image_free(&image);
    return st;
}
