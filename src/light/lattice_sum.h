/* SPDX-License-Identifier: MIT */
/** Sums over a lattice of sources, S(x) = sum_g I(g) K(x - g), at the points of a lattice that is shifted against it. */
#ifndef NB_LIGHT_LATTICE_SUM_H
#define NB_LIGHT_LATTICE_SUM_H

#include <stddef.h>

#include "../nanobragg.h"

/** K over a row: out[i] = K(x0, x1, x2 + i), i < n. */
typedef void nb_lattice_kernel_fn(const void *data, const double x[3], int n, double *out);

/** Sources that are made row by row: the box low .. low + n - 1. */
typedef struct nb_lattice_source {
    int low[3], n[3];
    /** out[count]: the sources l .. l + count - 1 of row (i, j), all counted from `low`. */
    void (*row)(const void *data, const int at[3], int count, double *out);
    const void *data;
} nb_lattice_source;

enum { NB_LATTICE_PLACES = 16 }; /* sums at once, at most */

typedef struct nb_lattice_sum nb_lattice_sum;

/** Sources I[n0][n1][n2], the first at the indices `low`; sums are wanted at |index| <= reach along each axis, also of
 * shifted points. K is not cut: the period is as long as the longest distance needs.  Errors: NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED without FFTW. */
nb_status nb_lattice_sum_new(const double *I, const int low[3], const int n[3],
                             const int reach[3], int threads, nb_lattice_sum **sum,
                             nb_error *err);

/** Have places for so many sums at once, each of half of nb_lattice_sum_bytes; returns for how many there is memory. */
int nb_lattice_sum_widen(nb_lattice_sum *sum, int places);

/** S(o + shift) for all whole o, |o| <= reach, in a place: afterwards nb_lattice_sum_row has them.  Several threads may
 * call, each for another place. */
void nb_lattice_sum_make(const nb_lattice_sum *sum, int place,
                         nb_lattice_kernel_fn *kernel, const void *data,
                         const double shift[3]);

/** S of the points (h, k, -reach[2] .. reach[2]) + shift, of which l = 0 is *returned; l < 0 is at the row's end. */
const double *nb_lattice_sum_row(const nb_lattice_sum *sum, int place, int h, int k);
/** Points of a row, so that l < 0 is at l + this. */
int nb_lattice_sum_period(const nb_lattice_sum *sum);

/** Bytes that it will need. */
double nb_lattice_sum_bytes(const int low[3], const int n[3], const int reach[3]);

void nb_lattice_sum_free(nb_lattice_sum *sum);

#endif
