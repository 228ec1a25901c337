/* SPDX-License-Identifier: MIT */
#include "joint_solve.h"

#include <string.h>

#include "minimise.h"

size_t nb_arrow_share(const nb_arrow *a)
{
    const size_t c = (size_t)a->common;
    return c * c + 2 * c;
}

size_t nb_arrow_work(const nb_arrow *a)
{
    const size_t n = (size_t)(a->common > a->own ? a->common : a->own);
    return 2 * n * n + n;
}

/** Column k of A^-1 (B, g). */
static void solve_column(const nb_arrow *a, const double *M, const double *G,
                         const double *R, int k, double *Y, double *column)
{
    const int c = a->common, m = a->own, n = c + m;
    for (int i = 0; i < m; i++)
        column[i] = k < c ? M[(c + i) * n + k] : G[c + i];
    nb_fit_solve(m, R, column, column);
    for (int i = 0; i < m; i++)
        Y[i * (c + 1) + k] = column[i];
}

/** The common part without what its own variables take up. */
static void put_share(const nb_arrow *a, const double *M, const double *G,
                      const double *Y, double *share)
{
    const int c = a->common, m = a->own, n = c + m;
    double *g = share + c * c, *diagonal = g + c;
    for (int i = 0; i < c; i++) {
        for (int j = 0; j <= c; j++) {
            double sum = j < c ? M[i * n + j] : G[i];
            for (int k = 0; k < m; k++)
                sum -= M[(c + k) * n + i] * Y[k * (c + 1) + j];
            if (j < c)
                share[i * c + j] = sum;
            else
                g[i] = sum;
        }
        diagonal[i] = M[i * n + i];
    }
}

int nb_arrow_eliminate(const nb_arrow *a, const double *M, const double *G,
                       double damping, double *share, double *Y, double *work)
{
    const int c = a->common, m = a->own, n = c + m;
    double *A = work, *R = A + m * m, *column = R + m * m;
    memset(share, 0, nb_arrow_share(a) * sizeof *share);
    memset(Y, 0, (size_t)m * (size_t)(c + 1) * sizeof *Y);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            A[i * m + j] = M[(c + i) * n + c + j] * (i == j ? 1 + damping : 1);
    if (!nb_fit_cholesky(m, A, R))
        return 0;
    for (int k = 0; k <= c; k++)
        solve_column(a, M, G, R, k, Y, column);
    put_share(a, M, G, Y, share);
    return 1;
}

int nb_arrow_common_step(const nb_arrow *a, const double *sum, double damping,
                         double *step, double *work)
{
    const int c = a->common;
    const double *g = sum + c * c, *diagonal = g + c;
    double *S = work, *R = S + c * c;
    for (int i = 0; i < c; i++)
        for (int j = 0; j < c; j++)
            S[i * c + j] = (sum[i * c + j] + sum[j * c + i]) / 2 +
                           (i == j ? damping * diagonal[i] : 0);
    if (!nb_fit_cholesky(c, S, R))
        return 0;
    nb_fit_solve(c, R, g, step);
    for (int i = 0; i < c; i++)
        step[i] = -step[i];
    return 1;
}

void nb_arrow_step(const nb_arrow *a, const double *common, const double *Y, double *step)
{
    const int c = a->common;
    for (int i = 0; i < c; i++)
        step[i] = common[i];
    for (int i = 0; i < a->own; i++) {
        const double *row = Y + i * (c + 1);
        double sum = -row[c];
        for (int k = 0; k < c; k++)
            sum -= row[k] * common[k];
        step[c + i] = sum;
    }
}

double nb_arrow_gain(const nb_arrow *a, const double *M, const double *G,
                     const double *step)
{
    const int n = a->common + a->own;
    double gain = 0;
    for (int i = 0; i < n; i++) {
        double half = G[i];
        for (int j = 0; j < n; j++)
            half += M[i * n + j] * step[j] / 2;
        gain -= step[i] * half;
    }
    return gain;
}

double nb_arrow_covariance(const nb_arrow *a, const double *inverse, const double *Y,
                           const double *C, int i, int j)
{
    const int c = a->common;
    double sum = inverse[i * a->own + j];
    for (int k = 0; k < c; k++)
        for (int l = 0; l < c; l++)
            sum += Y[i * (c + 1) + k] * C[k * c + l] * Y[j * (c + 1) + l];
    return sum;
}
