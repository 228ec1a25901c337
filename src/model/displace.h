/* SPDX-License-Identifier: MIT */
/** Small rotations of the crystal, and shifts and rotations of the detector and of its panels, on top
 * of what the configuration places: for a fit. */
#ifndef NB_MODEL_DISPLACE_H
#define NB_MODEL_DISPLACE_H

#include "../physics/vec3.h"

/** Of the whole detector, or of one panel. */
typedef struct nb_place_change {
    double shift[3]; /* along lab x, y, z; m */
    double along[3]; /* along the own fast, slow and normal axis as they were; m */
    double turn[3];  /* rotation vector in these axes; rad */
} nb_place_change;

/** All zero: nothing is displaced. */
typedef struct nb_displacement {
    double rot[3];         /* rotation vector of the crystal in the lab, rad */
    nb_place_change whole; /* as one body, by the axes and the origin of the beam's panel */
    nb_place_change *panels; /* [n_panels], about their own origins; NULL: none */
    int n_panels;
} nb_displacement;

/** The axes that shifts and rotations refer to: of a panel before it is displaced. */
typedef struct nb_body {
    nb_vec3 origin, axis[3]; /* fast, slow, normal */
} nb_body;

/** Is anything displaced? */
int nb_is_displaced(const nb_displacement *moved);

/** The rotation by the vector w [rad], applied to v. */
nb_vec3 nb_turn(nb_vec3 w, nb_vec3 v);
/** The rate of rotation (per unit of a component of w along e) of nb_turn: its left Jacobian. */
nb_vec3 nb_turn_rate(nb_vec3 w, nb_vec3 e);
/** x0 axis[0] + x1 axis[1] + x2 axis[2] */
nb_vec3 nb_along_axes(const nb_body *body, const double x[3]);

/** Move the place of panel k (0 without panels); body: the whole detector's, own: the panel's. */
void nb_displace(const nb_displacement *moved, int k, const nb_body *body,
                 const nb_body *own, nb_body *place);

#endif
