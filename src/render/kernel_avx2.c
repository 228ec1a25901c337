/* SPDX-License-Identifier: MIT */
/* The vector kernels of rows for AVX2. */
#if !defined(__AVX2__) || !defined(__FMA__) || defined(__AVX512F__)
#error "kernel_avx2.c must be compiled with the flags of its instruction set"
#endif
#include "kernel_rows.h"
