/* SPDX-License-Identifier: MIT */
/** Limits of what a renderer may leave out of a picture (plans/fast_paths.md, section 3). */
#ifndef NB_PLAN_TOLERANCE_H
#define NB_PLAN_TOLERANCE_H

#include <math.h>

/** All zero: every step is calculated. Otherwise no pixel may lack more than each bound above 0.
 * Without a bound only steps that are 0 are left out. */
typedef struct nb_tolerance {
    int skip;       /* steps may be left out */
    int asked;      /* typed by the user, so a note is needed if nothing is left out */
    double part;    /* of the brightest pixel of the whole detector */
    double photons; /* of a pixel */
} nb_tolerance;

/** The photons that a pixel may lack; brightest: lower bound of the brightest pixel, photons, if
 * `part` needs it. */
static inline double nb_tolerance_photons(const nb_tolerance *may, double brightest)
{
    const double photons = may->photons > 0 ? may->photons : INFINITY;
    return may->part > 0 ? fmin(photons, may->part * brightest) : photons;
}

#endif
