/* SPDX-License-Identifier: MIT */
/** What a renderer may leave out of a picture (plans/fast_paths.md, section 3). */
#ifndef NB_PLAN_TOLERANCE_H
#define NB_PLAN_TOLERANCE_H

#include <math.h>

/** Zeroed: every step is calculated.  Else no pixel may lack more than each of the bounds that are
 * above 0.  Without a bound only steps that are 0 are left out. */
typedef struct nb_tolerance {
    int skip;       /* steps may be left out */
    int asked;      /* by the user, who is to know when nothing is */
    double part;    /* of the brightest pixel of the whole detector */
    double photons; /* of a pixel */
} nb_tolerance;

/** The photons that a pixel may lack; brightest: no more than the brightest pixel, photons, where `part` needs it. */
static inline double nb_tolerance_photons(const nb_tolerance *may, double brightest)
{
    const double photons = may->photons > 0 ? may->photons : INFINITY;
    return may->part > 0 ? fmin(photons, may->part * brightest) : photons;
}

#endif
