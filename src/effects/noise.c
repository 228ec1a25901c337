/* SPDX-License-Identifier: MIT */
#include "noise.h"

#include <string.h>

#include "../base/error.h"

#ifdef NB_HAVE_RANDOM123

#include "kernels.h"
#include "noise_block.h"
#include "threads.h"

/** Noise of `count` (<= 64) pixels from `first` on; returns how many were clipped. */
static int noisy_run(nb_noise_block_fn *block, const float *mean, int count,
                     const nb_poisson_key *first, double adc_offset, uint16_t *out)
{
    float padded[NB_NOISE_BLOCK] = {0};
    uint16_t adu[NB_NOISE_BLOCK];
    int clipped;
    if (count == NB_NOISE_BLOCK)
        return block(mean, first, adc_offset, out);
    memcpy(padded, mean, (size_t)count * sizeof *mean);
    clipped = block(padded, first, adc_offset, adu);
    memcpy(out, adu, (size_t)count * sizeof *out);
    /* the padding's zeros are only clipped when the offset alone is above the limit */
    return clipped < count ? clipped : count;
}

nb_status nb_noise_check(nb_error *err)
{
    (void)err;
    return NB_OK;
}

int64_t nb_noise_rows(const float *image, const nb_scene *scene,
                      const nb_noise_options *options, int first, int rows, uint16_t *out)
{
    const nb_detector *det = &scene->det;
    nb_noise_block_fn *block = nb_effect_kernels_widest()->noise;
    size_t stride = (size_t)det->fpixels;
    int64_t clipped = 0;
    for (int s = first; s < first + rows; s++, out += stride) {
        int whole = det->roi_fmin == 0 && det->roi_fmax == det->fpixels - 1;
        int inside = s >= det->roi_smin && s <= det->roi_smax;
        if (!inside || !whole)
            memset(out, 0, stride * sizeof *out);
        for (int f = det->roi_fmin; inside && f <= det->roi_fmax; f += NB_NOISE_BLOCK) {
            size_t pixel = (size_t)s * stride + (size_t)f;
            int left = det->roi_fmax - f + 1;
            nb_poisson_key key = {(uint64_t)options->seed, pixel, options->frame};
            clipped += noisy_run(block, image + pixel,
                                 left < NB_NOISE_BLOCK ? left : NB_NOISE_BLOCK, &key,
                                 options->adc_offset, out + f);
        }
    }
    return clipped;
}

nb_status nb_noise(const float *image, const nb_scene *scene,
                   const nb_noise_options *options, uint16_t *out, int64_t *overloads,
                   nb_error *err)
{
    const nb_detector *det = &scene->det;
    int64_t clipped = 0;
    int threads =
        nb_effect_threads(options->threads, (int64_t)det->fpixels * det->spixels);
    (void)err;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) reduction(+ : clipped)
#endif
    for (int s = 0; s < det->spixels; s++)
        clipped += nb_noise_rows(image, scene, options, s, 1,
                                 out + (size_t)s * (size_t)det->fpixels);
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
    memset(out, 0, (size_t)rows * (size_t)scene->det.fpixels * sizeof *out);
    return 0;
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
