/* SPDX-License-Identifier: MIT */
/** The vector renderer: SSE2, AVX2 or AVX-512, chosen at run time. */
#ifndef NB_RENDER_SIMD_H
#define NB_RENDER_SIMD_H

#include "kernel.h"
#include "spot_tile.h"
#include "sums.h"

/** open: NB_ERR_UNSUPPORTED when options->isa does not run here (cpu.h).  SCALAR, asked
 * for or named by NANOBRAGG_ISA, and scenes with Miller indices or tables beyond 32 bits
 * go to the scalar backend; estimate and describe say so. */
extern const nb_backend nb_backend_simd;

/** The vector kernels of an instruction set. */
typedef struct nb_kernel_set {
    nb_isa isa;
    nb_row_kernel *row;
    nb_spot_kernel *spot;
    nb_tile_kernel *tile;
    nb_background_kernel *background;
    nb_spot_draw *draw;
    nb_slope_row *slopes; /* of: nb_vector_slopes, as of those below */
    nb_slope_floats *slope_floats;
    nb_slope_dot *slope_dot; /* sums[SLOPE_LIGHT] */
} nb_kernel_set;

/** Those of this build; the last one has NULL kernels. */
extern const nb_kernel_set nb_kernel_sets[];

#endif
