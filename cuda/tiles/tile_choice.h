/* SPDX-License-Identifier: MIT */
/** The choice whether blocks of rays are tried on a device, and the order of a trial. */
#ifndef NB_CUDA_TILE_CHOICE_H
#define NB_CUDA_TILE_CHOICE_H

#include "../../src/plan/plan.h"

#define NB_CUDA_TILES "tiles" /* the name of the path */

/** The reason why blocks of rays are not tried, in a few words; NULL: they are. */
const char *nb_cuda_tiles_refuse(const nb_plan *plan);

/** Settings of a trial, which do not depend on the region. */
typedef struct nb_cuda_tile_choice {
    int exact;    /* terms are in doubles, as floats would overflow */
    double every; /* seconds of every step of the whole detector; 0: the path is forced */
} nb_cuda_tile_choice;
nb_cuda_tile_choice nb_cuda_choose_tiles(const nb_plan *plan);

#endif
