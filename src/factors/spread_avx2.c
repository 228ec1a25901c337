/* SPDX-License-Identifier: MIT */
#define NB_SET avx2
#include "spread_of.h"
