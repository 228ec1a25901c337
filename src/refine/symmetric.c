/* SPDX-License-Identifier: MIT */
#include "symmetric.h"

#include <math.h>
#include <string.h>

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

void nb_fit_solve_lower(int n, const double *R, const double *g, double *y)
{
    for (int i = 0; i < n; i++) {
        double sum = g[i];
        for (int k = 0; k < i; k++)
            sum -= R[k * n + i] * y[k];
        y[i] = R[i * n + i] > 0 ? sum / R[i * n + i] : 0;
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

void nb_fit_eigen(int n, double *A, double *values, double *V)
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
    nb_fit_eigen(n, A, values, V);
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
