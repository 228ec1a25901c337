/* SPDX-License-Identifier: MIT */
/** What slope_terms.h needs of a job, on the host. */
#ifndef NB_CUDA_SLOPE_TABLES_H
#define NB_CUDA_SLOPE_TABLES_H

#include "../../src/plan/plan.h"
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

#endif
