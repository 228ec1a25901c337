/* SPDX-License-Identifier: MIT */
/** A loss with its gradient and Fisher matrix as n + 1 rows of least squares. */
#ifndef NB_REFINE_ROWS_H
#define NB_REFINE_ROWS_H

#include "../nanobragg.h"

/** f[n + 1] and J[n][n + 1] (column k from J + k (n + 1), as MINPACK has it) with |f|^2 = 2 loss, J^T f = G and
 * J^T J = M.  Where G^T M^-1 G is more than 2 loss, f keeps the norm and the direction, and J^T f is shorter
 * than G.  R[n][n], y[n]: work.  Returns 0 if M is not positive or a number is not finite. */
int nb_fit_rows(int n, double loss, const double *G, const double *M, double *f,
                double *J, double *R, double *y);

#endif
