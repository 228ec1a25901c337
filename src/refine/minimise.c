/* SPDX-License-Identifier: MIT */
/* Kept to one call of one library: J. J. More, in Lecture Notes in Mathematics 630 (1978). */
#include "minimise.h"

#include <math.h>
#include <string.h>

#include "../base/cminpack_lib.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "rows.h"

#ifdef NB_HAVE_CMINPACK
/** Where lmder stands: it asks for the Jacobian where it has just had the function. */
typedef struct run {
    const nb_minimise_job *job;
    double *x, *f, *J; /* of the last evaluation */
    double *G, *M, *R, *y;
    int evaluations;
    double best;
    nb_status status;
    nb_error *err;
} run;

/** What a step into the impossible costs, beside any loss. */
#define NOWHERE 1e150

static int evaluate(run *r, const double *x)
{
    const nb_minimise_job *job = r->job;
    nb_error why = {0};
    double loss = 0;
    nb_status st = job->loss(job->user, job->n, x, &loss, r->G, r->M, &why);
    r->evaluations++;
    memcpy(r->x, x, (size_t)job->n * sizeof *x);
    if (!st && nb_fit_rows(job->n, loss - job->floor, r->G, r->M, r->f, r->J, r->R, r->y)) {
        r->best = fmin(r->best, loss);
        return 0;
    }
    if ((st && st != NB_ERR_INPUT) || r->evaluations == 1) {
        r->status = st ? st : NB_ERR_INPUT;
        if (st)
            nb_fail(r->err, st, "%s", why.message);
        else
            nb_fail(r->err, st, "the start has no finite loss");
        return -1;
    }
    memset(r->f, 0, (size_t)job->n * sizeof *r->f);
    r->f[job->n] = NOWHERE;
    return 0;
}

static int answer(void *user, int m, int n, const double *x, double *f, double *J, int ld,
                  int flag)
{
    run *r = user;
    size_t bytes = (size_t)n * sizeof *x;
    if (memcmp(r->x, x, bytes) != 0 || r->evaluations == 0)
        if (evaluate(r, x) < 0)
            return -1;
    if (flag == 1)
        memcpy(f, r->f, (size_t)m * sizeof *f);
    for (int k = 0; flag == 2 && k < n; k++)
        memcpy(J + (size_t)k * (size_t)ld, r->J + (size_t)k * (size_t)m,
               (size_t)m * sizeof *J);
    return 0;
}

/** The memory of lmder and of the rows, one block. */
static double *divide(run *r, int n, nb_error *err)
{
    size_t N = (size_t)n, m = N + 1;
    double *all = nb_alloc(8 * N + 3 * m + 2 * N * m + 2 * N * N, sizeof *all, "fit", err);
    if (!all)
        return NULL;
    r->x = all;
    r->f = r->x + N;
    r->J = r->f + m;
    r->G = r->J + N * m;
    r->M = r->G + N;
    r->R = r->M + N * N;
    r->y = r->R + N * N;
    return all;
}

nb_status nb_minimise(const nb_minimise_job *job, nb_minimum *out, nb_error *err)
{
    const double factor = 100, ftol = 1e-7, xtol = 1e-7;
    int n = job->n, info, evaluations = 0, jacobians = 0;
    size_t N = (size_t)n, m = N + 1;
    run r = {.job = job, .best = INFINITY, .err = err};
    double *all, *f, *J, *work;
    int *pivots;
    nb_status st = nb_cminpack_need("nanobragg refine", err);
    memset(out, 0, sizeof *out);
    if (st)
        return st;
    all = divide(&r, n, err);
    pivots = nb_alloc(N, sizeof *pivots, "fit", err);
    if (!all || !pivots) {
        nb_free(all);
        nb_free(pivots);
        return NB_ERR_NOMEM;
    }
    f = r.y + N;
    J = f + m;
    work = J + N * m;
    info = lmder(answer, &r, n + 1, n, job->x, f, J, n + 1, ftol, xtol, 0, job->most,
                 work, 1, factor, 0, &evaluations, &jacobians, pivots, work + N,
                 work + 2 * N, work + 3 * N, work + 4 * N, work + 5 * N);
    /* 6 to 8: nothing smaller can be told from rounding */
    out->converged = (info >= 1 && info <= 4) || (info >= 6 && info <= 8);
    out->evaluations = r.evaluations;
    out->loss = r.best;
    nb_free(all);
    nb_free(pivots);
    return r.status;
}
#else
nb_status nb_minimise(const nb_minimise_job *job, nb_minimum *out, nb_error *err)
{
    (void)job;
    memset(out, 0, sizeof *out);
    return nb_cminpack_need("nanobragg refine", err);
}
#endif
