/* SPDX-License-Identifier: MIT */
/* The sums for derivatives with SSE2. */
#if !defined(__SSE2__) || defined(__AVX2__)
#error "slopes_sse2.c must be compiled with the flags of its instruction set"
#endif
#include "kernel_slopes.h"
