/* SPDX-License-Identifier: MIT */
/** The vector kernels: the same source (kernel_rows.h) compiled once per instruction
 * set. */
#ifndef NB_RENDER_KERNEL_H
#define NB_RENDER_KERNEL_H

#include "backend.h"
#include "vector_plan.h"

/** Render n spans of one row of the plan's panel, see nb_row_job.  Each pixel's bytes depend on the plan
 * and the instruction set alone, not on its neighbours. */
typedef void nb_row_kernel(const nb_vector_plan *plan, const nb_span *spans, size_t n,
                           float *row);

nb_row_kernel nb_row_sse2, nb_row_avx2, nb_row_avx512, nb_row_neon;

#endif
