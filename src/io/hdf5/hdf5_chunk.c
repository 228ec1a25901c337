/* SPDX-License-Identifier: MIT */
#include "hdf5_chunk.h"

#include <libdeflate.h>
#include <lz4.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/threads.h"

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

/** Gather byte `byte` of eight consecutive values, the first in the lowest byte. */
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

/** Shuffle 4-byte values: bit planes of the lower halves, then of the upper halves. */
static size_t shuffle_halves(const unsigned char *in, size_t count,
                             nb_shuffle_u16 *shuffle, unsigned char *out)
{
    enum { MAX_VALUES = 2048 /* values of a block of the filter */ };
    uint16_t low[MAX_VALUES], high[MAX_VALUES];
    if (count > MAX_VALUES)
        return 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(&low[i], in + 4 * i, sizeof *low);
        memcpy(&high[i], in + 4 * i + 2, sizeof *high);
    }
    (void)shuffle((const unsigned char *)high, count, out + 16 * (count / 8));
    return shuffle((const unsigned char *)low, count, out);
}

nb_shuffle_u16 *nb_shuffle_u16_of(nb_isa isa)
{
#ifdef __x86_64__
    if (isa != NB_ISA_SCALAR && isa != NB_ISA_SSE2 && nb_cpu_runs(NB_ISA_AVX2))
        return nb_shuffle_u16_avx2;
#endif
    (void)isa;
    return NULL;
}

void nb_bitshuffle(const void *in, size_t count, size_t value_bytes,
                   nb_shuffle_u16 *shuffle, void *out)
{
    size_t done = !shuffle           ? 0
                  : value_bytes == 2 ? shuffle(in, count, out)
                  : value_bytes == 4 ? shuffle_halves(in, count, shuffle, out)
                                     : 0;
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

enum { DEFLATE_LEVEL = 1, BITSHUFFLE_HEAD = 12 };

size_t nb_hdf5_pixel_bytes(const nb_hdf5_layout *layout)
{
    return layout->type == NB_HDF5_U16 || layout->type == NB_HDF5_I16 ? 2 : 4;
}

size_t nb_hdf5_frame_bytes(const nb_hdf5_layout *layout)
{
    return (size_t)layout->fast * (size_t)layout->slow * nb_hdf5_pixel_bytes(layout);
}

size_t nb_hdf5_chunk_bound(const nb_hdf5_layout *layout)
{
    size_t n = nb_hdf5_frame_bytes(layout);
    return n + n / 64 + 4096; /* more than deflate and LZ4 can add */
}

/** Shuffle filter of HDF5: the first bytes of all values, then the second bytes, ... */
static void shuffle_bytes(const unsigned char *in, size_t count, size_t size,
                          unsigned char *out)
{
    if (size == 2) {
        for (size_t i = 0; i < count; i++) {
            out[i] = in[2 * i];
            out[count + i] = in[2 * i + 1];
        }
        return;
    }
    for (size_t byte = 0; byte < size; byte++)
        for (size_t i = 0; i < count; i++)
            out[byte * count + i] = in[i * size + byte];
}

static size_t deflate_bytes(const void *in, size_t n, void *out, size_t room)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(DEFLATE_LEVEL);
    size_t bytes = c ? libdeflate_zlib_compress(c, in, n, out, room) : 0;
    libdeflate_free_compressor(c);
    return bytes;
}

static uint64_t big_endian(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x = x << 8 | p[i];
    return x;
}

size_t nb_bslz4_bytes(const void *chunk, size_t have, size_t value)
{
    enum { LARGEST = 1 << 30, LZ4_RATIO = 250 };
    const uint64_t bytes = have >= BITSHUFFLE_HEAD ? big_endian(chunk, 8) : 0;
    return value && value <= 8 && bytes % value == 0 && bytes <= LARGEST &&
                   bytes / LZ4_RATIO <= have
               ? (size_t)bytes
               : 0;
}

