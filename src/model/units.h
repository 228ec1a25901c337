/* SPDX-License-Identifier: MIT */
/** Physical constants, and factors that convert users' units to SI. */
#ifndef NB_MODEL_UNITS_H
#define NB_MODEL_UNITS_H

#include <math.h>

#include "../physics/hostdevice.h"

#define NB_MM 1e-3
#define NB_UM 1e-6
#define NB_ANGSTROM 1e-10
#define NB_MRAD 1e-3
#define NB_PERCENT 1e-2

#define NB_R_E_SQR 7.94079248018965e-30      /* m^2, Thomson */
#define NB_AVOGADRO 6.02214179e23            /* as in the reference program */
#define NB_HC_EV_ANGSTROM 12398.419843320026 /* exact in SI */
#define NB_HC_EV_ANGSTROM_COMPAT 12398.42

/** Value of a file, or `other` if the file has no value (NaN). */
static inline double nb_said_or(double said, double other)
{
    return isnan(said) ? other : said;
}

/** Ceiling of a measured ratio. Rounding does not add one to an exact integer. */
static inline double nb_ceil_ratio(double x)
{
    return ceil(x * (1.0 - 1e-9));
}

#endif
