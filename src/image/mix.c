/* SPDX-License-Identifier: MIT */
#include "mix.h"

#include <string.h>

#include "../base/memory.h"
#include "../base/threads.h"

/** Copy of the mix whose factors and additions act on all pixels of the region (no
 * `acts`). */
static nb_mix whole(const nb_mix *mix)
{
    nb_mix all = *mix;
    all.acts = NULL;
    return all;
}

static void absorb_row(const nb_mix *mix, const nb_scene *scene, int row, float *image)
{
    const nb_mix_row r = nb_mix_row_of(mix, scene, row);
    const uint8_t *mask = scene->raster.mask;
    for (int f = r.first; f < r.end; f++) {
        const size_t pixel = (size_t)r.start + (size_t)f;
        if (!mask || mask[pixel])
            image[pixel] = (float)nb_mix_absorbed(mix, pixel, image[pixel]);
    }
}

void nb_mix_absorb(const nb_mix *mix, const nb_scene *scene, int threads, float *image)
{
    const nb_mix all = whole(mix);
    const int rows = scene->raster.rows,
              use = nb_image_threads(threads, (int64_t)scene->raster.pixels);
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
    for (int row = 0; row < rows; row++)
        absorb_row(&all, scene, row, image);
    (void)use;
}

/* A sum or product of two floats has the same bits if it is rounded to double first. So a
 * mix that has only one addition or factor uses float vectors: they take 0.4-0.8 ms per
 * megapixel, doubles 1.8-2 ms. */

static void add_light(const float *light, int n, float *image)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        image[i] += light[i];
}

/** Multiply by nb_mix_factor(t) without a branch: t = 0 is replaced by 1, and t < 0
 * clears all bits of the product. */
static void take_factors(const float *factors, int n, float *image)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const float t = factors[i], photons = (t + (float)(t == 0)) * image[i];
        uint32_t bits;
        memcpy(&bits, &photons, sizeof bits);
        bits &= (uint32_t) - (t >= 0);
        memcpy(&image[i], &bits, sizeof bits);
    }
}

static void add_behind(const float *add, double scale, int n, float *image)
{
    if (scale == 1) {
        add_light(add, n, image);
        return;
    }
#pragma omp simd
    for (int i = 0; i < n; i++)
        image[i] += (float)(scale * add[i]);
}

/** Add the background to pixels first to end - 1 of a row; to: pixel 0 of the row. */
static void add_background(const nb_mix *mix, const nb_scene *scene, int row,
                           const nb_mix_row *r, float *to)
{
    const int panel = nb_panel_of_row(scene, row);
    if (r->end > r->first)
        nb_background_add(mix->background, scene, panel, r->first,
                          row - scene->panels[panel].first_row, r->end - r->first,
                          to + r->first);
}

/** under: memory for a row of the background, if the mix has a background. */
static void apply_row(const nb_mix *mix, const nb_scene *scene, int row, float *under,
                      float *image)
{
    const nb_mix_row r = nb_mix_row_of(mix, scene, row);
    const uint8_t *mask = scene->raster.mask;
    const size_t at = (size_t)(r.start + r.first);
    const float *light = mix->absorb ? NULL : mix->light;
    const int n = r.end - r.first, pass = mask == NULL && !(light && mix->background);
    if (pass && mix->background && !mix->transmission && !mix->add) {
        add_background(mix, scene, row, &r, image + r.start);
        return;
    }
    if (pass && !mix->background && !light && !mix->add) {
        if (mix->transmission)
            take_factors(mix->transmission + at, n, image + at);
        return;
    }
    if (pass && !mix->background && !mix->transmission && (!light || !mix->add)) {
        if (light)
            add_light(light + at, n, image + at);
        else
            add_behind(mix->add + at, mix->add_scale, n, image + at);
        return;
    }
    if (under) {
        memset(under, 0, (size_t)r.end * sizeof *under);
        add_background(mix, scene, row, &r, under);
    }
    for (int f = r.first; f < r.end; f++) {
        const size_t pixel = (size_t)r.start + (size_t)f;
        if (!mask || mask[pixel])
            image[pixel] = (float)nb_mix_pixel(
                mix, pixel, under ? image[pixel] + under[f] : image[pixel]);
    }
}

nb_status nb_mix_apply(const nb_mix *mix, const nb_scene *scene, int threads,
                       float *image, nb_error *err)
{
    const int rows = scene->raster.rows,
              use = nb_image_threads(threads, (int64_t)scene->raster.pixels);
    const size_t columns = (size_t)scene->raster.columns;
    float *under = NULL;
    if (mix->background &&
        !(under = nb_alloc((size_t)use * columns, sizeof *under, "background", err)))
        return NB_ERR_NOMEM;
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
    for (int row = 0; row < rows; row++)
        apply_row(mix, scene, row,
                  under ? under + (size_t)nb_thread_number() * columns : NULL, image);
    nb_free(under);
    return NB_OK;
}
