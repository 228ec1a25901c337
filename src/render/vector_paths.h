/* SPDX-License-Identifier: MIT */
/** The ways to render on a CPU. */
#ifndef NB_RENDER_VECTOR_PATHS_H
#define NB_RENDER_VECTOR_PATHS_H

#include "../plan/path.h"

typedef enum nb_vector_path {
    NB_VECTOR_SIMPLE, /* fixed point, one ray a pixel, one step a ray: kernel_simple.h */
    NB_VECTOR_FIXED,  /* fixed point: kernel_fixed.h */
    NB_VECTOR_SPOTS,  /* from reflections to pixels: spots.h */
    NB_VECTOR_TILES,  /* from blocks of rays to the steps that matter: tiles.h */
    NB_VECTOR_DOUBLE, /* every shape and option: kernel_double.h */
    NB_VECTOR_REFERENCE, /* src/physics, a pixel at a time: scalar.c */
    NB_VECTOR_PATHS
} nb_vector_path;

extern const nb_path nb_vector_paths[NB_VECTOR_PATHS];

/** *why: why it is the reference, if it is. */
nb_vector_path nb_vector_choose(const nb_plan *plan, const char **why);

/** Why the steps that the tolerance allows are not left out, in a few words; NULL: NB_VECTOR_SPOTS or
 * NB_VECTOR_TILES applies. */
const char *nb_vector_refuses_tolerance(const nb_plan *plan);

/** Does fixed point hold the scene's terms? */
int nb_vector_fixed_holds(const nb_plan *plan);

/** How the fixed-point kernel gets an axis' interference function. */
typedef enum nb_fixed_mode {
    NB_FIXED_INDEX,   /* a ratio of sines, the index in steps of 2^-32 */
    NB_FIXED_FRINGES, /* many cells: N h in steps of 2^-32 too */
    NB_FIXED_REAL,    /* as INDEX, N not whole */
    NB_FIXED_MODES
} nb_fixed_mode;
nb_fixed_mode nb_vector_mode(const nb_plan *plan);

/** Why fixed point cannot hold the indices, `turns` of each, or floats a sum of so many terms of the
 * largest F^2, in a few words; NULL: they can. */
const char *nb_fixed_refuse(const nb_plan *plan, double turns, double terms);

enum { NB_VECTOR_SUM_RUN = 32 }; /* float terms added before they go to a double */

#endif
