/* SPDX-License-Identifier: MIT */
/** Pictures from their reflections (../plan/spots.h): tiles shared out over threads. */
#ifndef NB_RENDER_SPOTS_H
#define NB_RENDER_SPOTS_H

#include "kernel.h"
#include "spot_tile.h"
#include "tile_rows.h"

typedef struct nb_spots_job {
    const nb_scene *scene;
    const nb_plan *plan; /* of the request's part of the scene */
    const nb_request *request;
    const nb_planes *planes;
    const nb_vector_plan *plans; /* of each panel, for NB_VECTOR_SPOTS */
    nb_row_kernel *row;
    nb_spot_kernel *kernel;
    int threads;
    const nb_hooks *hooks;
} nb_spots_job;

/** Fill the planes whole, or refuse.  Bytes do not depend on threads or on the part that is rendered.
 * Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_spots_render(const nb_spots_job *job, nb_spots_result *result, nb_error *err);

/** A pixel that is no brighter than the brightest of the whole detector, by up to so many tries
 * (nb_spots_try).  0 photons: none is found.  Errors: NB_ERR_NOMEM. */
nb_status nb_spots_brightest(const nb_spots_job *job, int tries, nb_bright *brightest,
                             nb_error *err);

/** What is there without the crystal.  Errors: as nb_spots_render. */
nb_status nb_render_water(const nb_spots_job *job, const nb_request *request,
                          nb_error *err);

#endif
