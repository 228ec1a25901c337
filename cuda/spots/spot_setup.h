/* SPDX-License-Identifier: MIT */
/** Pictures from reflections (spot_work.h): tables in one piece, and the passes from start to end.  Plain
 * C, for it needs no device: whoever runs a pass gives the arithmetic. */
#ifndef NB_CUDA_SPOT_SETUP_H
#define NB_CUDA_SPOT_SETUP_H

#include "spot_work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nb_spot_setup {
    nb_scene whole; /* without mask and region of interest */
    nb_spots spots;
    nb_spot_pass pass; /* addresses are in `tables`, of the scene's arrays the host's */
    void *tables;      /* owned */
    size_t bytes;      /* of them */
    const nb_region *everything; /* of the panels, in the tables */
    double rounding; /* photons that whole units may be wrong by in a pixel, at most */
    nb_tolerance may;
} nb_spot_setup;

/** plan->scene: with the region that is wanted and no mask; it must outlive the setup.  Errors:
 * NB_ERR_NOMEM; then the setup is freed. */
nb_status nb_spot_setup_build(const nb_plan *plan, nb_spot_setup *setup, nb_error *err);
void nb_spot_setup_free(nb_spot_setup *setup);

/** Let the pass refer to a copy of the tables, and to a copy of the scene's arrays. */
void nb_spot_setup_move(nb_spot_setup *setup, const void *tables, const nb_scene *scene);

/** Sum the terms of a pass.  brightest: only find the brightest pixel, photons; NULL: make the image. */
typedef nb_status nb_spot_runner(void *context, const nb_spot_pass *pass,
                                 double *brightest, nb_error *err);

/** A pixel that is no brighter than the brightest of the whole detector, by the first `tries` of nb_spots_try; 0:
 * none was found. */
nb_status nb_spot_setup_brightest(nb_spot_setup *setup, int tries, nb_spot_runner *run,
                                  void *context, double *brightest, nb_error *err);

/** Are whole units fine enough for a bound? */
int nb_spot_setup_suffices(const nb_spot_setup *setup, const nb_spots_result *result);

/** Photons of a bound that whole units take up; 0 where it is too small to share: then they are lost in the
 * brightest pixel's rounding. */
double nb_spot_setup_lost(const nb_spot_setup *setup, double bound);

/** Make the image, or refuse.  Errors: those of `run`. */
nb_status nb_spot_setup_render(nb_spot_setup *setup, nb_spot_runner *run, void *context,
                               nb_spots_result *result, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
