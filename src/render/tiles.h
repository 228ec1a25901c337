/* SPDX-License-Identifier: MIT */
/** Pictures by tiles, which threads share out: from their reflections (../plan/spots.h), and from the steps that matter
 * to each block of rays (../plan/tiles.h). */
#ifndef NB_RENDER_TILES_H
#define NB_RENDER_TILES_H

#include "tile_rows.h"
#include "vector_paths.h"

/** Fill the planes whole but for materials, or refuse.  job->plans: NB_SUMS_DOUBLE.  Bytes do not depend on threads or on the part that is rendered.
 * Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_spots_render(const nb_render *job, nb_spots_result *result, nb_error *err);

/** A pixel that is no brighter than the brightest of the whole detector, by up to so many tries
 * (nb_spots_try).  0 photons: none is found.  Errors: NB_ERR_NOMEM. */
nb_status nb_spots_brightest(const nb_render *job, int tries, nb_bright *brightest,
                             nb_error *err);

/** What is there without the crystal.  Errors: as nb_spots_render. */
nb_status nb_render_water(const nb_render *job, const nb_request *request, nb_error *err);

/** As nb_spots_render; job->plans: NB_SUMS_FIXED if fixed point applies, else NB_SUMS_DOUBLE; result->bound: photons that a pixel lacks at most. */
nb_status nb_tiles_render(const nb_render *job, nb_spots_result *result, nb_error *err);

#endif
