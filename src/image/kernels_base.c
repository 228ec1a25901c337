/* SPDX-License-Identifier: MIT */
#define NB_KERNELS base
#include "kernels_of.h"
