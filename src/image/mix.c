/* SPDX-License-Identifier: MIT */
#include "mix.h"

#include "../base/threads.h"

enum { PIECE = 256 /* pixels whose factors are looked at together */ };

/** All pixels of the region. */
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
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
#endif
    for (int row = 0; row < rows; row++)
        absorb_row(&all, scene, kernels, row, rest, image);
    (void)use;
}

/* The sum and the product of two floats, rounded as a double and then as a float, are those of floats: nb_mix_pixel of
 * pixels that have one of the three, by vectors.  A megapixel takes 0.4 to 0.8 ms of a core, and one by one 1.8 to 2. */

static void add_light(const float *light, int n, float *image)
{
#ifdef _OPENMP
#pragma omp simd
#endif
    for (int i = 0; i < n; i++)
        image[i] += light[i];
}

/** A piece without a factor 0, and of factors that all are written, is a product of vectors. */
static void take_factors(const float *factors, int n, float *image)
{
    int lit = 0;
#ifdef _OPENMP
#pragma omp simd reduction(+ : lit)
#endif
    for (int i = 0; i < n; i++)
        lit += factors[i] > 0;
    if (lit == n) {
#ifdef _OPENMP
#pragma omp simd
#endif
        for (int i = 0; i < n; i++)
            image[i] *= factors[i];
        return;
    }
    for (int i = 0; i < n; i++) {
        const float factor = nb_mix_factor(factors[i]);
        image[i] = factor > 0 ? factor * image[i] : 0;
    }
}

static void add_behind(const float *add, double scale, int n, float *image)
{
    if (scale == 1) {
        add_light(add, n, image);
        return;
    }
#ifdef _OPENMP
#pragma omp simd
#endif
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
        for (int i = 0; mix->transmission && i < n; i += PIECE)
            take_factors(mix->transmission + at + i, n - i < PIECE ? n - i : PIECE,
                         image + at + i);
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
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
#endif
    for (int row = 0; row < rows; row++)
        apply_row(mix, scene, row, image);
    (void)use;
}
