/* SPDX-License-Identifier: MIT */
/** Which reflection the photons of an image belong to: every sample of a pixel belongs to its
 * nearest Miller index, as in the lattice sum, and a pixel's photons are divided as its samples
 * divide.  The image decides how many photons there are, so it may come from any renderer. */
#ifndef NB_TRUTH_REFLECTIONS_H
#define NB_TRUTH_REFLECTIONS_H

#include "../nanobragg.h"
#include "../physics/scene.h"

typedef struct nb_reflection_job {
    const nb_scene *scene;
    const float *image;         /* [spixels][fpixels], rendered from the scene */
    double minimum;             /* photons of the weakest reflection that is listed */
    double phi_first, phi_step; /* rad, of the scene's phi steps */
    int by_spots; /* samples may be left out (nb_tolerance.skip): crystals whose spots end are divided by reflections */
    int threads;  /* 0: all; the list does not depend on it */
    nb_isa isa; /* vectors of spots and background; SCALAR: none, so every step is looked at */
    const nb_hooks *hooks; /* progress is called by the calling thread only */
} nb_reflection_job;

/** List the reflections by h, k, l. All of nb_reflection but `excitation`, `d` and `frame` is
 * filled. Free *out with nb_reflections_free; it is zero on error. Errors: NB_ERR_NOMEM,
 * NB_ERR_CANCELLED. */
nb_status nb_reflections_find(const nb_reflection_job *job, nb_reflections *out,
                              nb_error *err);

#endif
