/* SPDX-License-Identifier: MIT */
/** What parameters make of the totals of a pixel (pixel_totals.h): sparse rows of weights. */
#ifndef NB_DERIVE_CONTRACTION_H
#define NB_DERIVE_CONTRACTION_H

#include "pixel_totals.h"

typedef struct nb_contraction_term {
    double weight; /* photons per unit of the parameter, per unit of the total */
    int total;     /* nb_slope_total */
} nb_contraction_term;

/** Plane p of panel k is the sum of terms first[(1 + count) k + p] ... first[... + 1] - 1; plane 0 is the image. Arrays
 * are owned. */
typedef struct nb_contraction {
    int *first;                 /* [n_panels (1 + count) + 1] */
    nb_contraction_term *terms; /* [n] */
    int n, rows;
} nb_contraction;

/** Errors: NB_ERR_NOMEM.  Free it after an error, too. */
nb_status nb_contraction_build(const nb_slope_job *job, nb_contraction *out,
                               nb_error *err);
void nb_contraction_free(nb_contraction *c); /* zeroed is fine */

/** Does a parameter move the detector? */
int nb_slope_job_moves(const nb_slope_job *job);

#endif
