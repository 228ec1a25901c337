/* SPDX-License-Identifier: MIT */
/* The vector kernels of tiles for NEON, which every 64-bit Arm processor has. */
#ifndef __aarch64__
#error "tiles_neon.c is for 64-bit Arm processors"
#endif
#include "kernel_spots.h"
#include "kernel_tiles.h"
