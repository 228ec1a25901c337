/* SPDX-License-Identifier: MIT */
#include "mix.h"

#include "../base/threads.h"

static void apply_row(const nb_mix *mix, const nb_scene *scene, int row, float *image)
{
    const nb_mix_row r = nb_mix_row_of(mix, scene, row);
    const uint8_t *mask = scene->raster.mask;
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
