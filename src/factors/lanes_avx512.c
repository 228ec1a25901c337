/* SPDX-License-Identifier: MIT */
#define NB_SET avx512
#include "direct_row_of.h"
#include "spread_of.h"
