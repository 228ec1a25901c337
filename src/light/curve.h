/* SPDX-License-Identifier: MIT */
/** Curves of u^2 in straight pieces, each of the same width as a part of 1 + u^2: one text for the host and for devices. */
#ifndef NB_LIGHT_CURVE_H
#define NB_LIGHT_CURVE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../physics/hostdevice.h"

enum { NB_CURVE_BITS = 7 }; /* pieces of an octave: 2 to this power */

/** The column at or before u2, and the part of the way to the next: exponent and first bits of 1 + u2. */
NB_HD int nb_curve_at(float u2, float *part)
{
    const float y = 1 + (u2 > 0 ? u2 : 0);
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    bits -= 127u << 23;
    *part = (float)(bits & ((1u << (23 - NB_CURVE_BITS)) - 1)) *
            (1.0f / (float)(1u << (23 - NB_CURVE_BITS)));
    return (int)(bits >> (23 - NB_CURVE_BITS));
}

/** u^2 of a column. */
static inline double nb_curve_u2(int column)
{
    const int pieces = 1 << NB_CURVE_BITS;
    return ldexp(1 + (double)(column % pieces) / pieces, column / pieces) - 1;
}

#endif
