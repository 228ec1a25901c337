/* SPDX-License-Identifier: MIT */
/* The sums for derivatives with AVX2. */
#if !defined(__AVX2__) || !defined(__FMA__) || defined(__AVX512F__)
#error "slopes_avx2.c must be compiled with the flags of its instruction set"
#endif
#include "kernel_slopes.h"
