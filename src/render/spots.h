/* SPDX-License-Identifier: MIT */
/** Pictures from their reflections (../plan/spots.h): tiles shared out over threads. */
#ifndef NB_RENDER_SPOTS_H
#define NB_RENDER_SPOTS_H

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

#endif
