/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <string.h>

#include "noise_block.h"

double nb_noise_photons(const nb_photons *photons, const nb_stage *stage, size_t pixel)
{
    const nb_poisson_key key = {(uint64_t)stage->seed, pixel, stage->frame};
    return nb_poisson(photons->pixels[pixel], &key);
}

int64_t nb_noise_row(const nb_product *p, size_t pixel, int n, uint16_t *out)
{
    const nb_image_kernels *kernels = p->photons->kernels;
    int64_t clipped = 0;
    for (int f = 0; f < n; f += NB_NOISE_BLOCK) {
        const nb_poisson_key key = {(uint64_t)p->stage.seed, pixel + (size_t)f,
                                    p->stage.frame};
        const float *mean = p->photons->pixels + key.pixel;
        const int left = n - f;
        float padded[NB_NOISE_BLOCK] = {0};
        uint16_t adu[NB_NOISE_BLOCK];
        int cut;
        if (left >= NB_NOISE_BLOCK) {
            clipped += kernels->noise(mean, &key, p->adc_offset, out + f);
            continue;
        }
        memcpy(padded, mean, (size_t)left * sizeof *mean);
        cut = kernels->noise(padded, &key, p->adc_offset, adu);
        memcpy(out + f, adu, (size_t)left * sizeof *out);
        /* the zeros of the padding count as clipped only if the offset alone is above the
         * limit */
        clipped += cut < left ? cut : left;
    }
    return clipped;
}
