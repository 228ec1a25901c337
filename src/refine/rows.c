/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <math.h>
#include <string.h>

#include "symmetric.h"

int nb_fit_rows(int n, double loss, const double *G, const double *M, double *f,
                double *J, double *R, double *y)
{
    double norm = 0, rest;
    if (!(loss >= 0) || !isfinite(loss) || !nb_fit_cholesky(n, M, R))
        return 0;
    nb_fit_solve_lower(n, R, G, y);
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
