/* SPDX-License-Identifier: MIT */
/** Runs the warps of the device's kernel for images in blocks of rays, one by one. */
#ifndef NB_TESTS_CHECK_TILE_GRID_H
#define NB_TESTS_CHECK_TILE_GRID_H

#include "plan/spots.h"

/** As check_grid_render, even if summing every step is quicker. */
nb_status check_tile_grid_render(const nb_plan *plan, float *image,
                                 nb_spots_result *result, nb_error *err);

#endif
