/* SPDX-License-Identifier: MIT */
/** Reflections of a fit whose structure factors are not exact: their pixels, scales and normal equations. */
#ifndef NB_REFINE_SCALES_H
#define NB_REFINE_SCALES_H

#include "../sim/derive.h"
#include "fit.h"

/** Each pixel of the list to the reflection next to it, all scales 1, width 0.  Free it after an error, too.  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_fit_group(const nb_fit *fit, const nb_slope_pixels *pixels,
                       nb_fit_groups *out, nb_error *err);

void nb_fit_groups_free(nb_fit_groups *groups); /* zeroed is fine */

/** Named parameters of equations. */
typedef struct nb_fit_names {
    int count;
    const char *const *name;
} nb_fit_names;

/** Normal equations by the V = count + knots values; arrays are the caller's, [V] and [V][V]. */
typedef struct nb_fit_equations {
    double loss, *g, *F;
    double *held; /* F with the scales held; may be NULL */
    double *scores; /* sum over reflections of the products of their gradients; may be NULL */
    double *model; /* [pixels of the stack], at those of the list; may be NULL */
    int clusters;  /* reflections with light */
} nb_fit_equations;

/** The scales take their best values; then the equations without them.  Errors as nb_sim_derivatives. */
nb_status nb_fit_equate(nb_fit *fit, nb_fit_groups *groups, const nb_fit_names *names,
                        const nb_slope_pixels *pixels, nb_fit_equations *out,
                        nb_error *err);

/** *spread: of the logarithms of scales that counts know well, beyond counting; 0: too few.  *explained: the part of
 * the loss beyond noise that free scales explain.  The scales are 1 afterwards. */
nb_status nb_fit_scale_spread(nb_fit *fit, nb_fit_groups *groups,
                              const nb_slope_pixels *pixels, double *spread,
                              double *explained, nb_error *err);

#endif