/** Decompress the blocks from p to end, through scratch[block]; 0 for damaged data. */
static int decode_blocks(const unsigned char *p, const unsigned char *end, size_t value,
                         size_t block, unsigned char *scratch, unsigned char *out,
                         size_t bytes)
{
    const size_t step = 8 * value;
    size_t done = 0;
    while (done < bytes / step * step) {
        const size_t n = bytes - done < block ? (bytes - done) / step * step : block;
        const uint64_t packed = end - p >= 4 ? big_endian(p, 4) : 0;
        if (packed == 0 || packed > (uint64_t)(end - p - 4) ||
            LZ4_decompress_safe((const char *)p + 4, (char *)scratch, (int)packed,
                                (int)n) != (int)n)
            return 0;
        nb_bitunshuffle(scratch, n / value, value, out + done);
        p += 4 + packed;
        done += n;
    }
    if ((size_t)(end - p) != bytes - done)
        return 0;
    memcpy(out + done, p, bytes - done);
    return 1;
}

int nb_bslz4_decode(const void *chunk, size_t have, size_t value, void *out)
{
    const unsigned char *in = chunk;
    const size_t bytes = nb_bslz4_bytes(chunk, have, value);
    const size_t block = bytes ? (size_t)big_endian(in + 8, 4) : 0;
    unsigned char *scratch;
    int ok;
    if (!block || block % (8 * value))
        return 0;
    scratch = nb_alloc_raw(block < bytes ? block : bytes, 1, "bitshuffle", NULL);
    ok = scratch && decode_blocks(in + BITSHUFFLE_HEAD, in + have, value, block, scratch,
                                  out, bytes);
    nb_free(scratch);
    return ok;
}

static void put_big_endian(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
}

/** Make a chunk of filter 32008: decompressed size (uint64), block size (uint32), then
 * blocks of a length (uint32) and LZ4 data, then up to seven values, uncompressed. A
 * block that equals the previous block, as in dark areas, gets the same bytes. */
static size_t bitshuffle_lz4(const nb_hdf5_layout *layout, const unsigned char *in,
                             unsigned char *scratch, unsigned char *out)
{
    size_t size = nb_hdf5_pixel_bytes(layout), room = nb_hdf5_chunk_bound(layout);
    size_t count = nb_hdf5_frame_bytes(layout) / size;
    size_t block = 8192 / size / 8 * 8; /* values: 8 KiB, a multiple of eight */
    size_t used = BITSHUFFLE_HEAD, done = 0, last = 0;
    nb_shuffle_u16 *shuffle = nb_shuffle_u16_of(layout->isa);
    int bytes;
    put_big_endian(out, count * size, 8);
    put_big_endian(out + 8, block * size, 4);
    while (done < count / 8 * 8) {
        size_t n = count - done < block ? (count - done) / 8 * 8 : block;
        const unsigned char *from = in + done * size;
        if (last && n == block && last <= room - used &&
            !memcmp(from, from - block * size, block * size)) {
            memcpy(out + used, out + used - last, last);
        } else {
            nb_bitshuffle(from, n, size, shuffle, scratch);
            bytes = LZ4_compress_default((const char *)scratch, (char *)out + used + 4,
                                         (int)(n * size), (int)(room - used - 4));
            if (bytes <= 0)
                return 0;
            put_big_endian(out + used, (uint64_t)bytes, 4);
            last = 4 + (size_t)bytes;
        }
        used += last;
        done += n;
    }
    memcpy(out + used, in + done * size, (count - done) * size);
    return used + (count - done) * size;
}

nb_status nb_hdf5_chunk_encode(const nb_hdf5_layout *layout, const void *pixels,
                               void *scratch, void *chunk, size_t *bytes, nb_error *err)
{
    size_t n = nb_hdf5_frame_bytes(layout);
    *bytes = n;
    if (layout->compress == NB_COMPRESS_NONE)
        memcpy(chunk, pixels, n);
    if (layout->compress == NB_COMPRESS_BSLZ4)
        *bytes = bitshuffle_lz4(layout, pixels, scratch, chunk);
    if (layout->compress == NB_COMPRESS_GZIP) {
        size_t size = nb_hdf5_pixel_bytes(layout);
        shuffle_bytes(pixels, n / size, size, scratch);
        *bytes = deflate_bytes(scratch, n, chunk, nb_hdf5_chunk_bound(layout));
    }
    return *bytes ? NB_OK : nb_fail_memory(err, n, "compressing a frame");
}
