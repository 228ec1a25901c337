/* SPDX-License-Identifier: MIT */
#include "minimise.h"

#include <math.h>
#include <string.h>

#include "../base/cminpack_lib.h"
#include "../base/error.h"
#include "../base/memory.h"

/** 1/sqrt of the diagonal; 0 where there is nothing. */
static double scale_of(int n, const double *M, int i)
{
    double d = M[i * n + i];
    return d > 0 ? 1 / sqrt(d) : 0;
}

int nb_fit_cholesky(int n, const double *M, double *R)
{
    memset(R, 0, (size_t)n * (size_t)n * sizeof *R);
    for (int j = 0; j < n; j++) {
        double scale = scale_of(n, M, j), left;
        if (!(M[j * n + j] >= 0))
            return 0;
        if (scale == 0)
            continue;
        for (int i = 0; i < j; i++) {
            double sum = M[i * n + j] * scale_of(n, M, i) * scale;
            for (int k = 0; k < i; k++)
                sum -= R[k * n + i] * R[k * n + j];
            R[i * n + j] = R[i * n + i] > 0 ? sum / R[i * n + i] : 0;
        }
        left = 1 + NB_FIT_RIDGE;
        for (int k = 0; k < j; k++)
            left -= R[k * n + j] * R[k * n + j];
        if (!(left > NB_FIT_RIDGE / 2)) {
            if (!(left > -1e-10)) /* not by rounding; NaN too */
                return 0;
            left = NB_FIT_RIDGE;
        }
        R[j * n + j] = sqrt(left);
    }
    for (int j = 0; j < n; j++) {
        double scale = scale_of(n, M, j);
        for (int i = 0; i <= j; i++)
            R[i * n + j] *= scale > 0 ? 1 / scale : 0;
    }
    return 1;
}

/* Solve R^T y = g; elements of zero columns are 0. */
static void fit_solve_lower(int n, const double *R, const double *g, double *y)
{
    for (int i = 0; i < n; i++) {
        double sum = g[i];
        for (int k = 0; k < i; k++)
            sum -= R[k * n + i] * y[k];
        y[i] = R[i * n + i] > 0 ? sum / R[i * n + i] : 0;
    }
}

void nb_fit_solve(int n, const double *R, const double *b, double *x)
{
    fit_solve_lower(n, R, b, x);
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int k = i + 1; k < n; k++)
            sum -= R[i * n + k] * x[k];
        x[i] = R[i * n + i] > 0 ? sum / R[i * n + i] : 0;
    }
}

/** One rotation that makes A[p][q] zero. */
static void rotate(int n, double *A, double *V, int p, int q)
{
    double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
        a = V[p * n + k], b = V[q * n + k];
        V[p * n + k] = c * a - s * b;
        V[q * n + k] = s * a + c * b;
    }
}

static void swap_rows(int n, double *values, double *V, int i, int j)
{
    double value = values[i];
    values[i] = values[j];
    values[j] = value;
    for (int k = 0; k < n; k++) {
        value = V[i * n + k];
        V[i * n + k] = V[j * n + k];
        V[j * n + k] = value;
    }
}

/* Eigenvalues, growing, and their vectors (row k: that of value k) by Jacobi rotations.  A is
 * destroyed. */
static void fit_eigen(int n, double *A, double *values, double *V)
{
    enum { SWEEPS = 60 };
    double total = 0;
    memset(V, 0, (size_t)n * (size_t)n * sizeof *V);
    for (int i = 0; i < n; i++) {
        V[i * n + i] = 1;
        for (int j = 0; j < n; j++)
            total += A[i * n + j] * A[i * n + j];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                off += A[p * n + q] * A[p * n + q];
                if (A[p * n + q] != 0)
                    rotate(n, A, V, p, q);
            }
        if (!(off > 1e-32 * total))
            break;
    }
    for (int i = 0; i < n; i++)
        values[i] = A[i * n + i];
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (values[j] < values[i])
                swap_rows(n, values, V, i, j);
}

nb_status nb_fit_invert(int n, const double *M, double *inverse, double *worst,
                        double *vector, nb_error *err)
{
    size_t square = (size_t)n * (size_t)n;
    double *work = nb_alloc(2 * square + (size_t)n + 1, sizeof *work, "inverse", err);
    double *A = work, *V, *values;
    if (!work)
        return NB_ERR_NOMEM;
    V = A + square;
    values = V + square;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i * n + j] =
                i == j ? 1 : M[i * n + j] * scale_of(n, M, i) * scale_of(n, M, j);
    fit_eigen(n, A, values, V);
    if (worst)
        *worst = n > 0 ? values[0] / values[n - 1] : 1;
    if (vector)
        memcpy(vector, V, (size_t)n * sizeof *V);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                if (values[k] > NB_FIT_RIDGE)
                    sum += V[k * n + i] * V[k * n + j] / values[k];
            inverse[i * n + j] = sum * scale_of(n, M, i) * scale_of(n, M, j);
        }
    nb_free(work);
    return NB_OK;
}

int nb_fit_rows(int n, double loss, const double *G, const double *M, double *f,
                double *J, double *R, double *y)
{
    double norm = 0, rest;
    if (!(loss >= 0) || !isfinite(loss) || !nb_fit_cholesky(n, M, R))
        return 0;
    fit_solve_lower(n, R, G, y);
    for (int i = 0; i < n; i++)
        norm += y[i] * y[i];
    if (!isfinite(norm))
        return 0;
    rest = 2 * loss - norm;
    for (int i = 0; i < n; i++)
        f[i] = rest < 0 ? y[i] * sqrt(2 * loss / norm) : y[i];
    f[n] = rest < 0 ? 0 : sqrt(rest);
    for (int k = 0; k < n; k++) {
        double *column = J + (size_t)k * (size_t)(n + 1);
        for (int i = 0; i < n; i++)
            column[i] = R[i * n + k];
        column[n] = 0;
    }
    return 1;
}

/* Kept to one call of one library: J. J. More, in Lecture Notes in Mathematics 630 (1978). */

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
