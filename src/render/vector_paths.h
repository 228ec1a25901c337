/* SPDX-License-Identifier: MIT */
/** The ways to render on a CPU, and what they share. */
#ifndef NB_RENDER_VECTOR_PATHS_H
#define NB_RENDER_VECTOR_PATHS_H

#include "../plan/path.h"
#include "simd.h"

/** The list, NULL-terminated.  Its last renders everything. */
extern const nb_path *const nb_vector_paths[];

/** A render by the vector renderer. */
struct nb_render {
    const nb_scene *scene;
    const nb_plan *plan; /* of the request's part of the scene */
    const nb_request *request;
    const nb_planes *planes;
    nb_vector_plan *plans; /* of each panel; owned; NULL: the request has no pixels */
    nb_kernel_set kernels;
    int threads;
    const nb_hooks *hooks;
    nb_kept_squares *kept; /* of the last scene with several tables of F; NULL */
    nb_path_notes *notes;
    int always; /* for tests: steps are left out also where every step is quicker */
    int edge; /* for tests: of a tile, so many times its pixels; 0: 1.  The same bytes where its blocks are
                 not cut, 64 a multiple of the oversampling */
};

/* --- steps.c: every step --- */
/** Why no vector kernel renders the scene, in a few words; NULL: one may. */
const char *nb_vectors_refuse(const nb_plan *plan);
/** Why no vector kernel takes the table of F, in a few words; NULL: one may. */
const char *nb_table_refuse(const nb_factor_table *table);
/** Seconds of an image at so many seconds a step. */
double nb_steps_seconds(const nb_plan *plan, double step);
/** As a path's run: every step of the pixels that are not dark. */
nb_status nb_steps_run(nb_render *render, nb_error *err);
/** Add the materials to the planes. */
nb_status nb_materials_add(nb_render *render, nb_error *err);

/* --- fixed.c --- */
/** Does fixed point hold the scene's terms?  As a path's applies and seconds. */
int nb_fixed_applies(const nb_plan *plan, const char **why);
double nb_fixed_seconds(const nb_plan *plan);
/** Why fixed point cannot hold the indices, `turns` of each, or floats a sum of so many terms of the
 * largest F^2, in a few words; NULL: they can. */
const char *nb_fixed_refuse(const nb_plan *plan, double turns, double terms);

/* --- simple.c --- */
/** Has each pixel one step that floats hold?  As a path's applies. */
int nb_simple_applies(const nb_plan *plan, const char **why);

#endif
