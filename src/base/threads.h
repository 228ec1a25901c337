/* SPDX-License-Identifier: MIT */
/** Number of threads for a pass over an image. */
#ifndef NB_BASE_THREADS_H
#define NB_BASE_THREADS_H

#include <stdint.h>

#include "../nanobragg.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/** Largest useful number of threads: a few times the processors. */
static inline int nb_max_threads(void)
{
#ifdef _OPENMP
    int few = 4 * omp_get_num_procs();
    return few > 64 ? few : 64;
#else
    return 64;
#endif
}

/** Number of threads that the user asked for, without a limit. asked 0: the number of
 * OpenMP (OMP_NUM_THREADS, or all processors). */
static inline int nb_threads_asked(int asked)
{
#ifdef _OPENMP
    return asked > 0 ? asked : omp_get_max_threads();
#else
    return asked > 0 ? asked : 1;
#endif
}

/** The number of this thread in its parallel region; 0 outside a region. */
static inline int nb_thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/** Returns `wanted` if this thread can start that many threads now; otherwise half of the
 * number that it could start, but at least 1. Without this test OpenMP's library would
 * end the program. The first call in a thread starts and joins the threads, 10 us
 * each. */
int nb_threads_there(int wanted);

/** Number of threads of a parallel loop: `asked` (0: all), up to the limits. */
int nb_thread_count(int asked);

/** Number of threads for an image: `asked` (0: all), or 1 for a small image. */
static inline int nb_image_threads(int asked, int64_t pixels)
{
    return pixels < 65536 ? 1 : nb_thread_count(asked);
}

/* --- Which vector instruction sets this processor and this build have --- */

/** True if kernels for isa can run here: the processor has the instructions, and the
 * operating system saves the registers. True for SCALAR, false for AUTO. */
int nb_cpu_runs(nb_isa isa);

/** Choose the instruction set for a request. AUTO gives the set in the environment
 * variable NANOBRAGG_ISA, or the widest that runs here (at least SCALAR). Errors:
 * NB_ERR_UNSUPPORTED if the set does not run here (*isa is then SCALAR), NB_ERR_INPUT if
 * the variable has another word. */
nb_status nb_cpu_choose(nb_isa asked, nb_isa *isa, nb_error *err);

/** Name as the option -isa spells it. */
const char *nb_isa_name(nb_isa isa);

/** Seconds of a monotonic clock. */
double nb_monotonic_seconds(void);

#endif
