/* SPDX-License-Identifier: MIT */
/** The reflections of an image. Every sample of a pixel belongs to its nearest Miller index, as in
 * the lattice sum. The photons of a pixel are divided in proportion to its samples. The number of
 * photons is that of the image, which may come from any renderer. */
#ifndef NB_TRUTH_REFLECTIONS_H
#define NB_TRUTH_REFLECTIONS_H

#include "../image/mix.h"
#include "../nanobragg.h"
#include "../physics/scene.h"

/** What a footprint does to the light of a scene.  The scene of the job has the pixels that light comes from, and its image
 * is that of the crystal alone, times `parts`. */
typedef struct nb_reflection_spread {
    const nb_scene *seen; /* the scene of the spread image */
    const float *parts; /* of a pixel's light that count, instead of the mix's factors */
} nb_reflection_spread;

typedef struct nb_reflection_job {
    const nb_scene *scene;
    const float *image; /* [spixels][fpixels], rendered from the scene; NULL: it is made by `render` where it is needed */
    /** Makes the image. Crystals whose spots end need none: the photons are those of their samples. */
    nb_status (*render)(void *user, float *image, nb_error *err);
    void *user;
    const nb_mix *mix;          /* of the image */
    double minimum;             /* photons of the weakest reflection that is listed */
    double phi_first, phi_step; /* rad, of the scene's phi steps */
    int by_spots; /* samples may be left out (nb_tolerance.skip): crystals whose spots end are divided by reflections */
    int threads;  /* threads, 0: all; the list does not depend on it */
    nb_isa isa; /* instruction set for spots and background; SCALAR: none, so every step is calculated */
    const nb_hooks *hooks;              /* only the calling thread calls progress */
    const nb_reflection_spread *spread; /* NULL: no footprint */
} nb_reflection_job;

/** List the reflections by h, k, l. All of nb_reflection but `excitation`, `d` and `frame`, and `off_panels`, is
 * filled. Free *out with nb_reflections_free; it is zero after an error. Errors: NB_ERR_NOMEM,
 * NB_ERR_CANCELLED. */
nb_status nb_reflections_find(const nb_reflection_job *job, nb_reflections *out,
                              nb_error *err);

#endif
