/* SPDX-License-Identifier: MIT */
/** Images by tiles, which threads share out: from their reflections (../plan/spots.h),
 * and from the steps that matter to each block of rays (../plan/tiles.h). */
#ifndef NB_RENDER_TILES_H
#define NB_RENDER_TILES_H

#include "tile_rows.h"
#include "vector_paths.h"

/** Fill the planes completely except for materials, or refuse. job->plans:
 * NB_SUMS_DOUBLE. The bytes do not depend on threads or on the rendered part. Errors:
 * NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_spots_render(const nb_render *job, nb_spots_result *result, nb_error *err);

/** A pixel that is no brighter than the brightest one of the whole detector, by at most
 * this number of tries (nb_spots_try). 0 photons: no pixel is found. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_spots_brightest(const nb_render *job, int tries, nb_bright *brightest,
                             nb_error *err);

/** Render the image without the crystal and without materials. Errors: as
 * nb_spots_render. */
nb_status nb_render_water(const nb_render *job, const nb_request *request, nb_error *err);

/** Like nb_spots_render; job->plans: NB_SUMS_FIXED if fixed point applies, else
 * NB_SUMS_DOUBLE; result->bound: upper bound of the photons that a pixel lacks. */
nb_status nb_tiles_render(const nb_render *job, nb_spots_result *result, nb_error *err);

#endif
