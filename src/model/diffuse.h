/* SPDX-License-Identifier: MIT */
/** How far diffuse light reaches. */
#ifndef NB_MODEL_DIFFUSE_H
#define NB_MODEL_DIFFUSE_H

#include "../physics/diffuse.h"

/** |q| (1/A) to which diffuse light is made of an image that sees `seen`, and to which its F go where they have a limit: a
 * little more than is seen and -dmin (A; 0: none) leaves, rounded so that frames share tables. */
double nb_diffuse_reach(double seen, double dmin_A, double gamma_A);

#endif
