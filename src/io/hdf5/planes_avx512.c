/* SPDX-License-Identifier: MIT */
#include <immintrin.h>
#include <string.h>

#include "planes.h"

/** The eight bit planes of 64 bytes. */
static void put_planes(__m512i v, unsigned char *out, size_t row)
{
    for (int bit = 0; bit < 8; bit++) {
        const uint64_t plane =
            _mm512_test_epi8_mask(v, _mm512_set1_epi8((char)(1 << bit)));
        memcpy(out + (size_t)bit * row, &plane, sizeof plane);
    }
}

/** The bytes of two vectors of words, packed, in their order. */
static __m512i pack(__m512i a, __m512i b)
{
    const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    return _mm512_permutexvar_epi64(order, _mm512_packus_epi16(a, b));
}

size_t nb_shuffle_u16_avx512(const unsigned char *in, size_t count, unsigned char *out)
{
    const __m512i low = _mm512_set1_epi16(0xff);
    const size_t row = count / 8;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i a = _mm512_loadu_si512(in + 2 * i),
                      b = _mm512_loadu_si512(in + 2 * i + 64);
        put_planes(pack(_mm512_and_si512(a, low), _mm512_and_si512(b, low)), out + i / 8,
                   row);
        put_planes(pack(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8)),
                   out + 8 * row + i / 8, row);
    }
    return i;
}
