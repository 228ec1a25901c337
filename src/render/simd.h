/* SPDX-License-Identifier: MIT */
/** The vector renderer: SSE2, AVX2 or AVX-512, chosen at run time, or NEON. */
#ifndef NB_RENDER_SIMD_H
#define NB_RENDER_SIMD_H

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

/** The vector backend. `open` returns NB_ERR_UNSUPPORTED if this CPU does not have
 * options->isa (cpu.h). The scalar backend renders if SCALAR is selected, by the options
 * or by NANOBRAGG_ISA, and for scenes whose Miller indices or tables need more than 32
 * bits; `estimate` and `describe` report this. */
extern const nb_backend nb_backend_simd;

/** The vector kernels of an instruction set. */
typedef struct nb_kernel_set {
    nb_isa isa;
    nb_row_kernel *row;
    nb_spot_kernel *spot;
    nb_tile_kernel *tile;
    nb_spot_draw *draw;
    nb_slope_row *slopes; /* void *of: nb_vector_slopes, as for the next two */
    nb_slope_floats *slope_floats;
    nb_slope_dot *slope_dot; /* sums[SLOPE_LIGHT] */
} nb_kernel_set;

/** The kernels of this build; the last set (SCALAR) has NULL kernels. */
extern const nb_kernel_set nb_kernel_sets[];

/* Rows of the vector renderer whose dark pixels, which see no reflection
 * (../plan/dark.h), need no step. */

typedef struct nb_dark_rows {
    nb_row_kernel *kernel;
    const nb_vector_plan *plans; /* one per panel */
    nb_lit_panel *lit;           /* one per panel; owned; NULL: every pixel may be lit */
} nb_dark_rows;

/** Find the dark pixels of the rows. The plans must outlive the rows. Before the call,
 * all members of *rows are 0 except kernel and plans. Errors: NB_ERR_NOMEM. */
nb_status nb_dark_rows_build(const nb_plan *plan, nb_dark_rows *rows, nb_error *err);
void nb_dark_rows_free(nb_dark_rows *rows);

/** Function `row` of an nb_row_job whose context is an nb_dark_rows. */
void nb_dark_row(void *context, const nb_span *spans, size_t n, float *row);

#endif
