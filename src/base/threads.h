/* SPDX-License-Identifier: MIT */
/** Number of threads for a pass over an image. */
#ifndef NB_BASE_THREADS_H
#define NB_BASE_THREADS_H

#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/** `asked` threads (0: all), but one for a small image. */
static inline int nb_image_threads(int asked, int64_t pixels)
{
#ifdef _OPENMP
    if (pixels < 65536)
        return 1;
    return asked > 0 ? asked : omp_get_max_threads();
#else
    (void)asked;
    (void)pixels;
    return 1;
#endif
}

#endif
