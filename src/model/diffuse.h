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

/** What is typed, without rotations. */
nb_motions nb_motions_of(const nb_config *cfg);

/** sigma 0 along all axes: no form. */
void nb_diffuse_build(const nb_motions *motions, const nb_crystal *crystal,
                      nb_diffuse *out);

#endif
