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

#endif
