/* SPDX-License-Identifier: MIT */
/** The body of a crystal that absorbs (docs/physics.md, section 24). */
#ifndef NB_PHYSICS_ABSORB_H
#define NB_PHYSICS_ABSORB_H

#include "vec3.h"

enum { NB_TURNS_MOST = 8 };

typedef struct nb_absorber {
    double mu;      /* 1/m; 0: nothing is absorbed */
    int box;        /* or a sphere */
    double half[3]; /* of its edges; of a sphere the radius, m */
    nb_vec3 beam;   /* unit */
    int turns;      /* how many positions of a box a frame is the mean of */
    nb_vec3 axis[NB_TURNS_MOST][3]; /* of its edges, unit */
} nb_absorber;

#endif
