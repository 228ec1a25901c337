/* SPDX-License-Identifier: MIT */
/** Polynomials of the tiles of a background: interpolation and values. */
#ifndef NB_IMAGE_POLYNOMIAL_H
#define NB_IMAGE_POLYNOMIAL_H

#include <string.h>

#include "kernels.h"

/** to[j][k]: coefficient of u^j in the polynomial that is 1 at u[k], 0 at other knots. */
static inline void nb_polynomial_basis(const double u[NB_BACKGROUND_ORDER],
                                       double to[NB_BACKGROUND_ORDER][NB_BACKGROUND_ORDER])
{
    for (int k = 0; k < NB_BACKGROUND_ORDER; k++) {
        double p[NB_BACKGROUND_ORDER] = {1};
        for (int i = 0, degree = 0; i < NB_BACKGROUND_ORDER; i++) {
            if (i == k)
                continue;
            degree++;
            for (int j = degree; j >= 0; j--)
                p[j] = ((j > 0 ? p[j - 1] : 0) - u[i] * (j < degree ? p[j] : 0)) /
                       (u[k] - u[i]);
        }
        for (int j = 0; j < NB_BACKGROUND_ORDER; j++)
            to[j][k] = p[j];
    }
}

/** c[0] + c[1] x + ... */
static inline double nb_polynomial(const double c[NB_BACKGROUND_ORDER], double x)
{
    double sum = 0;
    for (int i = NB_BACKGROUND_ORDER - 1; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/** to[i]: coefficient of u^i at v, of the polynomial with c[j][i] for u^i v^j. */
static inline void nb_polynomial_row(double (*c)[NB_BACKGROUND_ORDER], double v,
                                     double to[NB_BACKGROUND_ORDER])
{
    memcpy(to, c[NB_BACKGROUND_ORDER - 1], NB_BACKGROUND_ORDER * sizeof *to);
    for (int j = NB_BACKGROUND_ORDER - 2; j >= 0; j--)
        for (int i = 0; i < NB_BACKGROUND_ORDER; i++)
            to[i] = to[i] * v + c[j][i];
}

#endif
