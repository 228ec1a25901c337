/* SPDX-License-Identifier: MIT */
/** Minimise a loss by the method of Levenberg and Marquardt: steps of Fisher scoring (MINPACK's lmder). */
#ifndef NB_REFINE_MINIMISE_H
#define NB_REFINE_MINIMISE_H

#include "../nanobragg.h"

/** The loss at x[n], its gradient G[n] and Fisher matrix M[n][n].  NB_ERR_INPUT: x is not possible; the
 * step is made shorter.  Other errors end the fit. */
typedef nb_status (*nb_loss_call)(void *user, int n, const double *x, double *loss,
                                  double *G, double *M, nb_error *err);

typedef struct nb_minimise_job {
    nb_loss_call loss;
    void *user;
    int n;
    double *x;    /* [n]; the start, then the best */
    double floor; /* no loss is below */
    int most;     /* evaluations */
} nb_minimise_job;

typedef struct nb_minimum {
    int converged;
    int evaluations;
    double loss;
} nb_minimum;

/** Errors: NB_ERR_UNSUPPORTED without cminpack, NB_ERR_NOMEM, NB_ERR_INPUT (no loss at the start), those of
 * the loss. */
nb_status nb_minimise(const nb_minimise_job *job, nb_minimum *out, nb_error *err);

/** Small symmetric matrices, [n][n] row by row, both halves filled. */

#define NB_FIT_RIDGE 1e-14 /* added to a diagonal of ones */

/** M = R^T R with R upper triangular.  Columns are scaled to 1 and a ridge is added first.  A column of
 * zeros becomes a column of zeros.  Returns 0 if M is not positive, or not finite. */
int nb_fit_cholesky(int n, const double *M, double *R);

/** x with R^T R x = b, of nb_fit_cholesky; elements of zero columns are 0.  x may be b. */
void nb_fit_solve(int n, const double *R, const double *b, double *x);

/** The inverse, by eigenvalues of the matrix with columns scaled to 1.  *worst (may be NULL): the smallest
 * eigenvalue over the largest, and vector[n] (may be NULL) its vector in scaled columns.  Rows and columns of
 * a zero diagonal become 0.  Errors: NB_ERR_NOMEM. */
nb_status nb_fit_invert(int n, const double *M, double *inverse, double *worst,
                        double *vector, nb_error *err);

/** A loss with its gradient and Fisher matrix as n + 1 rows of least squares. */

/** f[n + 1] and J[n][n + 1] (column k from J + k (n + 1), as MINPACK has it) with |f|^2 = 2 loss, J^T f = G and
 * J^T J = M.  Where G^T M^-1 G is more than 2 loss, f keeps the norm and the direction, and J^T f is shorter
 * than G.  R[n][n], y[n]: work.  Returns 0 if M is not positive or a number is not finite. */
int nb_fit_rows(int n, double loss, const double *G, const double *M, double *f,
                double *J, double *R, double *y);

#endif
