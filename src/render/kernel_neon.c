/* SPDX-License-Identifier: MIT */
/* The vector kernels of rows for NEON, which every 64-bit Arm processor has. */
#ifndef __aarch64__
#error "kernel_neon.c is for 64-bit Arm processors"
#endif
#include "kernel_rows.h"
