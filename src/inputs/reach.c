/* SPDX-License-Identifier: MIT */
#include "factors.h"

#include <math.h>

#include "../factors/factors.h"
#include "../physics/panels.h"
#include "../physics/ray.h"

/** Longest diagonal of the cell that three vectors span. */
static double longest_diagonal(nb_vec3 a, nb_vec3 b, nb_vec3 c)
{
    double longest = 0;
    for (int i = 0; i < 4; i++) {
        nb_vec3 d =
            nb_add(a, nb_add(nb_scale(i & 1 ? -1 : 1, b), nb_scale(i & 2 ? -1 : 1, c)));
        longest = fmax(longest, nb_norm(d));
    }
    return longest;
}

/** Calculate L^-1 B L^-T for A = L L^T. A and B have the elements xx yy zz 2xy 2xz 2yz,
 * out has xx yy zz xy xz yz. */
static void relative(const double A[6], const double B[6], double out[6])
{
    double l00 = sqrt(A[0]), l10 = A[3] / 2 / l00, l20 = A[4] / 2 / l00;
    double l11 = sqrt(A[1] - l10 * l10), l21 = (A[5] / 2 - l20 * l10) / l11;
    double l22 = sqrt(A[2] - l20 * l20 - l21 * l21);
    const double L[3][3] = {{l00, 0, 0}, {l10, l11, 0}, {l20, l21, l22}};
    double M[3][3] = {{B[0], B[3] / 2, B[4] / 2},
                      {B[3] / 2, B[1], B[5] / 2},
                      {B[4] / 2, B[5] / 2, B[2]}};
    for (int pass = 0; pass < 2; pass++) { /* solve L X = M; set M = X^T; repeat */
        double X[3][3];
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) {
                double sum = M[i][j];
                for (int k = 0; k < i; k++)
                    sum -= L[i][k] * X[k][j];
                X[i][j] = sum / L[i][i];
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                M[i][j] = X[j][i];
    }
    out[0] = M[0][0];
    out[1] = M[1][1];
    out[2] = M[2][2];
    out[3] = M[0][1];
    out[4] = M[0][2];
    out[5] = M[1][2];
}

/** Largest eigenvalue of a symmetric matrix (O. K. Smith, Commun. ACM 4, 168 (1961)). */
static double largest_eigenvalue(const double m[6])
{
    double mean = (m[0] + m[1] + m[2]) / 3, x = m[0] - mean, y = m[1] - mean,
           z = m[2] - mean;
    double off = m[3] * m[3] + m[4] * m[4] + m[5] * m[5];
    double p = sqrt((x * x + y * y + z * z + 2 * off) / 6);
    double det = x * (y * z - m[5] * m[5]) - m[3] * (m[3] * z - m[5] * m[4]) +
                 m[4] * (m[3] * m[5] - y * m[4]);
    double r = p > 0 ? fmax(-1, fmin(1, det / (2 * p * p * p))) : 0;
    return mean + 2 * p * cos(acos(r) / 3);
}

double nb_metric_ratio(const double a[6], const double b[6])
{
    double A[6], B[6], m[6];
    nb_reciprocal_metric(a, A);
    nb_reciprocal_metric(b, B);
    relative(A, B, m);
    return sqrt(largest_eigenvalue(m));
}

double nb_table_limit(double q, const nb_crystal *x, const double cell[6],
                      int interpolated)
{
    double own[6];
    double diagonal = longest_diagonal(x->astar, x->bstar, x->cstar);
    double limit = q + diagonal * (interpolated ? 2.5 : 0.5);
    nb_factor_cell_of(x, own);
    return 1 / (limit * nb_metric_ratio(own, cell) * (1 + 1e-9));
}
