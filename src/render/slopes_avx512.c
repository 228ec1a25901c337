/* SPDX-License-Identifier: MIT */
/* The sums for derivatives with AVX512. */
#if !defined(__AVX512F__) || !defined(__AVX512DQ__) || !defined(__AVX512BW__)
#error "slopes_avx512.c must be compiled with the flags of its instruction set"
#endif
#include "kernel_slopes.h"
