/* SPDX-License-Identifier: MIT */
/** The reflections of an image that is made of spots (../plan/spots.h): the sum goes from each
 * reflection to its pixels, instead of from each pixel to all its samples. */
#ifndef NB_TRUTH_SPOT_SHARES_H
#define NB_TRUTH_SPOT_SHARES_H

#include "../plan/spots.h"
#include "../render/spot_tile.h"
#include "reflection_table.h"

typedef struct nb_spot_shares {
    const nb_scene *scene; /* with its region and mask */
    const nb_spots *spots;
    const nb_spot_limits *limits;
    double phi_first, phi_step; /* rad, of the scene's phi steps */
    int threads;                /* the sums do not depend on it */
    const nb_hooks *hooks;      /* only the calling thread calls progress */
    /** Photons of a pixel to divide; 0: none. *least: weight below which a sample is left out;
     * *background: the pixel's other photons. */
    double (*photons)(const void *user, int panel, int fast, int slow, double *least,
                      double *background);
    const void *user;
    nb_spot_draw *draw;
    const nb_vector_plan *plans; /* of each panel */
} nb_spot_shares;

/** Add every reflection's sums to the table.  Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_spot_shares_add(const nb_spot_shares *shares, nb_reflection_table *table,
                             nb_error *err);

#endif
