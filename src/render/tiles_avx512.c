/* SPDX-License-Identifier: MIT */
/* The vector kernels of tiles for AVX512. */
#if !defined(__AVX512F__) || !defined(__AVX512DQ__) || !defined(__AVX512BW__)
#error "tiles_avx512.c must be compiled with the flags of its instruction set"
#endif
#include "kernel_spots.h"
#include "kernel_tiles.h"
