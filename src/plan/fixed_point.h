/* SPDX-License-Identifier: MIT */
/** Miller indices in fixed point.  In NB_FIXED_MAGIC - h the last bit is 2^-32: the low word is the
 * fraction of -h, reduced modulo 1 by itself, and the high word counts whole numbers.  Negative, so
 * that rounding down sends halves of h down, as nb_nearest_index does; the interference function is
 * even. */
#ifndef NB_PLAN_FIXED_POINT_H
#define NB_PLAN_FIXED_POINT_H

#include <stdint.h>

#include "../base/coefficients.h"
#include "../physics/hostdevice.h"

/** Cells along an axis up to which steps of 2^-32 of an index are fine enough in any image: their
 * rounding shifts a peak's flank by 4e-10 N of it. */
#define NB_FIXED_CELLS 100.0

/** |h| up to which high words index a table on a GPU. */
#define NB_FIXED_INDICES 262144.0

/** What is added to -h before it is taken apart.  With a table half a step more, so that the high
 * word counts nearest whole numbers. */
NB_HD double nb_fixed_start(int table)
{
    return table ? NB_FIXED_MAGIC + 0.5 : NB_FIXED_MAGIC;
}

/** What is added to the sum of the three high words, each times its stride, to get the place in a
 * table whose first entry is `low`; modulo 2^32. */
static inline int32_t nb_fixed_offset(const int32_t low[3], const uint32_t stride[3])
{
    uint32_t offset = 0;
    int axis;
    for (axis = 0; axis < 3; axis++)
        offset -= (uint32_t)(NB_FIXED_HIGH + low[axis]) * stride[axis];
    return (int32_t)offset;
}

#endif
