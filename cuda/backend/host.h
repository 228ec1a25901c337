/* SPDX-License-Identifier: MIT */
/** The interface of the CUDA backend for plain C: texts, calls for checks and benchmarks,
 * threads of the host. */
#ifndef NB_CUDA_HOST_H
#define NB_CUDA_HOST_H

#ifdef __cplusplus
extern "C" {
#endif

#include "../../src/plan/spots.h"
#include "../../src/render/backend.h"

/* --- Texts that exist in builds with and without nvcc --- */

extern const char *const nb_cuda_words[];
extern const nb_feature nb_cuda_feature;
int nb_cuda_parse(const char *word, nb_device *device);

/* --- Calls only for checks and benchmarks of this backend --- */

extern const nb_backend nb_backend_cuda;

/** Time on the device between the first and the last kernel of the last render, seconds;
 * NaN if no kernel ran. The time excludes tables of steps and transfers. */
double nb_cuda_kernel_seconds(const nb_backend_state *state);

/** Light that was left out of the last image, or the reason why all terms were rendered. */
const nb_spots_result *nb_cuda_left(const nb_backend_state *state);

/** Keep the device busy for this time, so that work queued in the meantime runs without
 * gaps for launches. */
void nb_cuda_hold(const nb_backend_state *state, double seconds);

/** Reserve memory that the device writes directly; NULL if this fails. */
void *nb_cuda_pinned(size_t bytes);
void nb_cuda_pinned_free(void *memory); /* NULL is allowed */

/** Take all memory of the device except about this number of bytes; NULL if less is free. */
void *nb_cuda_take_all_but(const nb_backend_state *state, size_t bytes);
void nb_cuda_give_back(void *memory); /* NULL is allowed */

/* --- Threads of the host, in files that are compiled as C, because only its flags
 * include OpenMP --- */

/** Number of threads that OpenMP would use. */
int nb_cuda_thread_limit(void);

/** Run work(context, 0..n-1, n) on n <= threads threads at once. */
void nb_cuda_parallel(int threads, void (*work)(void *context, int thread, int threads),
                      void *context);

#ifdef __cplusplus
}
#endif

#endif
