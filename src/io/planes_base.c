/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "planes.h"

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
static size_t shuffle_u16(const unsigned char *in, size_t count, unsigned char *out)
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

enum { SOME = 16 }; /* bytes that are compared at a time */

static uint64_t same_some(const unsigned char *a, const unsigned char *b)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)a),
                  y = _mm_loadu_si128((const __m128i *)(const void *)b);
    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
}
#else
static size_t shuffle_u16(const unsigned char *in, size_t count, unsigned char *out)
{
    (void)in;
    (void)count;
    (void)out;
    return 0;
}

enum { SOME = 8 };

/** Bytes of 0x80 where those of a and b are equal; then these bits side by side. */
static uint64_t same_some(const unsigned char *a, const unsigned char *b)
{
    const uint64_t sevens = 0x7f7f7f7f7f7f7f7fu;
    uint64_t x = 0, y = 0;
    for (int i = 0; i < SOME; i++) { /* one load, where the lowest byte is the first */
        x |= (uint64_t)a[i] << (8 * i);
        y |= (uint64_t)b[i] << (8 * i);
    }
    x ^= y;
    x = ~(((x & sevens) + sevens) | x | sevens);
    return (x >> 7) * 0x0102040810204080u >> 56;
}
#endif

static void same(const unsigned char *a, const unsigned char *b, size_t words,
                 uint64_t *bits)
{
    for (size_t w = 0; w < words; w++) {
        bits[w] = 0;
        for (size_t i = 0; i < 64; i += SOME)
            bits[w] |= same_some(a + 64 * w + i, b + 64 * w + i) << i;
    }
}

const nb_plane_kernels nb_plane_kernels_base = {shuffle_u16, same};
