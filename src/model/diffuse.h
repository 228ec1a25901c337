/* SPDX-License-Identifier: MIT */
/** The model of liquid-like motions of a crystal. */
#ifndef NB_MODEL_DIFFUSE_H
#define NB_MODEL_DIFFUSE_H

#include "../physics/diffuse.h"
#include "crystal.h"

/** What is typed of it, and the rotations of the group. */
typedef struct nb_motions {
    double sigma[3], gamma[3]; /* A, along a*, c x a*, c */
    int gauss, unperturbed;
    const int8_t (*R)[9]; /* [n_R] rotations x' = R x, row by row; NULL: the identity alone */
    int n_R;
} nb_motions;

/** |q| (1/A) to which diffuse light is made of an image that sees `seen`, and to which its F go where they have a limit: a
 * little more than is seen and -dmin (A; 0: none) leaves, rounded so that frames share tables. */
double nb_diffuse_reach(double seen, double dmin_A, double gamma_A);

/** What is typed, without rotations. */
nb_motions nb_motions_of(const nb_config *cfg);

/** sigma 0 along all axes: no form. */
void nb_diffuse_build(const nb_motions *motions, const nb_crystal *crystal,
                      nb_diffuse *out);

#endif
