/* SPDX-License-Identifier: MIT */
/** Small symmetric matrices, [n][n] row by row, both halves filled. */
#ifndef NB_REFINE_SYMMETRIC_H
#define NB_REFINE_SYMMETRIC_H

#include "../nanobragg.h"

#define NB_FIT_RIDGE 1e-14 /* added to a diagonal of ones */

/** M = R^T R with R upper triangular.  Columns are scaled to 1 and a ridge is added first.  A column of
 * zeros becomes a column of zeros.  Returns 0 if M is not positive, or not finite. */
int nb_fit_cholesky(int n, const double *M, double *R);

/** Solve R^T y = g; elements of zero columns are 0. */
void nb_fit_solve_lower(int n, const double *R, const double *g, double *y);

/** Eigenvalues, growing, and their vectors (row k: that of value k) by Jacobi rotations.  A is
 * destroyed. */
void nb_fit_eigen(int n, double *A, double *values, double *vectors);

/** The inverse, by eigenvalues of the matrix with columns scaled to 1.  *worst (may be NULL): the smallest
 * eigenvalue over the largest, and vector[n] (may be NULL) its vector in scaled columns.  Rows and columns of
 * a zero diagonal become 0.  Errors: NB_ERR_NOMEM. */
nb_status nb_fit_invert(int n, const double *M, double *inverse, double *worst,
                        double *vector, nb_error *err);

#endif
