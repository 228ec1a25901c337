/* SPDX-License-Identifier: MIT */
/** 3 x 3 matrices, row by row. */
#ifndef NB_BASE_MATRIX_H
#define NB_BASE_MATRIX_H

#include <string.h>

static inline void nb_identity(double m[9])
{
    for (int i = 0; i < 9; i++)
        m[i] = i % 4 == 0;
}

static inline void nb_transpose(const double m[9], double out[9])
{
    for (int i = 0; i < 9; i++)
        out[i] = m[i % 3 * 3 + i / 3];
}

/** out = a b; out may be a or b. */
static inline void nb_multiply(const double a[9], const double b[9], double out[9])
{
    double c[9];
    for (int i = 0; i < 9; i++)
        c[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] +
               a[i / 3 * 3 + 2] * b[6 + i % 3];
    memcpy(out, c, sizeof c);
}

static inline double nb_determinant(const double m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/** Inverse of m; returns the determinant (0 or NaN: out has no meaning). */
static inline double nb_invert(const double m[9], double out[9])
{
    double det;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            out[3 * i + j] = m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
        }
    det = m[0] * out[0] + m[1] * out[3] + m[2] * out[6];
    for (int i = 0; i < 9; i++)
        out[i] /= det;
    return det;
}

#endif
