/* SPDX-License-Identifier: MIT */
/** The paths (ways to render) of a CPU, and functions that they share. */
#ifndef NB_RENDER_VECTOR_PATHS_H
#define NB_RENDER_VECTOR_PATHS_H

#include "../plan/path.h"
#include "simd.h"

/** All paths, NULL-terminated. The last path renders everything. */
extern const nb_path *const nb_vector_paths[];

/** A render by the vector renderer. */
struct nb_render {
    const nb_scene *scene;
    const nb_plan *plan; /* plan of the part of the scene that the request needs */
    const nb_request *request;
    const nb_planes *planes;
    nb_vector_plan *plans; /* one per panel; owned; NULL: the request has no pixels */
    nb_kernel_set kernels;
    int threads;
    const nb_hooks *hooks;
    /* kept from the last scene with several tables of F; may be NULL */
    nb_kept_squares *kept;
    nb_path_notes *notes;
    int always; /* for tests: leave out steps even if every step is quicker */
    /* for tests: factor of the pixels along a tile's edge; 0 means 1. It changes no byte
     * if no block is cut, that is, if 64 is a multiple of the oversampling */
    int edge;
};

/* --- steps.c: every step --- */
/** Reason, in a few words, why no vector kernel renders the scene; NULL if one may. */
const char *nb_vectors_refuse(const nb_plan *plan);
/** Reason, in a few words, why no vector kernel takes the table of F; NULL if one may. */
const char *nb_table_refuse(const nb_factor_table *table);
/** Estimated seconds of an image whose steps take `step` seconds each on one core. */
double nb_steps_seconds(const nb_plan *plan, double step);
/** The function `run` of a path: calculate every step of the pixels that are not dark. */
nb_status nb_steps_run(nb_render *render, nb_error *err);

/* --- fixed.c --- */
/** The functions `applies` and `seconds` of a path in fixed point. */
int nb_fixed_applies(const nb_plan *plan, const char **why);
double nb_fixed_seconds(const nb_plan *plan);
/** Reason, in a few words, why fixed point cannot hold indices times `turns`, or floats
 * cannot hold a sum of `terms` terms of the largest F^2; otherwise NULL. */
const char *nb_fixed_refuse(const nb_plan *plan, double turns, double terms);

/* --- simple.c --- */
/** The function `applies` of a path: true if each pixel has one step, which floats hold. */
int nb_simple_applies(const nb_plan *plan, const char **why);

/* --- spots.c and tiles.c: images by tiles, which are distributed to threads --- */
/** Fill the planes completely, or refuse. job->plans:
 * NB_SUMS_DOUBLE. The bytes do not depend on threads or on the rendered part. Errors:
 * NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_spots_render(const nb_render *job, nb_spots_result *result, nb_error *err);

/** Search a bright pixel of the whole detector with up to `tries` tries (nb_spots_try).
 * Its photons are a lower bound of the brightest pixel's; 0 if no pixel is found. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_spots_brightest(const nb_render *job, int tries, nb_bright *brightest,
                             nb_error *err);

/** Set the pixels of a request to 0. Errors: as nb_render_rows. */
nb_status nb_clear_planes(const nb_render *job, const nb_request *request, nb_error *err);

/** Like nb_spots_render; job->plans: NB_SUMS_FIXED if fixed point applies, else
 * NB_SUMS_DOUBLE; result->bound: upper bound of the photons left out of a pixel. */
nb_status nb_tiles_render(const nb_render *job, nb_spots_result *result, nb_error *err);

#endif
