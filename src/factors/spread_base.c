/* SPDX-License-Identifier: MIT */
#define NB_SET base
#include "spread_of.h"
