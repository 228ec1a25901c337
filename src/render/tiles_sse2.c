/* SPDX-License-Identifier: MIT */
/* The vector kernels of tiles for SSE2. */
#if !defined(__SSE2__) || defined(__AVX2__)
#error "tiles_sse2.c must be compiled with the flags of its instruction set"
#endif
#include "kernel_spots.h"
#include "kernel_tiles.h"
