/* SPDX-License-Identifier: MIT */
#define NB_SET avx512
#include "spread_of.h"
