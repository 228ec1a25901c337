/* SPDX-License-Identifier: MIT */
/** Pictures from the steps that matter to each block of rays (../plan/tiles.h): tiles shared out over
 * threads. */
#ifndef NB_RENDER_TILES_H
#define NB_RENDER_TILES_H

#include "spots.h"

/** As nb_spots_render; job->plans: NB_SUMS_FIXED if fixed point applies, else NB_SUMS_DOUBLE; result->bound: photons that a pixel lacks at most. */
nb_status nb_tiles_render(const nb_render *job, nb_spots_result *result, nb_error *err);

#endif
