/* SPDX-License-Identifier: MIT */
/* Bit planes: every instruction set makes the bytes of the definition. */
#include "../support/check.h"

#include "base/threads.h"
#include "io/hdf5/hdf5_chunk.h"

enum { MAX_COUNT = 4096, GUARD = 0x5a };

static const nb_isa sets[] = {NB_ISA_SCALAR, NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512,
                              NB_ISA_AUTO};

/** Checks that bit j of value i is bit i % 8 of byte i / 8 of plane j. */
static void check_planes(const uint16_t *values, size_t count, const unsigned char *planes)
{
    const size_t row = count / 8;
    for (size_t j = 0; j < 16; j++)
        for (size_t i = 0; i < count; i++)
            assert_int_equal(planes[j * row + i / 8] >> (i % 8) & 1, values[i] >> j & 1);
}

UNIT_TEST(planes_are_those_of_the_definition)
{
    static const size_t counts[] = {8, 16, 24, 40, 64, 72, 120, 1000, MAX_COUNT};
    uint16_t values[MAX_COUNT];
    unsigned char planes[2 * MAX_COUNT + 1];
    uint32_t word = 1;
    for (size_t i = 0; i < MAX_COUNT; i++) {
        word = word * 1664525u + 1013904223u;
        values[i] = (uint16_t)(word >> 13);
    }
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            memset(planes, GUARD, sizeof planes);
            nb_bitshuffle(values, counts[c], 2, nb_shuffle_u16_of(sets[k]), planes);
            check_planes(values, counts[c], planes);
            assert_int_equal(planes[2 * counts[c]], GUARD);
        }
}

/** Chunks of frames of any size are decoded to the same frames; a shortened chunk is
 * refused. */
UNIT_TEST(chunks_are_decoded)
{
    enum { EDGE = 100, PIXELS = EDGE * EDGE };
    static const int edges[] = {1, 2, 3, 33, 64, EDGE};
    static unsigned char pixels[4 * PIXELS], again[4 * PIXELS], scratch[4 * PIXELS],
        chunk[8 * PIXELS];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * i % 251);
    for (size_t k = 0; k < 2 * sizeof edges / sizeof *edges; k++) {
        const nb_hdf5_layout layout = {edges[k / 2],
                                       edges[k / 2],
                                       k % 2 ? NB_HDF5_I32 : NB_HDF5_U16,
                                       NB_COMPRESS_BSLZ4,
                                       0,
                                       NB_ISA_AUTO};
        const size_t value = nb_hdf5_pixel_bytes(&layout);
        size_t bytes;
        if (nb_hdf5_chunk_encode(&layout, pixels, scratch, chunk, &bytes, NULL))
            skip(); /* a build without LZ4 */
        assert_int_equal(nb_bslz4_bytes(chunk, bytes, value),
                         nb_hdf5_frame_bytes(&layout));
        assert_true(nb_bslz4_decode(chunk, bytes, value, again));
        assert_memory_equal(again, pixels, nb_hdf5_frame_bytes(&layout));
        assert_false(nb_bslz4_decode(chunk, bytes - 1, value, again));
    }
}
