/* SPDX-License-Identifier: MIT */
/** The vector renderer: SSE2, AVX2 or AVX-512, chosen at run time. */
#ifndef NB_RENDER_SIMD_H
#define NB_RENDER_SIMD_H

#include "backend.h"

/** open: NB_ERR_UNSUPPORTED when options->isa does not run here (cpu.h).  SCALAR, asked
 * for or named by NANOBRAGG_ISA, and scenes with Miller indices or tables beyond 32 bits
 * go to the scalar backend; estimate and describe say so. */
extern const nb_backend nb_backend_simd;

#endif
