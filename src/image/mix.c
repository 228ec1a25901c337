/* SPDX-License-Identifier: MIT */
#include "mix.h"

#include <string.h>

#include "../base/threads.h"

/** Copy of the mix that acts on all pixels of the region. */
static nb_mix whole(const nb_mix *mix)
{
    nb_mix all = *mix;
    all.acts = NULL;
    return all;
}

static void absorb_row(const nb_mix *mix, const nb_scene *scene,
                       const nb_image_kernels *kernels, int row, const float *rest,
                       float *image)
{
    const nb_mix_row r = nb_mix_row_of(mix, scene, row);
    const uint8_t *mask = scene->raster.mask;
    if (!mask && !mix->light && rest) {
        const size_t at = (size_t)(r.start + r.first);
        kernels->absorb(mix->absorb + at, rest + at, r.end - r.first, image + at);
        return;
    }
    for (int f = r.first; f < r.end; f++) {
        const size_t pixel = (size_t)r.start + (size_t)f;
        if (!mask || mask[pixel])
            image[pixel] =
                (float)nb_mix_absorbed(mix, pixel, image[pixel], rest ? rest[pixel] : 0);
    }
}

void nb_mix_absorb(const nb_mix *mix, const nb_scene *scene,
                   const nb_image_kernels *kernels, int threads, const float *rest,
                   float *image)
{
    const nb_mix all = whole(mix);
    const int rows = scene->raster.rows,
              use = nb_image_threads(threads, (int64_t)scene->raster.pixels);
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
    for (int row = 0; row < rows; row++)
        absorb_row(&all, scene, kernels, row, rest, image);
    (void)use;
}

/* A sum or product of two floats has the same bits if it is rounded to double first. So a
 * mix of one addition or factor uses float vectors: 0.4-0.8 ms a megapixel, not 1.8-2. */

static void add_light(const float *light, int n, float *image)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        image[i] += light[i];
}

/** Multiply by nb_mix_factor(t), no branch: t = 0 acts as 1, t < 0 clears all bits. */
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

static void apply_row(const nb_mix *mix, const nb_scene *scene, int row, float *image)
{
    const nb_mix_row r = nb_mix_row_of(mix, scene, row);
    const uint8_t *mask = scene->raster.mask;
    const size_t at = (size_t)(r.start + r.first);
    const float *light = mix->absorb ? NULL : mix->light;
    const int n = r.end - r.first;
    if (!mask && !light && !mix->add) {
        if (mix->transmission)
            take_factors(mix->transmission + at, n, image + at);
        return;
    }
    if (!mask && !mix->transmission && (!light || !mix->add)) {
        if (light)
            add_light(light + at, n, image + at);
        else
            add_behind(mix->add + at, mix->add_scale, n, image + at);
        return;
    }
    for (int f = r.first; f < r.end; f++) {
        const size_t pixel = (size_t)r.start + (size_t)f;
        if (!mask || mask[pixel])
            image[pixel] = (float)nb_mix_pixel(mix, pixel, image[pixel]);
    }
}

void nb_mix_apply(const nb_mix *mix, const nb_scene *scene, int threads, float *image)
{
    const int rows = scene->raster.rows,
              use = nb_image_threads(threads, (int64_t)scene->raster.pixels);
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
    for (int row = 0; row < rows; row++)
        apply_row(mix, scene, row, image);
    (void)use;
}
