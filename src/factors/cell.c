/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>
#include <string.h>

#include "factors.h"

/** cos of degrees, exact for the common angles of cells. */
static double cos_degrees(double x)
{
    return x == 90 ? 0 : x == 120 ? -0.5 : x == 60 ? 0.5 : cos(x * (M_PI / 180));
}

void nb_reciprocal_metric(const double cell[6], double G[6])
{
    double a = cell[0], b = cell[1], c = cell[2];
    double ab = a * b * cos_degrees(cell[5]), ac = a * c * cos_degrees(cell[4]);
    double bc = b * c * cos_degrees(cell[3]), aa = a * a, bb = b * b, cc = c * c;
    double x = bb * cc - bc * bc, xy = ac * bc - ab * cc, xz = ab * bc - ac * bb;
    double det = aa * x + ab * xy + ac * xz; /* square of the volume */
    G[0] = x / det;
    G[1] = (aa * cc - ac * ac) / det;
    G[2] = (aa * bb - ab * ab) / det;
    G[3] = 2 * xy / det;
    G[4] = 2 * xz / det;
    G[5] = 2 * (ab * ac - bc * aa) / det;
}

void nb_index_limits(const double cell[6], double dmin, int H[3])
{
    /* |h| <= |s| |a| for any angles, because h = s.a */
    for (int i = 0; i < 3; i++)
        H[i] = (int)fmin(floor(cell[i] * sqrt(nb_s_squared_limit(dmin))), 1e9);
}

int nb_row_of_l(const double G[6], double limit, int h, int k, int L, int *first,
                int *last)
{
    double p = (G[4] * h + G[5] * k) / (2 * G[2]);
    double square = p * p - (G[0] * h * h + G[1] * k * k + G[3] * h * k - limit) / G[2];
    double half = sqrt(fmax(square, 0));
    /* The roots are rounded, so begin one step outside and apply the usual test of
     * s^2. */
    int l0 = (int)fmax(floor(-p - half), -L), l1 = (int)fmin(ceil(half - p), L);
    while (l0 <= l1 && !(nb_s_squared(G, h, k, l0) <= limit))
        l0++;
    while (l0 <= l1 && !(nb_s_squared(G, h, k, l1) <= limit))
        l1--;
    *first = l0;
    *last = l1;
    return l0 <= l1;
}

void nb_cell_axes(const double cell[6], double A[9])
{
    double ca = cos_degrees(cell[3]), cb = cos_degrees(cell[4]), cg = cos_degrees(cell[5]);
    double sg = sqrt(1 - cg * cg), y = (ca - cb * cg) / sg;
    const double axes[9] = {cell[0],
                            cell[1] * cg,
                            cell[2] * cb,
                            0,
                            cell[1] * sg,
                            cell[2] * y,
                            0,
                            0,
                            cell[2] * sqrt(1 - cb * cb - y * y)};
    memcpy(A, axes, sizeof axes);
}

double nb_cell_volume(const double cell[6])
{
    double A[9];
    nb_cell_axes(cell, A);
    return A[0] * A[4] * A[8];
}

void nb_transform(const double m[9], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

/** Index of element i, j of a symmetric matrix in the order 11 22 33 12 13 23. */
static int packed(int i, int j)
{
    return i == j ? i : i + j + 2;
}

void nb_turn_symmetric(const double m[9], const double u[6], double out[6])
{
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double sum = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    sum += m[3 * i + a] * u[packed(a, b)] * m[3 * j + b];
            out[packed(i, j)] = sum;
        }
}

void nb_principal_limits(const double u[6], double *low, double *high)
{
    /* Roots of the characteristic polynomial (Smith, Comm. ACM 4, 168, 1961) */
    double mean = (u[0] + u[1] + u[2]) / 3, a = u[0] - mean, b = u[1] - mean;
    double c = u[2] - mean, off = u[3] * u[3] + u[4] * u[4] + u[5] * u[5];
    double p = sqrt((a * a + b * b + c * c + 2 * off) / 6), r = 0, angle;
    if (p > 0) {
        double det = a * (b * c - u[5] * u[5]) - u[3] * (u[3] * c - u[5] * u[4]) +
                     u[4] * (u[3] * u[5] - b * u[4]);
        r = fmax(-1, fmin(1, det / (2 * p * p * p)));
    }
    angle = acos(r) / 3;
    *high = mean + 2 * p * cos(angle);
    *low = mean + 2 * p * cos(angle + 2 * M_PI / 3);
}
