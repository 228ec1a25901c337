/* SPDX-License-Identifier: MIT */
/** Images from reflections (spot_work.h): tables in one piece of memory, and the sequence
 * of passes. Plain C without a device: the runner of a pass provides the arithmetic. */
#ifndef NB_CUDA_SPOT_SETUP_H
#define NB_CUDA_SPOT_SETUP_H

#include "spot_work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nb_spot_setup {
    nb_scene whole; /* without mask and region of interest */
    nb_spots spots;
    /* addresses are in `tables`; those of the scene's arrays are in host memory */
    nb_spot_pass pass;
    void *tables;                /* owned */
    size_t bytes;                /* size of `tables` */
    const nb_region *everything; /* whole regions of the panels, in the tables */
    double rounding;             /* largest error of a pixel by whole units, photons */
    nb_tolerance tolerance;
} nb_spot_setup;

/** plan->scene: with the wanted region and without mask; it must outlive the setup.
 * Errors: NB_ERR_NOMEM; the setup is then freed. */
nb_status nb_spot_setup_build(const nb_plan *plan, nb_spot_setup *setup, nb_error *err);
void nb_spot_setup_free(nb_spot_setup *setup);

/** Let the pass refer to a copy of the tables, and to a copy of the scene's arrays. */
void nb_spot_setup_move(nb_spot_setup *setup, const void *tables, const nb_scene *scene);

/** Sum the terms of a pass. brightest: find only the brightest pixel, photons; NULL: make
 * the image. */
typedef nb_status nb_spot_runner(void *context, const nb_spot_pass *pass,
                                 double *brightest, nb_error *err);

/** Lower bound of the brightest pixel of the whole detector, by the first `tries` of
 * nb_spots_try; 0 if no pixel is found. */
nb_status nb_spot_setup_brightest(nb_spot_setup *setup, int tries, nb_spot_runner *run,
                                  void *context, double *brightest, nb_error *err);

/** True if whole units are fine enough for a bound. */
int nb_spot_setup_suffices(const nb_spot_setup *setup, const nb_spots_result *result);

/** Part of a bound, in photons, that the error by whole units takes. 0 if the bound is
 * too small to share: the error is then below the rounding of the brightest pixel. */
double nb_spot_setup_share(const nb_spot_setup *setup, double bound);

/** Make the image, or refuse.  Errors: those of `run`. */
nb_status nb_spot_setup_render(nb_spot_setup *setup, nb_spot_runner *run, void *context,
                               nb_spots_result *result, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
