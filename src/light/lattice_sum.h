/* SPDX-License-Identifier: MIT */
/** Sums over a lattice of sources, S(x) = sum_g I(g) K(x - g), at the points of a lattice that is shifted against it. */
#ifndef NB_LIGHT_LATTICE_SUM_H
#define NB_LIGHT_LATTICE_SUM_H

#include <stddef.h>

#include "../nanobragg.h"

/** K over a row: out[i] = K(x0, x1, x2 + i), i < n. */
typedef void nb_lattice_kernel_fn(const void *data, const double x[3], int n, double *out);

enum { NB_LATTICE_PLACES = 16 }; /* sums at once, at most */

typedef struct nb_lattice_sum {
    int period[3];
    size_t row;     /* doubles from one row to the next */
    void *in, *out; /* plans of transforms in place */
    double *source; /* owned; the transform of I, divided by the number of points */
    double *work[NB_LATTICE_PLACES]; /* owned; K, its transform, their product, S */
    int places, threads;
} nb_lattice_sum;

/** Sources I[n0][n1][n2], the first at the indices `low`; sums are wanted at |index| <= reach along each axis, also of
 * shifted points. K is not cut: the period is as long as the longest distance needs. There are as many places of `places`
 * as there is memory for, at least one. To be cleared, on errors too.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED without
 * FFTW. */
nb_status nb_lattice_sum_new(const float *I, const int low[3], const int n[3],
                             const int reach[3], int places, int threads,
                             nb_lattice_sum *sum, nb_error *err);
void nb_lattice_sum_clear(nb_lattice_sum *sum);

/** S(o + shift) for all whole o, |o| <= reach, in a place: afterwards nb_lattice_sum_row has them.  Several threads may
 * call, each for another place. */
void nb_lattice_sum_make(const nb_lattice_sum *sum, int place,
                         nb_lattice_kernel_fn *kernel, const void *data,
                         const double shift[3]);

/** S of the points (h, k, -reach[2] .. reach[2]) + shift, of which l = 0 is *returned; l < 0 is at l + period[2]. */
const double *nb_lattice_sum_row(const nb_lattice_sum *sum, int place, int h, int k);

/** Bytes of the sources, and of each place. */
double nb_lattice_sum_bytes(const int low[3], const int n[3], const int reach[3]);

#endif
