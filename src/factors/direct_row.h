/* SPDX-License-Identifier: MIT */
/** The loop of the direct sum, compiled for each instruction set. */
#ifndef NB_FACTORS_DIRECT_ROW_H
#define NB_FACTORS_DIRECT_ROW_H

#include <stddef.h>

enum {
    /* number of atoms next to each other in memory, for vectors of any width */
    NB_BLOCK = 8,
    NB_ROW_MAX = 64, /* limit of the reflections of one call */
};

/** Eight images of atoms.  Unused images have q = 0. */
typedef struct nb_image_block {
    double x[NB_BLOCK], y[NB_BLOCK], z[NB_BLOCK], q[NB_BLOCK];
    double beta[6][NB_BLOCK];
    double c[NB_BLOCK], s[NB_BLOCK]; /* cos, sin of 2 pi step z */
    double decay[NB_BLOCK];          /* exp(-2 beta_33 step^2) */
} nb_image_block;

/** Reflections h, k, l + i step, 0 <= i < count. */
typedef struct nb_row {
    int h, k, l, step, count;
} nb_row;

/** Add the sums over n blocks (an even number) to S, [2 count]: re, im, re, im ... */
typedef void nb_direct_row_fn(const nb_image_block *blocks, size_t n, const nb_row *row,
                              double *S);

nb_direct_row_fn nb_direct_row_base;
#ifdef __x86_64__
nb_direct_row_fn nb_direct_row_avx2, nb_direct_row_avx512;
#endif

#endif
