/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hdf5_chunk.h"

size_t nb_bitshuffle_block(size_t value_bytes)
{
    return 8192 / value_bytes / 8 * 8;
}

/** Transpose an 8 x 8 matrix of bits; byte i is row i (Warren, Hacker's Delight 7-3). */
static uint64_t transpose_8x8(uint64_t x)
{
    uint64_t t;
    t = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000ccccu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
    return x ^ t ^ t << 28;
}

/** Byte `byte` of eight consecutive values, the first in the lowest byte. */
static uint64_t gather(const unsigned char *in, size_t value_bytes, size_t byte)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--)
        x = x << 8 | in[(size_t)i * value_bytes + byte];
    return x;
}

static void shuffle_some(const unsigned char *in, size_t first, size_t count,
                         size_t value_bytes, unsigned char *out)
{
    size_t row = count / 8; /* bytes of one bit plane */
    for (size_t i = first; i < count; i += 8)
        for (size_t byte = 0; byte < value_bytes; byte++) {
            uint64_t x = transpose_8x8(gather(in + i * value_bytes, value_bytes, byte));
            for (size_t bit = 0; bit < 8; bit++)
                out[(byte * 8 + bit) * row + i / 8] = (unsigned char)(x >> (8 * bit));
        }
}

void nb_bitshuffle(const void *in, size_t count, size_t value_bytes,
                   nb_shuffle_u16 *shuffle, void *out)
{
    size_t done = value_bytes == 2 ? shuffle(in, count, out) : 0;
    shuffle_some(in, done, count, value_bytes, out);
}

void nb_bitunshuffle(const void *in, size_t count, size_t value_bytes, void *out)
{
    const unsigned char *planes = in;
    unsigned char *values = out;
    size_t row = count / 8;
    for (size_t i = 0; i < count; i += 8)
        for (size_t byte = 0; byte < value_bytes; byte++) {
            uint64_t x = 0;
            for (size_t bit = 8; bit-- > 0;)
                x = x << 8 | planes[(byte * 8 + bit) * row + i / 8];
            x = transpose_8x8(x);
            for (size_t j = 0; j < 8; j++)
                values[(i + j) * value_bytes + byte] = (unsigned char)(x >> (8 * j));
        }
}
