/* SPDX-License-Identifier: MIT */
#include "mix.h"

#include "../base/threads.h"

/** All pixels of the region. */
static nb_mix whole(const nb_mix *mix)
{
    nb_mix all = *mix;
    all.acts = NULL;
    return all;
}

static void absorb_row(const nb_mix *mix, const nb_scene *scene, int row,
                       const float *rest, float *image)
{
    const nb_mix_row r = nb_mix_row_of(mix, scene, row);
    const uint8_t *mask = scene->raster.mask;
    for (int f = r.first; f < r.end; f++) {
        const size_t pixel = (size_t)r.start + (size_t)f;
        if (!mask || mask[pixel])
            image[pixel] =
                (float)nb_mix_absorbed(mix, pixel, image[pixel], rest ? rest[pixel] : 0);
    }
}

void nb_mix_absorb(const nb_mix *mix, const nb_scene *scene, int threads,
                   const float *rest, float *image)
{
    const nb_mix all = whole(mix);
    const int rows = scene->raster.rows,
              use = nb_image_threads(threads, (int64_t)scene->raster.pixels);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
#endif
    for (int row = 0; row < rows; row++)
        absorb_row(&all, scene, row, rest, image);
    (void)use;
}

/** A sum of two floats, rounded as a double and then as a float, is that of floats. */
static void add_light(const float *light, int first, int end, float *image)
{
#ifdef _OPENMP
#pragma omp simd
#endif
    for (int f = first; f < end; f++)
        image[f] += light[f];
}

static void apply_row(const nb_mix *mix, const nb_scene *scene, int row, float *image)
{
    const nb_mix_row r = nb_mix_row_of(mix, scene, row);
    const uint8_t *mask = scene->raster.mask;
    if (mix->light && !mix->absorb && !mix->transmission && !mix->add && !mask) {
        add_light(mix->light + r.start, r.first, r.end, image + r.start);
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
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
#endif
    for (int row = 0; row < rows; row++)
        apply_row(mix, scene, row, image);
    (void)use;
}
