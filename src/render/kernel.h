/* SPDX-License-Identifier: MIT */
/** The vector kernels: the same source (kernel_rows.h) compiled once per instruction
 * set. */
#ifndef NB_RENDER_KERNEL_H
#define NB_RENDER_KERNEL_H

#include "../plan/background_tiles.h"
#include "backend.h"
#include "vector_plan.h"

/** Render n spans of one row of the plan's panel, see nb_row_job.  Each pixel's bytes depend on the plan
 * and the instruction set alone, not on its neighbours. */
typedef void nb_row_kernel(const nb_vector_plan *plan, const nb_span *spans, size_t n,
                           float *row);

nb_row_kernel nb_row_sse2, nb_row_avx2, nb_row_avx512, nb_row_neon;

/** A part of a row of pixels in a tile of the background (../plan/background_tiles.h): polynomials of a pixel's place. */
typedef struct nb_background_line {
    double c[NB_BACKGROUND_LAWS][NB_BACKGROUND_ORDER];
} nb_background_line;

typedef struct nb_background_strip {
    double scale, shift; /* a pixel's place in the tile: f scale + shift */
    const nb_background_grid *grid;
    int one, groups, parts;
    nb_background_line line[NB_BACKGROUND_PARTS]; /* [layer][group] */
} nb_background_strip;

/** Add the materials to the pixels of a span, which is in one tile and not rough; to: its first pixel. */
typedef void nb_background_kernel(const nb_span *span, const nb_background_strip *strip,
                                  float *to);

nb_background_kernel nb_background_sse2, nb_background_avx2, nb_background_avx512,
    nb_background_neon;

#endif
