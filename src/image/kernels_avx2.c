/* SPDX-License-Identifier: MIT */
#define NB_KERNELS avx2
#include "kernels_of.h"
