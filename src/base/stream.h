/* SPDX-License-Identifier: MIT */
/** Conversion of doubles to floats that are not read again soon. */
#ifndef NB_BASE_STREAM_H
#define NB_BASE_STREAM_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* bytes above which an array does not fit in a cache */
#define NB_STREAM_BYTES 1.6e7

static inline void nb_floats(const double *restrict from, float *restrict to, int n)
{
    for (; n >= 8; n -= 8, from += 8, to += 8)
        for (int i = 0; i < 8; i++)
            to[i] = (float)from[i];
    for (int i = 0; i < n; i++)
        to[i] = (float)from[i];
}

/** nb_floats without use of the caches. Call nb_stream_end before another thread reads
 * the floats. */
static inline void nb_floats_streamed(const double *from, float *to, int n)
{
#ifdef __SSE2__
    for (; n > 0 && (uintptr_t)to % 16 != 0; n--)
        *to++ = (float)*from++;
    for (; n >= 4; n -= 4, from += 4, to += 4)
        _mm_stream_ps(to, _mm_movelh_ps(_mm_cvtpd_ps(_mm_loadu_pd(from)),
                                        _mm_cvtpd_ps(_mm_loadu_pd(from + 2))));
#endif
    nb_floats(from, to, n);
}

/** Store floats without use of the caches. */
static inline void nb_copy_streamed(const float *restrict from, float *restrict to, int n)
{
#ifdef __SSE2__
    for (; n > 0 && (uintptr_t)to % 16 != 0; n--)
        *to++ = *from++;
    for (; n >= 16; n -= 16, from += 16, to += 16)
        for (int i = 0; i < 16; i += 4)
            _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#endif
    memcpy(to, from, (size_t)n * sizeof *to);
}

static inline void nb_stream_end(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
