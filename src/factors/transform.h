/* SPDX-License-Identifier: MIT */
/** Fourier sums of a real function on a grid, for the indices inside a limit only: by FFTW or as plain sums. */
#ifndef NB_FACTORS_TRANSFORM_H
#define NB_FACTORS_TRANSFORM_H

#include <stddef.h>

#include "../nanobragg.h"

/** X(h) = sum over points of f exp(2 pi i (h u/n0 + k v/n1 + l w/n2)), |h| <= H0, |k| <= H1,
 * 0 <= l <= H2, where s^2 is inside the limit. */
typedef struct nb_fourier_box {
    int n[3], H[3];
    double G[6], s2_limit; /* which columns (k, l) are made */
    double *X; /* owned; re, im at ((h + H0)(2 H1 + 1) + k + H1)(H2 + 1) + l */
} nb_fourier_box;

/** Plane u of the function into out, [n1][n2]; scratch is the thread's own. */
typedef void nb_plane_fn(const void *data, int u, double *scratch, double *out);

/** The function of a grid. */
typedef struct nb_planes {
    nb_plane_fn *fill;
    const void *data;
    size_t scratch; /* doubles */
} nb_planes;

/** Make box->X from n, H, G and s2_limit; n_i > 2 H_i.  is_plain: plain sums along c, then b, then a,
 * instead of FFTW, which must be loaded otherwise.  Threads divide planes and columns. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_fourier_make(nb_fourier_box *box, const nb_planes *planes, int is_plain,
                          int threads, nb_error *err);
void nb_fourier_free(nb_fourier_box *box);

/** X(h), conjugated for l < 0; h inside the limit. */
static inline void nb_fourier_at(const nb_fourier_box *b, const int h[3], double X[2])
{
    int sign = h[2] < 0 ? -1 : 1;
    size_t at = ((size_t)(sign * h[0] + b->H[0]) * (size_t)(2 * b->H[1] + 1) +
                 (size_t)(sign * h[1] + b->H[1])) *
                    (size_t)(b->H[2] + 1) +
                (size_t)(sign * h[2]);
    X[0] = b->X[2 * at];
    X[1] = sign * b->X[2 * at + 1];
}

#endif
