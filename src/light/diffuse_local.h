/* SPDX-License-Identifier: MIT */
/** The part of the orders' sums that a coarser lattice does not hold, as its kernels are soft near each reflection. */
#ifndef NB_LIGHT_DIFFUSE_LOCAL_H
#define NB_LIGHT_DIFFUSE_LOCAL_H

#include "diffuse_orders.h"
#include "lattice_sum.h"

typedef struct nb_diffuse_local {
    const nb_diffuse_table *table;
    const nb_diffuse_part *part; /* c: what was summed so far */
    const nb_orders *orders;
    const nb_lattice_source *sources;
    const double *u2;    /* of a step of their lattice */
    const double *near2; /* [orders] within which the kernels that were summed are soft */
    double far2;         /* orders with this one have a local part */
    double bytes;        /* of memory, about */
    int threads;
} nb_diffuse_local;

/** Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_add_local(const nb_diffuse_local *job, nb_error *err);

#endif
