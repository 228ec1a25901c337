/* SPDX-License-Identifier: MIT */
/** What slope_plain.h needs of a job, on the host. */
#ifndef NB_CUDA_SLOPE_PLAIN_TABLES_H
#define NB_CUDA_SLOPE_PLAIN_TABLES_H

#include "slope_plain.h"

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
