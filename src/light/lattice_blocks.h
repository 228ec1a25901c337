/* SPDX-License-Identifier: MIT */
/** Sums over a lattice of sources, S(x) = sum_g I(g) K(x - g), of kernels that end at a distance: block by block, in
 * little memory. */
#ifndef NB_LIGHT_LATTICE_BLOCKS_H
#define NB_LIGHT_LATTICE_BLOCKS_H

#include "lattice_sum.h"

/** A kernel, and the shift of the points where its sums are wanted against the lattice, 0 <= shift < 1. */
typedef struct nb_lattice_ending {
    nb_lattice_kernel_fn *kernel;
    const void *data;
    double shift[3];
} nb_lattice_ending;

typedef struct nb_lattice_blocks {
    const nb_lattice_source *sources;
    const nb_lattice_ending *kernels;
    int n;          /* kernels */
    double half[3]; /* they are 0 beyond, in indices */
    int reach[3];   /* sums are wanted at |index| <= reach */
    int threads;
    double bytes; /* that the kernels' transforms may take */
    /** S of kernel k at the points (h, j, l .. l + n - 1) + its shift.  Several threads call, for other points. */
    void (*take)(void *data, int k, const int at[3], int n, const double *row);
    void *data;
} nb_lattice_blocks;

/** Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED without FFTW. */
nb_status nb_lattice_sum_blocks(const nb_lattice_blocks *job, nb_error *err);

#endif
