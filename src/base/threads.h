/* SPDX-License-Identifier: MIT */
/** Number of threads for a pass over an image. */
#ifndef NB_BASE_THREADS_H
#define NB_BASE_THREADS_H

#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/** More threads help nobody: a few times the processors. */
static inline int nb_most_threads(void)
{
#ifdef _OPENMP
    int few = 4 * omp_get_num_procs();
    return few > 64 ? few : 64;
#else
    return 64;
#endif
}

/** What is asked for, or OpenMP's number (OMP_NUM_THREADS; all processors) for 0; without a bound. */
static inline int nb_threads_asked(int asked)
{
#ifdef _OPENMP
    return asked > 0 ? asked : omp_get_max_threads();
#else
    return asked > 0 ? asked : 1;
#endif
}

/** `wanted`, if this thread can start so many now: OpenMP's library ends the program where it cannot.
 * Else half of what could be started, or 1.  The first call in a thread starts and joins them, 10 us
 * each. */
int nb_threads_there(int wanted);

/** Threads of a parallel loop. */
int nb_thread_count(int asked);

/** `asked` threads (0: all), but one for a small image. */
static inline int nb_image_threads(int asked, int64_t pixels)
{
    return pixels < 65536 ? 1 : nb_thread_count(asked);
}

#endif
