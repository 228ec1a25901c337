/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../progress.h"
#include "json.h"

static nb_status no_memory(nb_error *err)
{
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_NOMEM;
    snprintf(err->message, sizeof err->message, "out of memory (reference image)");
    return NB_ERR_NOMEM;
}

void nb_bench_bands(nb_bench_reference *r, double budget)
{
    const int fewest = 4;
    double rows = budget / ((double)r->fast * (double)r->steps);
    int n = rows < fewest ? fewest : rows > r->slow ? r->slow : (int)rows;
    if (n >= r->slow) {
        r->bands = 1;
        r->band_rows = r->slow;
        r->first[0] = 0;
        return;
    }
    r->bands = n < NB_BENCH_BANDS_MAX ? n : NB_BENCH_BANDS_MAX;
    r->band_rows = n / r->bands;
    for (int i = 0; i < r->bands; i++)
        r->first[i] = (int)((int64_t)i * (r->slow - r->band_rows) /
                            (r->bands > 1 ? r->bands - 1 : 1));
}

/** The detector is large and a band is small, but a renderer fills a whole image. */
static nb_status render_band(const nb_bench_reference *r, int band, nb_config *cfg,
                             const nb_hooks *hooks, float *scratch, nb_error *err)
{
    size_t row = (size_t)r->fast, rows = (size_t)r->band_rows;
    int last = r->first[band] + r->band_rows - 1;
    nb_sim *sim;
    nb_status st;
    cfg->roi_set = 1;
    cfg->roi[0] = 0;
    cfg->roi[1] = r->fast - 1;
    cfg->roi[2] = r->first[band];
    cfg->roi[3] = last;
    st = nb_sim_create(cfg, hooks, &sim, err);
    if (!st)
        st = nb_sim_render(sim, scratch, NULL, err);
    if (!st)
        memcpy(r->pixels + (size_t)band * rows * row,
               scratch + (size_t)r->first[band] * row, rows * row * sizeof *scratch);
    nb_sim_free(sim);
    return st;
}

nb_status nb_bench_steps(const nb_sim *sim, int64_t *steps, nb_error *err)
{
    char *json = NULL;
    nb_status st = nb_sim_config_json(sim, &json, err);
    if (!st)
        *steps = (int64_t)nb_bench_json_number(json, "sampling", "steps_per_pixel", 1);
    nb_free(json);
    return st;
}

/** Size and steps per pixel of the job's image. */
static nb_status ask(const nb_config *cfg, const nb_hooks *hooks, nb_bench_reference *r,
                     nb_error *err)
{
    nb_sim *sim;
    nb_status st = nb_sim_create(cfg, hooks, &sim, err);
    if (st)
        return st;
    nb_sim_size(sim, &r->fast, &r->slow);
    st = nb_bench_steps(sim, &r->steps, err);
    nb_sim_free(sim);
    return st;
}

static nb_status render_bands(nb_config *cfg, const nb_hooks *hooks,
                              nb_bench_reference *r, nb_error *err)
{
    size_t pixels = (size_t)r->fast * (size_t)r->slow;
    float *scratch = malloc(pixels * sizeof *scratch);
    nb_status st = NB_OK;
    r->pixels =
        malloc((size_t)nb_bench_reference_rows(r) * (size_t)r->fast * sizeof *r->pixels);
    if (!scratch || !r->pixels)
        st = no_memory(err);
    for (int i = 0; !st && i < r->bands; i++)
        st = render_band(r, i, cfg, hooks, scratch, err);
    free(scratch);
    return st;
}

nb_status nb_bench_reference_make(const nb_bench_job *job, double phi_deg,
                                  double budget_steps, const nb_hooks *hooks,
                                  nb_bench_reference *out, nb_error *err)
{
    nb_bench_job scalar = *job;
    nb_config cfg;
    double start;
    nb_status st;
    memset(out, 0, sizeof *out);
    snprintf(scalar.device, sizeof scalar.device, "cpu");
    scalar.isa = NB_ISA_SCALAR;
    scalar.precision = NB_PRECISION_DOUBLE;
    scalar.threads = 0;
    if ((st = nb_bench_config(&scalar, &cfg, err)))
        return st;
    if (scalar.osc > 0)
        cfg.phi_deg = phi_deg;
    st = ask(&cfg, hooks, out, err);
    if (st)
        return st;
    nb_bench_bands(out, budget_steps);
    start = nb_clock();
    st = render_bands(&cfg, hooks, out, err);
    out->seconds = nb_clock() - start;
    if (st)
        nb_bench_reference_free(out);
    return st;
}

void nb_bench_reference_free(nb_bench_reference *r)
{
    free(r->pixels);
    r->pixels = NULL;
}

int nb_bench_reference_rows(const nb_bench_reference *r)
{
    return r->bands * r->band_rows;
}

/** A pixel that was not written is NaN, because the images are filled with NaN before. */
static int all_finite(const float *image, size_t n)
{
    int finite = 1;
    for (size_t i = 0; i < n; i++)
        finite &= isfinite(image[i]) != 0;
    return finite;
}

static double largest(const float *pixels, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = pixels[i] > most ? pixels[i] : most;
    return most;
}

nb_bench_figures nb_bench_reference_check(const nb_bench_reference *r, const float *image)
{
    size_t row = (size_t)r->fast, n = (size_t)nb_bench_reference_rows(r) * row;
    nb_bench_figures f = {NAN, NAN, NAN};
    double seen;
    float *same;
    if (!all_finite(image, row * (size_t)r->slow))
        return f;
    if (r->bands == 1)
        return nb_bench_measure(image + (size_t)r->first[0] * row, r->pixels, n);
    same = malloc(n * sizeof *same);
    if (!same)
        return f;
    for (int i = 0; i < r->bands; i++)
        memcpy(same + (size_t)i * (size_t)r->band_rows * row,
               image + (size_t)r->first[i] * row,
               (size_t)r->band_rows * row * sizeof *same);
    f = nb_bench_measure(same, r->pixels, n);
    free(same);
    /* errors are relative to the image's brightest pixel, which may be between the bands */
    seen = largest(r->pixels, n);
    f.max_error *= fmin(1, seen / largest(image, row * (size_t)r->slow));
    return f;
}
