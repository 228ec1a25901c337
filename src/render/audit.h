/* SPDX-License-Identifier: MIT */
/** Are slopes in single precision good enough?  Their errors are parts of 1e-7 of the largest value that a term could have, not of its value.
 * Where a picture has few samples near a reflection's peak, one pixel may outshine all others, and a parameter's slope
 * may nearly cancel there: then the errors are large for the plane's largest value.  So pictures of few peaks are
 * compared with the reference in their strongest pixels; where the difference is too large, strong pixels take the
 * reference's values. */
#ifndef NB_RENDER_AUDIT_H
#define NB_RENDER_AUDIT_H

#include "sums.h"

/** What is known of the values of a pass: for each of its stripes the largest of each plane, and the pixel where the
 * crystal's slopes are strongest. */
typedef struct nb_slope_audit {
    const nb_slope_job *job;
    int stripes, planes; /* planes: 1 + count, the image first */
    double *weight; /* [planes]: of |value| in a pixel's strength; owned, with all that follows */
    double *most;     /* [stripes][planes]: of |value| */
    double *values;   /* [stripes][planes]: of the strongest pixel */
    double *strength; /* [stripes]: of that pixel */
    nb_span *at;      /* [stripes]: that pixel; n = 0: none */
} nb_slope_audit;

/** Are few of the picture's samples near a peak? */
int nb_slope_audit_wanted(const nb_slope_job *job);

/** The job must outlive it.  Errors: NB_ERR_NOMEM.  Free it after an error, too. */
nb_status nb_slope_audit_open(const nb_slope_job *job, int stripes, nb_slope_audit *out,
                              nb_error *err);
/** Pieces of one stripe come in order. */
void nb_slope_audit_take(nb_slope_audit *audit, const nb_slope_values *piece);

/** The strength from which on pixels must be calculated in double; INFINITY: none. */
double nb_slope_audit_limit(const nb_slope_audit *audit);

/** Put the reference's values to all pixels of a piece that are so strong. */
void nb_slope_audit_mend(const nb_slope_audit *audit, double limit,
                         const nb_slope_values *piece, double *values);

void nb_slope_audit_close(nb_slope_audit *audit); /* zeroed is fine */

/** Planes with their image that are there, of spans[n].  *weak: they must be calculated in double.  Errors: NB_ERR_NOMEM. */
nb_status nb_slope_audit_planes(const nb_slope_job *job, const nb_span *spans, size_t n,
                                const nb_slope_planes_out *out, int *weak, nb_error *err);

#endif
