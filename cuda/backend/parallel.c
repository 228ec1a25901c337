/* SPDX-License-Identifier: MIT */
#include "parallel.h"

#include "../../src/base/threads.h"

int nb_cuda_thread_limit(void)
{
    return nb_thread_count(0);
}

void nb_cuda_parallel(int threads, void (*work)(void *context, int thread, int threads),
                      void *context)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    work(context, omp_get_thread_num(), omp_get_num_threads());
#else
    (void)threads;
    work(context, 0, 1);
#endif
}
