/* SPDX-License-Identifier: MIT */
/* The sums for derivatives with NEON, which every 64-bit Arm processor has. */
#ifndef __aarch64__
#error "slopes_neon.c is for 64-bit Arm processors"
#endif
#include "kernel_slopes.h"
