/* SPDX-License-Identifier: MIT */
/** Images from reflections (spot_work.h): tables in one piece of memory, and the order of
 * passes. Plain C without a device: a caller's nb_spot_runner does the arithmetic. */
#ifndef NB_CUDA_SPOT_SETUP_H
#define NB_CUDA_SPOT_SETUP_H

#include "spot_work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nb_spot_setup {
    nb_scene whole; /* the scene without mask and region of interest */
    nb_spots spots;
    /* points into `tables`; the arrays of its scene are in host memory */
    nb_spot_pass pass;
    void *tables;                /* owned */
    size_t bytes;                /* size of `tables` */
    const nb_region *everything; /* in `tables`: regions that are whole panels */
    double rounding;             /* largest error of a pixel by integer sums, photons */
    nb_tolerance tolerance;
} nb_spot_setup;

/** Build a setup. plan->scene has the wanted region and no mask, and must outlive the
 * setup. Errors: NB_ERR_NOMEM; the setup is then freed. */
nb_status nb_spot_setup_build(const nb_plan *plan, nb_spot_setup *setup, nb_error *err);
void nb_spot_setup_free(nb_spot_setup *setup);

/** Let the pass point to a copy of the tables, and to `scene` with copies of the arrays. */
void nb_spot_setup_move(nb_spot_setup *setup, const void *tables, const nb_scene *scene);

/** Sum the terms of a pass. If brightest is NULL, make the image; otherwise only set
 * *brightest to the photons of the brightest pixel. */
typedef nb_status nb_spot_runner(void *context, const nb_spot_pass *pass,
                                 double *brightest, nb_error *err);

/** Lower bound of the brightest pixel of the whole detector, by the first `tries` of
 * nb_spots_try; 0 if no pixel is found. */
nb_status nb_spot_setup_brightest(nb_spot_setup *setup, int tries, nb_spot_runner *run,
                                  void *context, double *brightest, nb_error *err);

/** True if integer sums are accurate enough for result->bound. */
int nb_spot_setup_suffices(const nb_spot_setup *setup, const nb_spots_result *result);

/** Part of a bound, in photons, that is reserved for the error of integer sums. It is 0
 * if the bound is too small for this; the error is then below the rounding of the
 * brightest pixel. */
double nb_spot_setup_share(const nb_spot_setup *setup, double bound);

/** Make the image, or set result->refused. Errors: those of `run`. */
nb_status nb_spot_setup_render(nb_spot_setup *setup, nb_spot_runner *run, void *context,
                               nb_spots_result *result, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
