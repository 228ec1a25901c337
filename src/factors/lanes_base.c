/* SPDX-License-Identifier: MIT */
#define NB_SET base
#include "direct_row_of.h"
#include "spread_of.h"
