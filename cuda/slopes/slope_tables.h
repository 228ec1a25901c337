/* SPDX-License-Identifier: MIT */
/** Tables that slope_terms.h and slope_plain.h need of a job, made on the host. */
#ifndef NB_CUDA_SLOPE_TABLES_H
#define NB_CUDA_SLOPE_TABLES_H

#include "../../src/plan/plan.h"
#include "slope_plain.h"
#include "slope_terms.h"

/** Why a job cannot have its terms in single precision, in a few words; NULL: it can. */
const char *nb_term_refuse(const nb_plan *plan, const nb_slope_job *job);

/** Which of the kernels. */
nb_term_case nb_term_case_of(const nb_slope_job *job);

/** The tables of a job that is not refused.  Arrays are owned but for F2
 * (nb_term_squares).  side: tables of F side by side.  Errors: NB_ERR_NOMEM; free them after an error, too. */
nb_status nb_term_tables_build(const nb_slope_job *job, int side, nb_term_tables *out,
                               nb_error *err);
/** The squares of F of a visible box, `side` tables side by side as nb_cuda_factor_squares has them. */
void nb_term_squares(nb_term_tables *t, const float *F2, const nb_index_box *box,
                     int side);
void nb_term_tables_free(nb_term_tables *t); /* zeroed is fine */

/* --- of slope_plain.h --- */

/** The rows of a job with tables; planes = 0 if a pixel has more than one ray or too many terms, a panel is curved, or a sensor
 * lets photons pass.  spans[n]: the pixels.  Errors: NB_ERR_NOMEM; free them after one, too. */
nb_status nb_plain_rows_build(const nb_slope_job *job, const nb_term_tables *t,
                              const nb_span *spans, size_t n, nb_plain_rows *out,
                              nb_error *err);
void nb_plain_rows_free(nb_plain_rows *rows); /* zeroed is fine */

/** gradient[planes - 1] of a pullback from its sums over the pixels (nb_pull_number), of one panel where that moves. */
void nb_plain_contract(const nb_plain_rows *rows, const double *sums, int level,
                       double *gradient);

/** Photons of the numbers NB_PLAIN_IMAGE and NB_PLAIN_ONE. */
void nb_plain_image(const nb_plain_rows *rows, float image[2]);

/** sums[1 + n + n^2] of n = planes - 1 parameters, as nb_slope_fit_out has them: the loss, its gradient, the lower half of the
 * Fisher matrix.  items: the loss and the lower half of a matrix of NB_GRAM_ALL or _CRYSTAL rows, of one panel where that moves. */
void nb_plain_equations(const nb_plain_rows *rows, const double *items, int level,
                        double *sums);

nb_plain_frame nb_plain_frame_of(const nb_slope_job *job, const nb_term_tables *t);

/** nb_term_case_of, with levels as slope_plain.h has them. */
nb_term_case nb_plain_case_of(const nb_slope_job *job);

#endif
