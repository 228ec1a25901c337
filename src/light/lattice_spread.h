/* SPDX-License-Identifier: MIT */
/** Sources of a lattice that are moved to a coarser one, where smooth kernels have the same sums. */
#ifndef NB_LIGHT_LATTICE_SPREAD_H
#define NB_LIGHT_LATTICE_SPREAD_H

#include "lattice_sum.h"

/** Sources at each whole index of a lattice. */
typedef struct nb_lattice_box {
    int low[3], n[3];
    float *at; /* owned */
} nb_lattice_box;

/** The box of a lattice whose points are `apart` indices from each other, in units of them.  apart >= 1. */
void nb_lattice_coarse(const int low[3], const int n[3], const double apart[3],
                       nb_lattice_box *to);

/** Spread sources over such a lattice: with the weights that a spline through the kernel's values there would take.
 * to->at is to be freed.  Errors: NB_ERR_NOMEM. */
nb_status nb_lattice_spread(const nb_lattice_source *from, const double apart[3],
                            int threads, nb_lattice_box *to, nb_error *err);

#endif
