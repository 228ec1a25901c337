/* SPDX-License-Identifier: MIT */
/** The table of kernels of one instruction set; NB_KERNELS is its name. */
#ifndef NB_IMAGE_KERNELS_OF_H
#define NB_IMAGE_KERNELS_OF_H

#include "kernels.h"
#include "noise_block.h"
#include "normal_block.h"
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

static void u8(const float *row, int n, double scale, uint8_t *out)
{
    nb_row_u8(row, n, scale, out);
}

static void taps(const double *const *rows, const double *k, int n_taps, int n,
                 double *out)
{
    nb_row_taps(rows, k, n_taps, n, out);
}

static void spread(const nb_spread_block *block)
{
    nb_row_spread(block);
}

static void absorb(const float *factor, const float *rest, int n, float *image)
{
    nb_row_absorb(factor, rest, n, image);
}

int NB_JOIN(nb_noise_block_, NB_KERNELS)(const float *mean, const nb_poisson_key *first,
                                         double adc_offset, uint16_t *adu)
{
    return nb_noise_block(mean, first, adc_offset, adu);
}

static void counts(const double *mean, const nb_poisson_key *first, double *photons)
{
    nb_counts_block(mean, first, photons);
}

static void normals(const nb_poisson_key *first, uint32_t stream, double *deviate)
{
    nb_normal_block(first, stream, deviate);
}

const nb_image_kernels NB_JOIN(nb_image_kernels_, NB_KERNELS) = {
    sums,   u16,     u8,
    taps,   spread,  absorb,
    counts, normals, NB_JOIN(nb_noise_block_, NB_KERNELS)};

#endif
