/* SPDX-License-Identifier: MIT */
/** Normal deviates of Philox. */
#ifndef NB_MODEL_DEVIATE_H
#define NB_MODEL_DEVIATE_H

#include <math.h>

#include "../base/philox.h"
#include "../physics/hostdevice.h"

/** A normal deviate of mean 0 and variance 1 (Box and Muller 1958), and (other may be NULL) the second of the pair. */
static inline double nb_normal52(nb_philox_words p, double *other)
{
    const double r = sqrt(-2 * log(nb_uniform52(p.w[0], p.w[1]))),
                 turn = 2 * NB_PI * nb_uniform52(p.w[2], p.w[3]);
    if (other)
        *other = r * sin(turn);
    return r * cos(turn);
}

#endif
