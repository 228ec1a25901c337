/* SPDX-License-Identifier: MIT */
/** Runs the threads of the device's kernels for images from reflections one after the
 * other, on the CPU. */
#ifndef NB_TESTS_CHECK_SPOT_GRID_H
#define NB_TESTS_CHECK_SPOT_GRID_H

#include "plan/spots.h"

/** As nb_spots_render: image[plan->scene->raster.pixels], or result->refused is set. */
nb_status check_grid_render(const nb_plan *plan, float *image, nb_spots_result *result,
                            nb_error *err);

#endif
