/* SPDX-License-Identifier: MIT */
#include "light.h"

#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "mix.h"

enum {
    BLOCK = 32,   /* edge in pixels of a block that is checked at once */
    FEW_DARK = 64 /* a mask saves time only if at least 1 of 64 pixels is dark */
};

typedef struct shading {
    const nb_shadow *shadow;
    const float *file;
    const nb_scene *scene;
    nb_shade *out;
} shading;

/** Consecutive rows of a panel. */
typedef struct band {
    const nb_panel *panel;
    int slow, rows; /* first row in the panel, and number of rows */
    double edge;    /* edge of a pixel, m */
} band;

static int place_of(const shading *job, const nb_panel *panel, double f, double s,
                    double *x, double *y)
{
    const nb_vec3 d =
        nb_panel_point(panel, f * panel->pixel_fast, s * panel->pixel_slow, 0);
    return nb_shadow_place(job->shadow, d, x, y);
}

typedef enum look { MIXED, CLEAR, DARK } look;

/** CLEAR if all factors of the shadows between these columns of a band are 1, DARK if all
 * are 0. A flat piece of a panel lies inside the circle around its corners. */
static look look_at(const shading *job, const band *b, int fast, int fast_end)
{
    double x[4], y[4], cx = 0, cy = 0, far2 = 0, reach;
    int near = 0;
    if (b->panel->curved)
        return MIXED;
    for (int i = 0; i < 4; i++) {
        if (!place_of(job, b->panel, i & 1 ? fast_end : fast,
                      i & 2 ? b->slow + b->rows : b->slow, &x[i], &y[i]))
            return MIXED;
        cx += 0.25 * x[i];
        cy += 0.25 * y[i];
    }
    for (int i = 0; i < 4; i++)
        far2 = fmax(far2, (x[i] - cx) * (x[i] - cx) + (y[i] - cy) * (y[i] - cy));
    reach = sqrt(far2) + 0.501 * b->edge;
    for (int i = 0; i < job->shadow->n; i++) {
        const nb_shadow_item *item = &job->shadow->items[i];
        const double over = nb_shadow_over(item, cx, cy);
        near |= over <= reach;
        if (item->transmission == 0 && over < -reach)
            return DARK;
    }
    return near ? MIXED : CLEAR;
}

/** Number that nb_mix_factor converts to this factor. */
static float written(double factor)
{
    const float value = (float)factor;
    return value > 0 ? value : -1;
}

/** Shade a row of a band between these columns, which are dark or mixed. */
static void shade_row(const shading *job, const band *b, int slow, int fast, int fast_end,
                      look all)
{
    const nb_panel *panel = b->panel;
    float *out = job->out->transmission + nb_panel_pixel(panel, 0, slow);
    int32_t *acts = job->out->acts + 2 * (size_t)(panel->first_row + slow);
    for (int f = fast; f < fast_end; f++) {
        double x, y, factor = all == DARK ? 0 : 1;
        if (all == MIXED && place_of(job, panel, f + 0.5, slow + 0.5, &x, &y))
            factor = nb_shadow_factor(job->shadow, x, y, b->edge);
        if (factor == 1)
            continue;
        out[f] = written(factor);
        acts[0] = acts[0] < f ? acts[0] : f;
        acts[1] = f + 1;
    }
}

static void shade_band(const shading *job, int row, int rows)
{
    const nb_panel *panel = &job->scene->panels[nb_panel_of_row(job->scene, row)];
    band b = {panel, row - panel->first_row, rows,
              sqrt(panel->pixel_fast * panel->pixel_slow)};
    for (int i = 0; i < rows; i++) {
        job->out->acts[2 * (size_t)(row + i)] = panel->columns;
        job->out->acts[2 * (size_t)(row + i) + 1] = 0;
    }
    for (int f = 0; f < panel->columns; f += BLOCK) {
        const int end = f + BLOCK < panel->columns ? f + BLOCK : panel->columns;
        const look all = look_at(job, &b, f, end);
        for (int i = 0; all != CLEAR && i < rows; i++)
            shade_row(job, &b, b.slow + i, f, end, all);
    }
}

/** End of the band that begins at a row: after BLOCK rows, or at the end of the panel. */
static int band_end(const nb_scene *sc, int row)
{
    const nb_panel *panel = &sc->panels[nb_panel_of_row(sc, row)];
    const int end = (row - panel->first_row) / BLOCK * BLOCK + BLOCK;
    return panel->first_row + (end < panel->rows ? end : panel->rows);
}

