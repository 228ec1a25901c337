/* SPDX-License-Identifier: MIT */
/** The table of kernels of one instruction set; NB_KERNELS is its name. */
#ifndef NB_IMAGE_KERNELS_OF_H
#define NB_IMAGE_KERNELS_OF_H

#include "background_row.h"
#include "kernels.h"
#include "noise_block.h"
#include "row_pass.h"

#ifndef NB_KERNELS
#define NB_KERNELS base
#endif
#define NB_JOIN_(a, b) a##b
#define NB_JOIN(a, b) NB_JOIN_(a, b)

static void sums(const float *row, const uint8_t *mask, int n, nb_row_sums *out)
{
    if (mask)
        nb_row_sums_of(row, mask, n, out);
    else
        nb_row_sums_of(row, NULL, n, out);
}

static int u16(const float *row, const uint8_t *mask, int n, double scale,
               double adc_offset, uint16_t *out)
{
    return mask ? nb_row_u16(row, mask, n, scale, adc_offset, out)
                : nb_row_u16(row, NULL, n, scale, adc_offset, out);
}

const nb_image_kernels NB_JOIN(nb_image_kernels_, NB_KERNELS) = {sums,
                                                                 u16,
                                                                 nb_row_u8,
                                                                 nb_row_taps,
                                                                 nb_row_spread,
                                                                 nb_row_background,
                                                                 nb_counts_block,
                                                                 nb_normal_block,
                                                                 nb_noise_block};

#endif
