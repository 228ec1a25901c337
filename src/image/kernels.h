/* SPDX-License-Identifier: MIT */
/** The passes over pixels that are compiled once for each instruction set.  All sets give the
 * same bits; tests/unit/image_truth.c has the definitions, pixel by pixel. */
#ifndef NB_IMAGE_KERNELS_H
#define NB_IMAGE_KERNELS_H

#include <stdint.h>

#include "../base/row_sums.h"
#include "../nanobragg.h"

struct nb_poisson_key;

enum { NB_SPREAD_CHUNK = 128 /* floats behind a block that are read, at most */ };

enum { NB_SPREAD_ROWS = 2 /* of the image that are made at once */ };

/** Taps of one row of light for neighbouring rows of the image: only those from `first` to `last` have some that are
 * not 0, at the displacements `from` to `end` - 1. */
typedef struct nb_spread_run {
    short from, end, first, last;
} nb_spread_run;

/** Light that is spread over neighbours. */
typedef struct nb_spread_block {
    const float *const *
        from; /* rows of light from `slow` above the first one on; each begins at the block's first
                                 pixel, and `fast` numbers before it and fast + NB_SPREAD_CHUNK behind its end may be
                                 read; NULL: a row of 0 */
    const float *k; /* [2 slow + 1][2 fast + 1], even; NB_SPREAD_ROWS - 1 rows of 0 before and behind */
    const nb_spread_run *
        runs; /* of all rows of light, in their order, and of each from the left; how they are cut does
                                  not change a bit */
    const int *first_run; /* [2 slow + NB_SPREAD_ROWS + 1] */
    int fresh;            /* `to` is written, not added to */
    float *to;
    size_t to_stride;
    int fast, slow, columns, rows;
} nb_spread_block;

typedef struct nb_image_kernels {
    /** max_at is -1.  mask NULL: all lit. */
    void (*sums)(const float *row, const uint8_t *mask, int n, nb_row_sums *out);
    /** nb_int_adu; masked pixels are 0 photons.  0: no value is above 65535. */
    int (*u16)(const float *row, const uint8_t *mask, int n, double scale,
               double adc_offset, uint16_t *out);
    /** nb_pgm_grey. */
    void (*u8)(const float *row, int n, double scale, uint8_t *out);
    /** out[i] = k[0] rows[0][i] + k[1] rows[1][i] + ..., added in this order; i < n. */
    void (*taps)(const double *const *rows, const double *k, int taps, int n, double *out);
    /** to[y][x] += k[e][d] from[y + e][x + d], added row by row and from the left. */
    void (*spread)(const nb_spread_block *block);
    /** image[i] = nb_mix_absorbed of it and of rest[i], without light; i < n. */
    void (*absorb)(const float *absorb, const float *rest, int n, float *image);
    /** photons[i] = nb_poisson of mean[i], of the NB_NOISE_BLOCK pixels from first on. */
    void (*counts)(const double *mean, const struct nb_poisson_key *first,
                   double *photons);
    /** deviate[i] = nb_normal of these pixels. */
    void (*normals)(const struct nb_poisson_key *first, uint32_t stream, double *deviate);
    /** adu[i] = nb_noise_adu of the counts of these pixels; returns how many were clipped. */
    int (*noise)(const float *mean, const struct nb_poisson_key *first, double adc_offset,
                 uint16_t *adu);
} nb_image_kernels;

extern const nb_image_kernels nb_image_kernels_base; /* SSE2, NEON: what every CPU has */
#ifdef __x86_64__
extern const nb_image_kernels nb_image_kernels_avx2, nb_image_kernels_avx512;
#endif

/** Those of an instruction set that this processor runs (nb_cpu_choose). */
const nb_image_kernels *nb_image_kernels_of(nb_isa isa);

#endif
