/* SPDX-License-Identifier: MIT */
/** The vector renderer: SSE2, AVX2 or AVX-512, chosen at run time. */
#ifndef NB_RENDER_SIMD_H
#define NB_RENDER_SIMD_H

#include "backend.h"

/** open: NB_ERR_UNSUPPORTED when options->isa does not run here, or is SCALAR (which is another
 * backend's); nb_cpu_choose in cpu.h says beforehand. */
extern const nb_backend nb_backend_simd;

#endif
