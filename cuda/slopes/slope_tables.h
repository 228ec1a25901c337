/* SPDX-License-Identifier: MIT */
/** Tables of a job for slope_terms.h and slope_plain.h, which the host makes. */
#ifndef NB_CUDA_SLOPE_TABLES_H
#define NB_CUDA_SLOPE_TABLES_H

#include "../../src/plan/plan.h"
#include "slope_plain.h"
#include "slope_terms.h"

/** Reason, in a few words, why the terms of a job cannot be in single precision;
 * otherwise NULL. */
const char *nb_term_refuse(const nb_plan *plan, const nb_slope_job *job);

/** The case of kernels for a job. */
nb_term_case nb_term_case_of(const nb_slope_job *job);

/** Make the tables of a job that nb_term_refuse does not refuse. The struct owns its
 * arrays except for F2 (nb_term_squares). side: number of adjacent tables of F. Errors:
 * NB_ERR_NOMEM; free the tables after an error, too. */
nb_status nb_term_tables_build(const nb_slope_job *job, int side, nb_term_tables *out,
                               nb_error *err);
/** Set F2 and its strides: squares of F in a visible box, with `side` adjacent tables as
 * in nb_cuda_factor_squares. */
void nb_term_squares(nb_term_tables *t, const float *F2, const nb_index_box *box,
                     int side);
void nb_term_tables_free(nb_term_tables *t); /* The tables may be all zero. */

/* --- for slope_plain.h --- */

/** Make the rows of weights of a job. out->planes is 0 if the job is not plain: a pixel
 * has more than one ray or too many terms, a panel is curved, or a sensor lets photons
 * pass. spans[n]: the pixels. Errors: NB_ERR_NOMEM; free the rows after an error, too. */
nb_status nb_plain_rows_build(const nb_slope_job *job, const nb_term_tables *t,
                              const nb_span *spans, size_t n, nb_plain_rows *out,
                              nb_error *err);
void nb_plain_rows_free(nb_plain_rows *rows); /* The rows may be all zero. */

/** Calculate gradient[planes - 1] of a pullback from its sums over the pixels
 * (nb_pull_number). If parameters move the detector, there must be only one panel. */
void nb_plain_contract(const nb_plain_rows *rows, const double *sums, int level,
                       double *gradient);

/** Set image[] to the photons per unit of the numbers NB_PLAIN_IMAGE, NB_PLAIN_ONE. */
void nb_plain_image(const nb_plain_rows *rows, float image[2]);

/** Calculate sums[1 + n + n^2] of n = planes - 1 parameters, in the order of
 * nb_slope_fit_out: the loss, its gradient, the lower half of the Fisher matrix. items:
 * the loss and the lower half of a matrix of NB_GRAM_ALL or _CRYSTAL rows. If parameters
 * move the detector, there must be only one panel. */
void nb_plain_equations(const nb_plain_rows *rows, const double *items, int level,
                        double *sums);

nb_plain_frame nb_plain_frame_of(const nb_slope_job *job, const nb_term_tables *t);

/** nb_term_case_of with the levels of slope_plain.h. */
nb_term_case nb_plain_case_of(const nb_slope_job *job);

#endif
