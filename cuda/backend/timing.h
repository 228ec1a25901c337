/* SPDX-License-Identifier: MIT */
/** For checks and benchmarks of this backend alone. */
#ifndef NB_CUDA_TIMING_H
#define NB_CUDA_TIMING_H

#include "../../src/plan/spots.h"
#include "../../src/render/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const nb_backend nb_backend_cuda;

/** Time on the device between the first and the last kernel of the last render,
 * seconds; NaN when there was none.  Tables of steps and transfers are not in it. */
double nb_cuda_kernel_seconds(const nb_backend_state *state);

/** Text: what was left out of the last image, or the reason why nothing was. */
const nb_spots_result *nb_cuda_left(const nb_backend_state *state);

/** Keep the device busy for this time, so that work queued meanwhile runs without gaps for
 * launches. */
void nb_cuda_hold(const nb_backend_state *state, double seconds);

/** Memory that the device writes directly; NULL if there is none. */
void *nb_cuda_pinned(size_t bytes);
void nb_cuda_pinned_free(void *memory); /* NULL is fine */

/** Take all memory of the device except about this number of bytes; NULL if less is free. */
void *nb_cuda_take_all_but(const nb_backend_state *state, size_t bytes);
void nb_cuda_give_back(void *memory); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
