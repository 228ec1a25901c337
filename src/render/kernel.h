/* SPDX-License-Identifier: MIT */
/** The vector kernels: the same source (kernel_rows.h) compiled once per instruction
 * set. */
#ifndef NB_RENDER_KERNEL_H
#define NB_RENDER_KERNEL_H

#include "vector_plan.h"

/** Fill the rendered pixels of row s of the plan's panel; `row` is its first pixel.  Each pixel's
 * bytes depend on the plan and the instruction set alone, not on its neighbours. */
typedef void nb_row_kernel(const nb_vector_plan *plan, int s, float *row);

nb_row_kernel nb_row_sse2, nb_row_avx2, nb_row_avx512, nb_row_neon;

#endif
