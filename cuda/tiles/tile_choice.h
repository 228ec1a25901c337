/* SPDX-License-Identifier: MIT */
/** Whether blocks of rays are worth a trial on a device, and how they go on. */
#ifndef NB_CUDA_TILE_CHOICE_H
#define NB_CUDA_TILE_CHOICE_H

#include "../../src/plan/plan.h"

#define NB_CUDA_TILES "tiles" /* the name of the path */

/** Why blocks of rays are not tried, in a few words; NULL: they are. */
const char *nb_cuda_tiles_refuse(const nb_plan *plan);

/** How they go on: the same for every region. */
typedef struct nb_cuda_tile_choice {
    int exact;    /* terms are in doubles: floats do not hold them */
    double every; /* seconds of every step of the whole detector; 0: the path is forced */
} nb_cuda_tile_choice;
nb_cuda_tile_choice nb_cuda_choose_tiles(const nb_plan *plan);

#endif
