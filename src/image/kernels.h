/* SPDX-License-Identifier: MIT */
/** Passes over pixels, compiled once for each instruction set. All sets give the same
 * bits; tests/unit/image_truth.c has the definitions, pixel by pixel. */
#ifndef NB_IMAGE_KERNELS_H
#define NB_IMAGE_KERNELS_H

#include <stdint.h>

#include "../base/row_sums.h"
#include "../nanobragg.h"

struct nb_poisson_key;

enum { NB_SPREAD_CHUNK = 128 /* limit of the floats that are read after a block */ };

enum { NB_SPREAD_ROWS = 2 /* rows of the image that are made at once */ };

/** A run of taps that bring light of one row to neighbouring rows of the image: rows
 * `first` to `last` have taps other than 0 at displacements `from` to `end` - 1. */
typedef struct nb_spread_run {
    short from, end, first, last;
} nb_spread_run;

/** Light that is spread over neighbours. */
typedef struct nb_spread_block {
    /** Pointers to the first pixel of the block in rows of light, from `slow` rows above
     * on; NULL: a row of 0. `fast` floats before and fast + NB_SPREAD_CHUNK after the
     * pixel can be read. */
    const float *const *from;
    /** Even taps [2 slow + 1][2 fast + 1], with NB_SPREAD_ROWS - 1 rows of 0 around. */
    const float *k;
    /** Runs of all rows of light, in order from the left. Runs that are cut in two give
     * the same bits. */
    const nb_spread_run *runs;
    const int *first_run; /* [2 slow + NB_SPREAD_ROWS + 1] */
    int fresh;            /* 1: store the light in `to`; 0: add the light to `to` */
    float *to;
    size_t to_stride;
    int fast, slow, columns, rows;
} nb_spread_block;

/* A row of a tile of the background (background.h) is cut into segments. */

enum {
    NB_BACKGROUND_ORDER = 8,    /* number of coefficients along fast and along slow */
    NB_BACKGROUND_SEGMENT = 16, /* pixels */
    NB_BACKGROUND_EDGE = 256,   /* largest edge of a tile, pixels */
    NB_BACKGROUND_PARTS = 128   /* limit of layers x curves */
};

typedef enum nb_background_law {
    NB_BACKGROUND_WEIGHT,
    NB_BACKGROUND_SQUARE,   /* square of the mean sine of a pixel's rays */
    NB_BACKGROUND_VARIANCE, /* variance of the sine; in nb_background_line in cells^2 */
    NB_BACKGROUND_LAWS
} nb_background_law;

/** A part: one layer and curve. Polynomials of w, the distance from the middle of the
 * tile in half segments. */
typedef struct nb_background_line {
    double c[NB_BACKGROUND_LAWS][NB_BACKGROUND_ORDER];
    /* [cells]: c0 + t (c1 + t (c2 + t c3)), t = 0..1; NULL: the constant 1 */
    const float (*cell)[4];
    /* number of cell[0], which begins at sine first / per, and number of cells */
    int first, cells;
    double per;
} nb_background_line;

typedef struct nb_background_strip {
    int parts;
    double middle; /* w in the middle of segment 0 */
    /* positions of the pixels in a segment, -1 to 1 */
    float place[NB_BACKGROUND_SEGMENT];
    nb_background_line line[NB_BACKGROUND_PARTS];
} nb_background_strip;

typedef struct nb_image_kernels {
    /** Sums of a row; max_at is -1. mask NULL: all pixels count. */
    void (*sums)(const float *row, const uint8_t *mask, int n, nb_row_sums *out);
    /** nb_int_adu, 0 photons for masked pixels. Returns 0 if no value is above 65535. */
    int (*u16)(const float *row, const uint8_t *mask, int n, double scale,
               double adc_offset, uint16_t *out);
    /** nb_pgm_grey. */
    void (*u8)(const float *row, int n, double scale, uint8_t *out);
    /** out[i] = k[0] rows[0][i] + k[1] rows[1][i] + ..., added in this order; i < n. */
    void (*taps)(const double *const *rows, const double *k, int taps, int n, double *out);
    /** to[y][x] += k[e][d] from[y + e][x + d], added row by row, in each row from the
     * left. */
    void (*spread)(const nb_spread_block *block);
    /** Photons of n segments of a strip, from `first` on; to[NB_BACKGROUND_SEGMENT n]. */
    void (*background)(const nb_background_strip *strip, int first, int n, float *to);
    /** photons[i] = nb_poisson of mean[i], for NB_NOISE_BLOCK pixels from `first` on. */
    void (*counts)(const double *mean, const struct nb_poisson_key *first,
                   double *photons);
    /** deviate[i] = nb_normal of the NB_NOISE_BLOCK pixels from `first` on. */
    void (*normals)(const struct nb_poisson_key *first, uint32_t stream, double *deviate);
    /** adu[i] = nb_noise_adu of the counts; returns the number of clipped pixels. */
    int (*noise)(const float *mean, const struct nb_poisson_key *first, double adc_offset,
                 uint16_t *adu);
} nb_image_kernels;

extern const nb_image_kernels nb_image_kernels_base; /* SSE2 or NEON, as on every CPU */
#ifdef __x86_64__
extern const nb_image_kernels nb_image_kernels_avx2, nb_image_kernels_avx512;
#endif

/** Kernels of an instruction set that this processor runs (nb_cpu_choose). */
const nb_image_kernels *nb_image_kernels_of(nb_isa isa);

#endif
