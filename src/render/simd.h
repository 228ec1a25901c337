/* SPDX-License-Identifier: MIT */
/** The vector renderer: SSE2, AVX2 or AVX-512, chosen at run time, or NEON. */
#ifndef NB_RENDER_SIMD_H
#define NB_RENDER_SIMD_H

#include "../plan/background_tiles.h"
#include "../plan/dark.h"
#include "backend.h"
#include "sums.h"
#include "tile_rows.h"
#include "vector_plan.h"

/* The vector kernels: the same source (kernel_rows.h) compiled once per instruction
 * set. */

/** Render n spans of one row of the plan's panel (nb_row_job.row). The bytes of a pixel
 * depend only on the plan and the instruction set. */
typedef void nb_row_kernel(const nb_vector_plan *plan, const nb_span *spans, size_t n,
                           float *row);

nb_row_kernel nb_row_sse2, nb_row_avx2, nb_row_avx512, nb_row_neon;

/** One part (layer, group of sources) of a row of pixels in a tile of the background
 * (../plan/background_tiles.h): coefficients of polynomials in a pixel's place u. */
typedef struct nb_background_line {
    double c[NB_BACKGROUND_LAWS][NB_BACKGROUND_ORDER];
} nb_background_line;

typedef struct nb_background_strip {
    double scale, shift; /* place u of pixel f in the tile: f scale + shift */
    const nb_background_grid *grid;
    int one, groups, parts;
    nb_background_line line[NB_BACKGROUND_PARTS]; /* [layer][group] */
} nb_background_strip;

/** Add the materials to a span of one smooth tile; to: the span's first pixel. */
typedef void nb_background_kernel(const nb_span *span, const nb_background_strip *strip,
                                  float *to);

nb_background_kernel nb_background_sse2, nb_background_avx2, nb_background_avx512,
    nb_background_neon;

/** open: NB_ERR_UNSUPPORTED when options->isa does not run here (cpu.h). SCALAR, from the
 * options or from NANOBRAGG_ISA, and scenes with Miller indices or tables of more than
 * 32 bits use the scalar backend; estimate and describe report it. */
extern const nb_backend nb_backend_simd;

/** The vector kernels of an instruction set. */
typedef struct nb_kernel_set {
    nb_isa isa;
    nb_row_kernel *row;
    nb_spot_kernel *spot;
    nb_tile_kernel *tile;
    nb_background_kernel *background;
    nb_spot_draw *draw;
    nb_slope_row *slopes; /* void *of: nb_vector_slopes, as for the next two */
    nb_slope_floats *slope_floats;
    nb_slope_dot *slope_dot; /* sums[SLOPE_LIGHT] */
} nb_kernel_set;

/** The kernels of this build; the last set (SCALAR) has NULL kernels. */
extern const nb_kernel_set nb_kernel_sets[];

/* Rows of the vector renderer: rows of the materials of an amorphous background, and rows
 * whose dark pixels, which see no reflection (../plan/dark.h), need no step. */

typedef struct nb_background_rows {
    nb_row_kernel *kernel;
    nb_background_kernel *smooth; /* NULL: `kernel` for all pixels */
    nb_vector_plan *plans;        /* one per panel; owned; NULL: no material */
    nb_background_tiles *tiles;   /* owned; NULL: no tile is smooth */
} nb_background_rows;

/** plans: one per panel of the scene, from nb_vector_plans_build; the plans must outlive
 * the rows. The caller zeroes the rows except for their kernels. Errors: NB_ERR_NOMEM. */
nb_status nb_background_rows_build(const nb_scene *sc, const nb_vector_plan *plans,
                                   int threads, nb_background_rows *rows, nb_error *err);
void nb_background_rows_free(nb_background_rows *rows);

/** For nb_row_job; context: a nb_background_rows with plans. */
void nb_background_row(void *context, const nb_span *spans, size_t n, float *row);

typedef struct nb_dark_rows {
    nb_row_kernel *kernel;
    nb_background_kernel *background; /* NULL: kernel for all pixels */
    int threads;                      /* threads of nb_dark_rows_build; 0 means 1 */
    const nb_vector_plan *plans;      /* one per panel */
    nb_lit_panel *lit; /* one per panel; owned; NULL: every pixel may be lit */
    /* one per panel, without the crystal; owned; NULL: dark pixels are 0 */
    nb_vector_plan *without;
    nb_background_rows materials;
} nb_dark_rows;

/** The plans must outlive the rows. The caller zeroes rows except for kernels, threads
 * and plans. Errors: NB_ERR_NOMEM. */
nb_status nb_dark_rows_build(const nb_plan *plan, nb_dark_rows *rows, nb_error *err);
void nb_dark_rows_free(nb_dark_rows *rows);

/** For nb_row_job; context: a nb_dark_rows. */
void nb_dark_row(void *context, const nb_span *spans, size_t n, float *row);
/** Copy plans to plans that render only the water: the same bytes as with F = 0
 * everywhere. The copies belong to the caller (nb_free). Errors: NB_ERR_NOMEM. */
nb_status nb_plans_without_crystal(const nb_vector_plan *plans, int n,
                                   nb_vector_plan **without, nb_error *err);

/** True if every pixel without crystal is exactly 0. */
int nb_dark_is_zero(const nb_scene *scene);

#endif
