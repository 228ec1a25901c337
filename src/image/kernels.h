/* SPDX-License-Identifier: MIT */
/** The passes over pixels that are compiled once for each instruction set.  All sets give the
 * same bits. */
#ifndef NB_IMAGE_KERNELS_H
#define NB_IMAGE_KERNELS_H

#include <stdint.h>

#include "../base/row_sums.h"
#include "../nanobragg.h"

struct nb_poisson_key;

typedef struct nb_image_kernels {
    /** max_at is -1.  mask NULL: all lit. */
    void (*sums)(const float *row, const uint8_t *mask, int n, nb_row_sums *out);
    /** nb_int_adu; masked pixels are 0 photons. */
    void (*u16)(const float *row, const uint8_t *mask, int n, double scale,
                double adc_offset, uint16_t *out);
    /** nb_pgm_grey. */
    void (*u8)(const float *row, int n, double scale, uint8_t *out);
    /** nb_noise_block_fn of noise_block.h; NULL without Random123. */
    int (*noise)(const float *mean, const struct nb_poisson_key *first, double adc_offset,
                 double error, uint16_t *adu, uint64_t *doubts);
} nb_image_kernels;

extern const nb_image_kernels nb_image_kernels_scalar; /* the definitions, pixel by pixel */
extern const nb_image_kernels nb_image_kernels_base; /* SSE2, NEON: what every CPU has */
#ifdef __x86_64__
extern const nb_image_kernels nb_image_kernels_avx2, nb_image_kernels_avx512;
#endif

/** Those of an instruction set that this processor runs (nb_cpu_choose). */
const nb_image_kernels *nb_image_kernels_of(nb_isa isa);

#endif
