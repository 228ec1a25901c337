/* SPDX-License-Identifier: MIT */
/** Host threads for the CUDA backend: compiled as C, where the OpenMP flags are. */
#ifndef NB_CUDA_PARALLEL_H
#define NB_CUDA_PARALLEL_H

#ifdef __cplusplus
extern "C" {
#endif

/** Threads that OpenMP would use. */
int nb_cuda_thread_limit(void);

/** Run work(context, 0..n-1, n) on n <= threads threads at once. */
void nb_cuda_parallel(int threads, void (*work)(void *context, int thread, int threads),
                      void *context);

#ifdef __cplusplus
}
#endif
#endif
