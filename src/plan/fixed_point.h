/* SPDX-License-Identifier: MIT */
/** Miller indices in fixed point. The double NB_FIXED_MAGIC - h has a last bit of 2^-32,
 * so that its low word is the fraction of -h and its high word counts whole numbers. The
 * sign is negative so that rounding down sends halves of h down, as nb_nearest_index
 * does. The sign has no effect on the interference function, which is even. */
#ifndef NB_PLAN_FIXED_POINT_H
#define NB_PLAN_FIXED_POINT_H

#include <stdint.h>

#include "../base/coefficients.h"
#include "../physics/hostdevice.h"

/** Largest number of cells along an axis for which steps of 2^-32 of an index are fine enough in
 * any image: rounding changes the flank of a peak by 4e-10 N of its value. */
#define NB_FIXED_CELLS 100.0

/** Largest |h| for which high words index a table on a GPU. */
#define NB_FIXED_INDICES 262144.0

/** Number to add to -h before the split into words. With a table it is 1/2 larger, so
 * that the high word is the nearest whole number. */
NB_HD double nb_fixed_start(int table)
{
    return table ? NB_FIXED_MAGIC + 0.5 : NB_FIXED_MAGIC;
}

/** Number to add to the sum of the three high words times the strides, modulo 2^32. The
 * result is the index in a table with the first entry `low`. */
static inline int32_t nb_fixed_offset(const int32_t low[3], const uint32_t stride[3])
{
    uint32_t offset = 0;
    int axis;
    for (axis = 0; axis < 3; axis++)
        offset -= (uint32_t)(NB_FIXED_HIGH + low[axis]) * stride[axis];
    return (int32_t)offset;
}

#endif
