/* SPDX-License-Identifier: MIT */
#include <immintrin.h>
#include <string.h>

#include "hdf5_chunk.h"

/** Write the bit planes of 32 bytes: movemask collects bit 7 of each byte, and v + v
 * moves the other bits up. */
static void put_planes(__m256i v, unsigned char *out, size_t row)
{
    for (int bit = 7; bit >= 0; bit--, v = _mm256_add_epi8(v, v)) {
        const uint32_t plane = (uint32_t)_mm256_movemask_epi8(v);
        memcpy(out + (size_t)bit * row, &plane, sizeof plane);
    }
}

/** Pack the words of two vectors, all below 256, into bytes in the same order. */
static __m256i pack(__m256i a, __m256i b)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8);
}

size_t nb_shuffle_u16_avx2(const unsigned char *in, size_t count, unsigned char *out)
{
    const __m256i low = _mm256_set1_epi16(0xff);
    const size_t row = count / 8;
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i *from = (const __m256i *)(const void *)(in + 2 * i);
        const __m256i a = _mm256_loadu_si256(from), b = _mm256_loadu_si256(from + 1);
        put_planes(pack(_mm256_and_si256(a, low), _mm256_and_si256(b, low)), out + i / 8,
                   row);
        put_planes(pack(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)),
                   out + 8 * row + i / 8, row);
    }
    return i;
}
