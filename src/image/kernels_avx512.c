/* SPDX-License-Identifier: MIT */
#define NB_KERNELS avx512
#include "kernels_of.h"
