/* SPDX-License-Identifier: MIT */
/* The vector kernels of tiles for AVX2. */
#if !defined(__AVX2__) || !defined(__FMA__) || defined(__AVX512F__)
#error "tiles_avx2.c must be compiled with the flags of its instruction set"
#endif
#include "kernel_spots.h"
#include "kernel_tiles.h"
