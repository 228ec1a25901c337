/* SPDX-License-Identifier: MIT */
#include "noise.h"

#include <string.h>

#include "../base/error.h"

#ifdef NB_HAVE_RANDOM123

#include "../physics/pixel.h"
#include "kernels.h"
#include "noise_block.h"
#include "threads.h"

/** What the pixel's deviate is drawn from: its float, or if that leaves the deviate in doubt its
 * value in double. */
static float settled_mean(const nb_scene *scene, const nb_noise_options *options,
                          size_t pixel, float mean)
{
    const nb_poisson_key key = {(uint64_t)options->seed, pixel, options->frame};
    const size_t columns = (size_t)scene->raster.columns;
    const uint8_t *mask = scene->raster.mask;
    int doubt;
    float exact;
    nb_poisson_doubt(mean, &key, options->error, &doubt);
    if (!doubt || (mask && !mask[pixel]))
        return mean;
    exact = (float)nb_pixel_intensity(scene, scene->panels, scene->sensors,
                                      (int)(pixel % columns), (int)(pixel / columns));
    return nb_noise_same(mean, exact) ? exact : mean;
}

double nb_noise_photons(const float *image, const nb_scene *scene,
                        const nb_noise_options *options, size_t pixel)
{
    const nb_poisson_key key = {(uint64_t)options->seed, pixel, options->frame};
    float mean = image[pixel];
    if (options->error > 0)
        mean = settled_mean(scene, options, pixel, mean);
    return nb_poisson(mean, &key);
}

/** A piece of an image, from one pixel to the right. */
typedef struct noise_run {
    const float *image; /* whole */
    const nb_scene *scene;
    const nb_noise_options *options;
    size_t first;
    int count; /* <= NB_NOISE_BLOCK */
} noise_run;

/** Settle the pixels of the run whose bits are set; returns how many more are clipped than
 * before. */
static int settle(const noise_run *run, uint64_t doubts, uint16_t *out)
{
    const nb_noise_options *o = run->options;
    int more = 0;
    for (; doubts; doubts &= doubts - 1) {
        int i = __builtin_ctzll(doubts), before, after;
        size_t pixel = run->first + (size_t)i;
        const nb_poisson_key key = {(uint64_t)o->seed, pixel, o->frame};
        float mean = run->image[pixel], settled;
        if (i >= run->count)
            break;
        settled = settled_mean(run->scene, o, pixel, mean);
        if (settled == mean)
            continue;
        nb_noise_adu(nb_poisson(mean, &key), o->adc_offset, &before);
        out[i] = nb_noise_adu(nb_poisson(settled, &key), o->adc_offset, &after);
        more += after - before;
    }
    return more;
}

/** Noise of a run; returns how many pixels were clipped. */
static int noisy_run(nb_noise_block_fn *block, const noise_run *run, uint16_t *out)
{
    const nb_noise_options *o = run->options;
    const nb_poisson_key key = {(uint64_t)o->seed, run->first, o->frame};
    const float *mean = run->image + run->first;
    float padded[NB_NOISE_BLOCK] = {0};
    uint16_t adu[NB_NOISE_BLOCK];
    uint64_t doubts;
    int clipped;
    if (run->count == NB_NOISE_BLOCK) {
        clipped = block(mean, &key, o->adc_offset, o->error, out, &doubts);
    } else {
        memcpy(padded, mean, (size_t)run->count * sizeof *mean);
        clipped = block(padded, &key, o->adc_offset, o->error, adu, &doubts);
        memcpy(out, adu, (size_t)run->count * sizeof *out);
        /* the padding's zeros are only clipped when the offset alone is above the limit */
        clipped = clipped < run->count ? clipped : run->count;
    }
    return doubts && o->error > 0 ? clipped + settle(run, doubts, out) : clipped;
}

nb_status nb_noise_check(nb_error *err)
{
    (void)err;
    return NB_OK;
}

int64_t nb_noise_rows(const float *image, const nb_scene *scene,
                      const nb_noise_options *options, int first, int rows, uint16_t *out)
{
    const nb_raster *raster = &scene->raster;
    nb_noise_block_fn *block = nb_image_kernels_widest()->noise;
    size_t stride = (size_t)raster->columns;
    int64_t clipped = 0;
    for (int s = first; s < first + rows; s++, out += stride) {
        int whole = raster->roi.fmin == 0 && raster->roi.fmax == raster->columns - 1;
        int inside = s >= raster->roi.smin && s <= raster->roi.smax;
        if (!inside || !whole)
            memset(out, 0, stride * sizeof *out);
        for (int f = raster->roi.fmin; inside && f <= raster->roi.fmax;
             f += NB_NOISE_BLOCK) {
            int left = raster->roi.fmax - f + 1;
            const noise_run run = {image, scene, options, (size_t)s * stride + (size_t)f,
                                   left < NB_NOISE_BLOCK ? left : NB_NOISE_BLOCK};
            clipped += noisy_run(block, &run, out + f);
        }
    }
    return clipped;
}

nb_status nb_noise(const float *image, const nb_scene *scene,
                   const nb_noise_options *options, uint16_t *out, int64_t *overloads,
                   nb_error *err)
{
    const nb_raster *raster = &scene->raster;
    int64_t clipped = 0;
    int threads =
        nb_image_threads(options->threads, (int64_t)raster->columns * raster->rows);
    (void)err;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) reduction(+ : clipped)
#endif
    for (int s = 0; s < raster->rows; s++)
        clipped += nb_noise_rows(image, scene, options, s, 1,
                                 out + (size_t)s * (size_t)raster->columns);
    (void)threads;
    if (overloads)
        *overloads = clipped;
    return NB_OK;
}

#else

nb_status nb_noise_check(nb_error *err)
{
    return nb_fail(err, NB_ERR_UNSUPPORTED,
                   "a noise image needs Random123, which this build lacks (-nonoise)");
}

int64_t nb_noise_rows(const float *image, const nb_scene *scene,
                      const nb_noise_options *options, int first, int rows, uint16_t *out)
{
    (void)image;
    (void)options;
    (void)first;
    memset(out, 0, (size_t)rows * (size_t)scene->raster.columns * sizeof *out);
    return 0;
}

double nb_noise_photons(const float *image, const nb_scene *scene,
                        const nb_noise_options *options, size_t pixel)
{
    (void)scene;
    (void)options;
    return image[pixel];
}

nb_status nb_noise(const float *image, const nb_scene *scene,
                   const nb_noise_options *options, uint16_t *out, int64_t *overloads,
                   nb_error *err)
{
    (void)image;
    (void)scene;
    (void)options;
    (void)out;
    if (overloads)
        *overloads = 0;
    return nb_noise_check(err);
}

#endif
