/* SPDX-License-Identifier: MIT */
/** The CUDA backend as plain C sees it: its texts, its entry with calls for checks and benchmarks, threads of the host. */
#ifndef NB_CUDA_HOST_H
#define NB_CUDA_HOST_H

#ifdef __cplusplus
extern "C" {
#endif

#include "../../src/plan/spots.h"
#include "../../src/render/backend.h"

/* --- Texts, with nvcc and without --- */

extern const char *const nb_cuda_words[];
extern const nb_feature nb_cuda_feature;
int nb_cuda_parse(const char *word, nb_device *device);

/* --- For checks and benchmarks of this backend alone --- */

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

/* --- Threads of the host: compiled as C, where the OpenMP flags are --- */

/** Threads that OpenMP would use. */
int nb_cuda_thread_limit(void);

/** Run work(context, 0..n-1, n) on n <= threads threads at once. */
void nb_cuda_parallel(int threads, void (*work)(void *context, int thread, int threads),
                      void *context);

#ifdef __cplusplus
}
#endif

#endif
