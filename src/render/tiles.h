/* SPDX-License-Identifier: MIT */
/** Pictures from the steps that matter to each block of rays (../plan/tiles.h): tiles shared out over
 * threads. */
#ifndef NB_RENDER_TILES_H
#define NB_RENDER_TILES_H

#include "ray_tile.h"
#include "spots.h"

typedef struct nb_tiles_job {
    nb_spots_job as; /* plans: for NB_VECTOR_TILES */
    nb_tile_kernel *kernel;
    int always; /* also where every step is quicker, for tests */
    int edge; /* of a tile, pixels; 0: as it likes; for tests so many times that: the same bytes
                   where its blocks are not cut, 64 a multiple of the oversampling */
} nb_tiles_job;

/** As nb_spots_render; result->bound: photons that a pixel lacks at most. */
nb_status nb_tiles_render(const nb_tiles_job *job, nb_spots_result *result, nb_error *err);

#endif
