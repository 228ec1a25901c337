/* SPDX-License-Identifier: MIT */
#include "hdf5_chunk.h"

#include <string.h>

#include "../../base/threads.h"

/* Compiled with baseline flags, as it must run on every processor of the architecture. */

static size_t no_values(const unsigned char *in, size_t count, unsigned char *out)
{
    (void)in;
    (void)count;
    (void)out;
    return 0;
}

nb_shuffle_u16 *nb_shuffle_u16_of(nb_isa isa)
{
    if (isa == NB_ISA_SCALAR)
        return no_values;
#ifdef __x86_64__
    if (isa != NB_ISA_SSE2 && nb_cpu_runs(NB_ISA_AVX2))
        return nb_shuffle_u16_avx2;
#endif
#ifdef __SSE2__
    return nb_shuffle_u16_base;
#else
    return no_values;
#endif
}

#ifdef __SSE2__
#include <emmintrin.h>

/** The bit planes of sixteen bytes: the sign bit of each is bit 7 of its byte. */
static void put_planes(__m128i v, unsigned char *out, size_t row)
{
    for (int bit = 7; bit >= 0; bit--) {
        int plane = _mm_movemask_epi8(v);
        uint16_t two = (uint16_t)plane;
        memcpy(out + (size_t)bit * row, &two, sizeof two);
        v = _mm_add_epi8(v, v);
    }
}

/** Sixteen values at a time. */
size_t nb_shuffle_u16_base(const unsigned char *in, size_t count, unsigned char *out)
{
    const __m128i low = _mm_set1_epi16(0xff);
    size_t row = count / 8, i;
    for (i = 0; i + 16 <= count; i += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(in + 2 * i));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(in + 2 * i + 16));
        put_planes(_mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)),
                   out + i / 8, row);
        put_planes(_mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)),
                   out + 8 * row + i / 8, row);
    }
    return i;
}
#endif
