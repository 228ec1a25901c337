/* SPDX-License-Identifier: MIT */
/** Images from reflections on the device. */
#ifndef NB_CUDA_SPOTS_H
#define NB_CUDA_SPOTS_H

#include "../backend/state.h"

/** Result of a search for the brightest pixel, on the device at NB_SMALL_LOOK. */
typedef struct nb_cuda_look {
    /* bits of the photons as float << 32 | number of the pixel in the stack */
    unsigned long long key;
    unsigned long long sum; /* sum of all terms of the found pixel, as an integer */
    double photons;         /* photons of that sum */
} nb_cuda_look;

/** State of a pass on the device. */
typedef struct nb_cuda_spot_run {
    nb_backend_state *state;
    const nb_cuda_launch *launch;
    int64_t parts; /* number of parts of a pass, run one after the other */
    unsigned room; /* number of boxes that fit state->spot_boxes */
} nb_cuda_spot_run;

/** Prepare passes that take about `seconds` each. Errors: NB_ERR_DEVICE. */
nb_status nb_cuda_spot_run_of(nb_backend_state *state, const nb_plan *plan,
                              const nb_cuda_launch *launch, double seconds,
                              nb_cuda_spot_run *run, nb_error *err);

typedef struct nb_spot_pass nb_spot_pass;

/** An nb_spot_runner; context: an nb_cuda_spot_run. */
nb_status nb_cuda_run_spots(void *context, const nb_spot_pass *pass, double *brightest,
                            nb_error *err);

/** Copy the double at `from` on the device to *brightest. */
nb_status nb_cuda_fetch_brightest(const nb_cuda_spot_run *run, const void *from,
                                  double *brightest, nb_error *err);

/** Make the image from the integer sums of a pass, and set the sums to 0. */
void nb_cuda_launch_spot_image(const nb_cuda_launch *launch, const nb_spot_pass *pass,
                               float *image);

/** Reserve memory for sums and marks, which are all 0. Every image sets them to 0 again
 * at its end. */
nb_status nb_cuda_reserve_sums(nb_backend_state *state, nb_spot_pass *pass, nb_error *err);

/** True if an image from reflections or in blocks of rays failed because the device
 * memory was full. The memory of both paths is then freed, as calculating every step
 * needs less. */
int nb_cuda_spots_lack_room(nb_backend_state *state);

#endif