static void shade(const shading *job, int threads)
{
    const nb_scene *sc = job->scene;
    const int use = nb_image_threads(threads, (int64_t)sc->raster.pixels);
#pragma omp parallel for schedule(dynamic, 1) num_threads(use)
    for (int first = 0; first < sc->raster.rows; first += BLOCK)
        for (int row = first, end; row < first + BLOCK && row < sc->raster.rows;
             row = end) {
            end = band_end(sc, row);
            end = end < first + BLOCK ? end : first + BLOCK;
            end = end < sc->raster.rows ? end : sc->raster.rows;
            shade_band(job, row, end - row);
        }
    (void)use;
}

/** Multiply all pixels by the factors of the file. */
static void take_file(const shading *job)
{
    const size_t n = job->scene->raster.pixels;
    float *t = job->out->transmission;
    for (size_t i = 0; i < n; i++)
        t[i] = written((double)nb_mix_factor(t[i]) * nb_mix_factor(job->file[i]));
    nb_free(job->out->acts);
    job->out->acts = NULL;
}

/** Number of rendered pixels. */
static int64_t rendered_in(const nb_scene *sc)
{
    const nb_mix all = {0};
    int64_t n = 0;
    if (!sc->raster.mask)
        return (int64_t)nb_rendered_pixels(sc);
    for (int row = 0; row < sc->raster.rows; row++) {
        const nb_mix_row r = nb_mix_row_of(&all, sc, row);
        for (int f = r.first; f < r.end; f++)
            n += sc->raster.mask[r.start + f] != 0;
    }
    return n;
}

/** Count n pixels of a row, except masked ones (mask may be NULL). A number below 0 is
 * the factor 0, and 0 is the factor 1. */
static void count_row(const float *written, const uint8_t *mask, int n, nb_shade *out)
{
    float largest = 0;
    int dark = 0, dim = 0;
#pragma omp simd reduction(max : largest) reduction(+ : dark, dim)
    for (int i = 0; i < n; i++) {
        const float factor = written[i] + (float)(written[i] == 0);
        const int seen = !mask || mask[i];
        largest = factor > largest ? factor : largest;
        dark += seen & (factor < 0);
        dim += seen & (factor < 0.5f);
    }
    out->max = fmax(out->max, largest);
    out->dark += dark;
    out->dim += dim;
}

static void count(const nb_mix *mix, const nb_scene *sc, nb_shade *out)
{
    const uint8_t *mask = sc->raster.mask;
    out->max = mix->acts ? 1 : 0;
    for (int row = 0; row < sc->raster.rows; row++) {
        const nb_mix_row r = nb_mix_row_of(mix, sc, row);
        const size_t at = (size_t)(r.start + r.first);
        if (r.end > r.first)
            count_row(mix->transmission + at, mask ? mask + at : NULL, r.end - r.first,
                      out);
    }
}

static nb_status make_lit(const nb_mix *mix, const nb_scene *sc, nb_shade *out,
                          nb_error *err)
{
    const size_t n = sc->raster.pixels;
    if (!(out->lit = nb_alloc_raw(n, 1, "mask of a shadow", err)))
        return NB_ERR_NOMEM;
    if (sc->raster.mask)
        memcpy(out->lit, sc->raster.mask, n);
    else
        memset(out->lit, 1, n);
    for (int row = 0; row < sc->raster.rows; row++) {
        const nb_mix_row r = nb_mix_row_of(mix, sc, row);
        for (int f = r.first; f < r.end; f++)
            if (nb_mix_factor(mix->transmission[r.start + f]) == 0)
                out->lit[r.start + f] = 0;
    }
    return NB_OK;
}

nb_status nb_shade_make(const nb_shadow *shadow, const float *file, const nb_scene *scene,
                        int threads, nb_shade *out, nb_error *err)
{
    const shading job = {shadow, file, scene, out};
    const size_t rows = (size_t)scene->raster.rows;
    nb_mix mix = {0};
    int64_t rendered;
    memset(out, 0, sizeof *out);
    if (shadow->n) {
        out->acts = nb_alloc_raw(2 * rows, sizeof *out->acts, "shadow", err);
        /* not nb_alloc, which writes all pages: with calloc, pages without shadow take no
         * memory */
        out->transmission = calloc(scene->raster.pixels, sizeof *out->transmission);
        if (!out->acts || !out->transmission)
            return nb_fail_memory(err, scene->raster.pixels * sizeof *out->transmission,
                                  "shadow");
        shade(&job, threads);
        if (file)
            take_file(&job);
    }
    mix.transmission = out->transmission ? out->transmission : file;
    mix.acts = out->acts;
    count(&mix, scene, out);
    rendered = out->dark ? rendered_in(scene) : 0;
    out->all_dark = out->dark && out->dark == rendered;
    return out->dark && out->dark * FEW_DARK >= rendered ? make_lit(&mix, scene, out, err)
                                                         : NB_OK;
}

void nb_shade_free(nb_shade *shade)
{
    free(shade->transmission);
    nb_free(shade->acts);
    nb_free(shade->lit);
    memset(shade, 0, sizeof *shade);
}
