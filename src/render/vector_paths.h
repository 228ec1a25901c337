/* SPDX-License-Identifier: MIT */
/** The ways to render on a CPU, and their shared code. */
#ifndef NB_RENDER_VECTOR_PATHS_H
#define NB_RENDER_VECTOR_PATHS_H

#include "../plan/path.h"
#include "simd.h"

/** The list, NULL-terminated. The last path renders everything. */
extern const nb_path *const nb_vector_paths[];

/** A render by the vector renderer. */
struct nb_render {
    const nb_scene *scene;
    const nb_plan *plan; /* plan of the request's part of the scene */
    const nb_request *request;
    const nb_planes *planes;
    nb_vector_plan *plans; /* one per panel; owned; NULL: the request has no pixels */
    nb_kernel_set kernels;
    int threads;
    const nb_hooks *hooks;
    /* kept from the last scene with several tables of F; may be NULL */
    nb_kept_squares *kept;
    nb_path_notes *notes;
    int always; /* for tests: steps are left out also where every step is quicker */
    /* for tests: factor of the pixels along a tile's edge; 0 means 1. The bytes stay the
     * same where no block is cut, that is, where 64 is a multiple of the oversampling */
    int edge;
};

/* --- steps.c: every step --- */
/** Reason, in a few words, why no vector kernel renders the scene; NULL if one may. */
const char *nb_vectors_refuse(const nb_plan *plan);
/** Reason, in a few words, why no vector kernel takes the table of F; NULL if one may. */
const char *nb_table_refuse(const nb_factor_table *table);
/** Seconds of an image at this number of seconds per step. */
double nb_steps_seconds(const nb_plan *plan, double step);
/** A path's run: every step of the pixels that are not dark. */
nb_status nb_steps_run(nb_render *render, nb_error *err);
/** Add the materials to the planes. */
nb_status nb_materials_add(nb_render *render, nb_error *err);

/* --- fixed.c --- */
/** True if fixed point holds the scene's terms. A path's applies and seconds. */
int nb_fixed_applies(const nb_plan *plan, const char **why);
double nb_fixed_seconds(const nb_plan *plan);
/** Reason, in a few words, why fixed point cannot hold the indices, `turns` of each, or
 * floats cannot hold a sum of `terms` terms of the largest F^2; NULL if they can. */
const char *nb_fixed_refuse(const nb_plan *plan, double turns, double terms);

/* --- simple.c --- */
/** True if each pixel has one step that floats hold. A path's applies. */
int nb_simple_applies(const nb_plan *plan, const char **why);

/* --- spots.c and tiles.c: images by tiles, which threads share out --- */
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
