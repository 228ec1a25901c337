/* SPDX-License-Identifier: MIT */
#include "hdf5_bitshuffle.h"

#ifdef NB_HAVE_HDF5
#include <string.h>

#include "../../base/memory.h"
#include "hdf5_chunk.h"
#ifdef NB_HAVE_LZ4
#include <lz4.h>

enum { HEAD = 12, LARGEST = 1 << 30 };

static uint64_t big_endian(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x = x << 8 | p[i];
    return x;
}

/** Decompress a chunk (format: hdf5_chunk.c) into out[bytes] through scratch[block], and
 * check every size; 0: it is damaged. */
static int unpack(const unsigned char *p, const unsigned char *end, size_t value,
                  size_t block, unsigned char *scratch, unsigned char *out, size_t bytes)
{
    size_t done = 0, step = 8 * value;
    while (done < bytes / step * step) {
        size_t n = bytes - done < block ? (bytes - done) / step * step : block;
        uint64_t packed = end - p >= 4 ? big_endian(p, 4) : 0;
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

/** most: bytes that the chunk may have. */
static size_t undo(size_t value, size_t most, size_t have, size_t *room, void **buffer)
{
    const unsigned char *in = *buffer;
    uint64_t bytes = have >= HEAD ? big_endian(in, 8) : 0;
    uint64_t block = have >= HEAD ? big_endian(in + 8, 4) : 0;
    unsigned char *out, *scratch;
    int ok;
    if (!value || value > 8 || !bytes || bytes > most || bytes % value || !block ||
        block > LARGEST || block % (8 * value) || bytes / 250 > have)
        return 0;
    out = H5allocate_memory((size_t)bytes, 0);
    scratch = nb_alloc_raw((size_t)(block < bytes ? block : bytes), 1, "bitshuffle", NULL);
    ok = out && scratch &&
         unpack(in + HEAD, in + have, value, (size_t)block, scratch, out, (size_t)bytes);
    nb_free(scratch);
    if (!ok) {
        H5free_memory(out);
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = out;
    *room = (size_t)bytes;
    return (size_t)bytes;
}
#endif

/** Called for reading only: written chunks are already filtered. */
static size_t filter(unsigned flags, size_t n_values, const unsigned values[],
                     size_t bytes, size_t *room, void **buffer)
{
#ifdef NB_HAVE_LZ4
    if ((flags & H5Z_FLAG_REVERSE) && n_values >= 5 && values[4] == NB_H5_BITSHUFFLE_LZ4)
        return undo(values[2], n_values == 6 && values[5] < LARGEST ? values[5] : LARGEST,
                    bytes, room, buffer);
#endif
    (void)flags;
    (void)n_values;
    (void)values;
    (void)bytes;
    (void)room;
    (void)buffer;
    return 0; /* failure */
}

static const H5Z_class2_t bitshuffle = {
    H5Z_CLASS_T_VERS,
    NB_H5_BITSHUFFLE,
    1,
    1,
    "bitshuffle; see https://github.com/kiyo-masui/bitshuffle",
    NULL,
    NULL,
    filter};

void nb_h5_bitshuffle_begin(void)
{
    H5Zregister(&bitshuffle);
}

void nb_h5_bitshuffle_end(void)
{
    H5Zunregister(NB_H5_BITSHUFFLE);
}

#else
typedef int nb_hdf5_bitshuffle_is_not_in_this_build;
#endif
