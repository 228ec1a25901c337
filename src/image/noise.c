/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <string.h>

#include "noise_block.h"

double nb_noise_photons(const nb_photons *photons, const nb_stage *stage, size_t pixel)
{
    const nb_poisson_key key = {(uint64_t)stage->seed, pixel, stage->frame};
    return nb_poisson(photons->pixels[pixel], &key);
}

/** A piece of an image, from one pixel to the right. */
typedef struct noise_run {
    const nb_product *product;
    size_t first;
    int count; /* <= NB_NOISE_BLOCK */
} noise_run;

/** Noise of a run; returns how many pixels were clipped. */
static int noisy_run(const noise_run *run, uint16_t *out)
{
    const nb_product *p = run->product;
    const nb_poisson_key key = {(uint64_t)p->stage.seed, run->first, p->stage.frame};
    const float *mean = p->photons->pixels + run->first;
    float padded[NB_NOISE_BLOCK] = {0};
    uint16_t adu[NB_NOISE_BLOCK];
    int clipped;
    if (run->count == NB_NOISE_BLOCK)
        return p->photons->kernels->noise(mean, &key, p->adc_offset, out);
    memcpy(padded, mean, (size_t)run->count * sizeof *mean);
    clipped = p->photons->kernels->noise(padded, &key, p->adc_offset, adu);
    memcpy(out, adu, (size_t)run->count * sizeof *out);
    /* the padding's zeros are only clipped when the offset alone is above the limit */
    return clipped < run->count ? clipped : run->count;
}

int64_t nb_noise_rows(const nb_product *product, int first, int rows, uint16_t *out)
{
    const nb_raster *raster = &product->photons->scene->raster;
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
            const noise_run run = {product, (size_t)s * stride + (size_t)f,
                                   left < NB_NOISE_BLOCK ? left : NB_NOISE_BLOCK};
            clipped += noisy_run(&run, out + f);
        }
    }
    return clipped;
}
